import Binnacle
import BinnacleHeading
import BinnacleTesting
import Glibc
import TestSupport
import Testing

/// A thousand devices in random attitudes, at places from one end of the Earth to the other, with sensors that have noise,
/// hard iron and delays: how right the heading is, and whether it knows.
@Suite struct HeadingMonteCarloTests {
    /// The same seed gives the same thousand devices everywhere.
    private struct Chance {
        var numbers: SeededGenerator

        init(state: UInt64) { numbers = SeededGenerator(seed: state) }

        mutating func next() -> UInt64 { numbers.next() }

        mutating func number(in range: ClosedRange<Double>) -> Double {
            let share = Double(next() >> 11) * 0x1p-53
            return range.lowerBound + share * (range.upperBound - range.lowerBound)
        }

        /// Normally distributed, by Box and Muller.
        mutating func normal() -> Double {
            (-2 * log(1 - number(in: 0...1))).squareRoot() * cos(2 * .pi * number(in: 0...1))
        }

        mutating func normalVector() -> SIMD3<Double> { SIMD3(normal(), normal(), normal()) }
    }

    /// A turn in space as a unit quaternion.
    private struct Turn {
        var w: Double
        var v: SIMD3<Double>

        func apply(_ u: SIMD3<Double>) -> SIMD3<Double> {
            let t = 2 * Self.cross(v, u)
            return u + w * t + Self.cross(v, t)
        }

        var inverse: Turn { Turn(w: w, v: -v) }

        static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
        }

        static func * (a: Turn, b: Turn) -> Turn {
            Turn(w: a.w * b.w - (a.v * b.v).sum(), v: a.w * b.v + b.w * a.v + cross(a.v, b.v))
        }

        /// Every attitude is as likely as any other.
        static func random(_ chance: inout Chance) -> Turn {
            let q = (chance.normal(), chance.normalVector())
            let length = (q.0 * q.0 + (q.1 * q.1).sum()).squareRoot()
            return Turn(w: q.0 / length, v: q.1 / length)
        }

        static func about(_ axis: SIMD3<Double>, radians: Double) -> Turn {
            Turn(w: cos(radians / 2), v: sin(radians / 2) * axis / (axis * axis).sum().squareRoot())
        }
    }

    /// One device: where it points at the end, and what the detector says of it.
    private struct Outcome {
        let error: Double
        let accuracy: Double
        let dip: Double
    }

    /// Two seconds at 100 Hz of a device that turns by up to 10° a second; `nil` where +Y is too steep to point anywhere, or
    /// no heading is valid at the end.
    private func play(_ chance: inout Chance) -> Outcome? {
        let dip = chance.number(in: -80...80) * .pi / 180
        let strength = chance.number(in: 25...65)
        // East, north, up.
        let field = strength * SIMD3(0, cos(dip), -sin(dip))
        let start = Turn.random(&chance)
        let axis = chance.normalVector()
        let rate = chance.number(in: 0...10) * .pi / 180
        let hardIron = 0.4 * chance.normalVector()
        // In m/s²: of a chip that is not calibrated, 0.01 g on each axis.
        let offset = 0.098 * chance.normalVector()
        let delay = Int64(chance.number(in: 0...20)) * millisecond
        let attitude = { (seconds: Double) in Turn.about(axis, radians: rate * seconds) * start }

        let streams = SampleStream.ordered([
            (Sensor(name: "chassis"), .accelerometer), (Sensor(name: "compass"), .magnetometer),
        ])
        var settings = NorthSettings()
        // The errors of the calibration are drawn below; there is no other iron.
        settings.uncalibratedIronMicrotesla = 0
        settings.uprightAxis = nil
        settings.headingFilterDegrees = 0
        let detector = NorthDetector(accelerometer: streams[1], magnetometer: streams[0], settings: settings)
        let diary = NorthDiary()
        detector.delegate = diary
        var samples: [(stream: Int, sample: Sample)] = []
        let last = 200
        for i in 0...last {
            let time = Int64(i) * 10 * millisecond
            let turn = attitude(Double(time) * 1e-9).inverse
            let a = turn.apply(SIMD3(0, 0, 9.80665)) + offset + 0.02 * chance.normalVector()
            // The magnetometer reports what was a while ago, with the stamp of now.
            let then = attitude(Double(time - delay) * 1e-9).inverse
            let m = then.apply(field) + hardIron + 0.3 * chance.normalVector()
            samples.append(
                (0, Sample(timeNanoseconds: time, x: Float(m.x), y: Float(m.y), z: Float(m.z))))
            samples.append(
                (1, Sample(timeNanoseconds: time, x: Float(a.x), y: Float(a.y), z: Float(a.z))))
        }
        detector.startDetection()
        Pipeline(source: ScriptedSource(streams: streams, samples: samples), detectors: [detector]).run()

        let end = attitude(Double(last) * 0.01).apply(SIMD3(0, 1, 0))
        guard (end.x * end.x + end.y * end.y).squareRoot() > 0.5, let event = diary.headings.last,
            event.timeNanoseconds == Int64(last) * 10 * millisecond
        else { return nil }
        let truth = Angle.normalizedDegrees(atan2(end.x, end.y) * 180 / .pi)
        return Outcome(
            error: abs(Angle.differenceDegrees(from: truth, to: event.headingDegrees)),
            accuracy: event.accuracyDegrees, dip: abs(dip) * 180 / .pi)
    }

    @Test func headingsOfRandomDevicesAreAsAccurateAsStated() {
        var chance = Chance(state: 20_261_122)
        var outcomes: [Outcome] = []
        var count = 0
        while count < 1000 {
            count += 1
            if let outcome = play(&chance) { outcomes.append(outcome) }
        }
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        let share = Double(outcomes.filter { $0.error <= $0.accuracy }.count) / Double(outcomes.count)
        print(
            "\(outcomes.count) headings of \(count) devices: error median \(median(outcomes.map(\.error)))°, stated accuracy "
                + "median \(median(outcomes.map(\.accuracy)))°, within it \(share)")
        for (low, high) in [(0.0, 30.0), (30, 60), (60, 80)] {
            let part = outcomes.filter { $0.dip >= low && $0.dip < high }
            print("    dip \(low)° to \(high)°: error median \(median(part.map(\.error)))°")
        }
        // +Y is that level in nearly nine attitudes of ten.
        #expect(outcomes.count > count * 3 / 4)
        #expect(median(outcomes.map(\.error)) <= 2)
        #expect(median(outcomes.map(\.accuracy)) <= 6)
        #expect(share >= 0.9)
    }
}
