import BinnacleTesting
import Foundation
import TestSupport
import Testing

import Binnacle

@Suite struct OrientationDetectorTests {
    // MARK: - Boundaries

    /// The direction of up of a screen that was turned clockwise in its plane, and then leaned back.
    private func up(turn: Double, lean: Double) -> SIMD3<Float> {
        let (turn, lean) = (turn * .pi / 180, lean * .pi / 180)
        return SIMD3(Float(-sin(turn) * cos(lean)), Float(cos(turn) * cos(lean)), Float(sin(lean)))
    }

    /// Where the orientation changes on the way through angles; `nil` where it does not.
    private func change(
        _ limits: ScreenLimits, from start: ScreenOrientation, lean: Double, through turns: [Double]
    ) -> Double? {
        turns.first { limits.orientation(up(turn: $0, lean: lean), after: start) != start }
    }

    /// A lean, and where normal changes to left-up and left-up to normal on iio-sensor-proxy.
    struct Boundary: CustomTestStringConvertible, Sendable {
        let lean: Double
        let there: Double
        let back: Double
        var testDescription: String { "\(lean)°" }
    }

    /// The table of the original's function, where its own hysteresis is 10° or more, or where it is less ours.
    private static let boundaries = [
        Boundary(lean: 0, there: 54.5, back: 35.5), Boundary(lean: 20, there: 51.8, back: 38.2),
        Boundary(lean: 30, there: 50, back: 40), Boundary(lean: 35, there: 50, back: 40),
        Boundary(lean: 45, there: 55.4, back: 34.6), Boundary(lean: 54, there: 82, back: 8),
    ]

    @Test(arguments: boundaries) func boundariesAreThoseOfTheDesktopAndNeverNearerThanTheHysteresis(_ row: Boundary)
        throws
    {
        let limits = ScreenLimits(hysteresisDegrees: 10)
        let turns = (0...900).map { Double($0) / 10 }
        let there = try #require(change(limits, from: .normal, lean: row.lean, through: turns))
        let back = try #require(change(limits, from: .leftUp, lean: row.lean, through: turns.reversed()))
        // The original rounds to whole degrees, ours does not; at 54° half a degree of lean is 5° of turn.
        let tolerance = row.lean > 50 ? 4 : 0.4
        #expect(abs(there - row.there) <= tolerance, "\(there)")
        #expect(abs(back - row.back) <= tolerance, "\(back)")
    }

    @Test func everyTurnAndLeanHasAHysteresisOfTenDegreesOrNoChange() {
        let limits = ScreenLimits(hysteresisDegrees: 10)
        let turns = (0...900).map { Double($0) / 10 }
        var changing = 0
        for lean in stride(from: -90.0, through: 90, by: 0.1) {
            let there = change(limits, from: .normal, lean: lean, through: turns)
            let back = change(limits, from: .leftUp, lean: lean, through: turns.reversed())
            #expect((there == nil) == (back == nil), "lean \(lean)")
            guard let there, let back else { continue }
            changing += 1
            #expect(there - back >= 9.9, "lean \(lean): \(there) and \(back)")
        }
        // Beyond 54.5° of lean either way nothing changes.
        #expect((1088...1092).contains(changing), "\(changing)")
    }

    @Test func allFourEdgesChangeAlike() {
        let limits = ScreenLimits(hysteresisDegrees: 10)
        let edges: [ScreenOrientation] = [.normal, .leftUp, .bottomUp, .rightUp]
        for lean in stride(from: -60.0, through: 60, by: 7.3) {
            let turns = (0...1800).map { Double($0) / 10 }
            let changes = edges.indices.map { index in
                change(limits, from: edges[index], lean: lean, through: turns.map { $0 + 90 * Double(index) })
                    .map { $0 - 90 * Double(index) }
            }
            for other in changes.dropFirst() {
                guard let other, let first = changes[0] else {
                    #expect(other == nil && changes[0] == nil, "lean \(lean)")
                    continue
                }
                #expect(abs(other - first) <= 0.11, "lean \(lean)")
            }
        }
    }

    @Test func tiltsChangeWithHalfTheHysteresisOnEachSideOfTheDesktopsLimits() {
        let limits = ScreenLimits(hysteresisDegrees: 10)
        func walk(_ angles: [Double], from start: ScreenTilt) -> [String] {
            var tilt = start
            return angles.compactMap { angle in
                let found = limits.tilt(Float(sin(angle * .pi / 180)), after: tilt)
                defer { tilt = found }
                return found == tilt ? nil : "\(found.rawValue) \(angle)"
            }
        }
        let angles = (-900...900).map { Double($0) / 10 }
        #expect(
            walk(angles, from: .faceDown)
                == ["tilted-down -64.4", "vertical -15.4", "tilted-up 25.6", "face-up 74.6"])
        #expect(
            walk(angles.reversed(), from: .faceUp)
                == ["tilted-up 64.4", "vertical 15.4", "tilted-down -25.6", "face-down -74.6"])
        #expect(walk([80, -80], from: .vertical) == ["face-up 80.0", "face-down -80.0"])
    }

    @Test func theFirstValuesAreTakenAtTheDesktopsLimits() {
        let limits = ScreenLimits(hysteresisDegrees: 30)
        #expect(limits.orientation(up(turn: 54.6, lean: 0), after: .undefined) == .leftUp)
        #expect(limits.orientation(up(turn: 35.4, lean: 0), after: .undefined) == .normal)
        #expect(limits.orientation(up(turn: 45, lean: 0), after: .undefined) == .undefined)
        #expect(limits.tilt(Float(sin(20.6 * .pi / 180)), after: .undefined) == .tiltedUp)
        #expect(limits.tilt(Float(sin(-69.6 * .pi / 180)), after: .undefined) == .faceDown)
    }

    // MARK: - Samples

    /// A detector with samples at 10 Hz, and what it tells.
    private final class Bench: DetectorDelegate {
        let detector: OrientationDetector
        let sensor = Sensor(name: "lid")
        private let source: ScriptedSource
        private(set) var entries: [String] = []

        init(_ samples: [Sample], settings: OrientationSettings = OrientationSettings()) {
            let stream = SampleStream(sensor: sensor, kind: .accelerometer)
            source = ScriptedSource(streams: [stream], samples: samples.map { (0, $0) })
            detector = OrientationDetector(accelerometer: stream, settings: settings)
        }

        /// The events that a detector reports for samples.
        static func told(_ samples: [Sample], settings: OrientationSettings = OrientationSettings()) -> [String] {
            let bench = Bench(samples, settings: settings)
            return withExtendedLifetime(bench) { bench.run() }
        }

        func run(capacity: Int = 4096) -> [String] {
            detector.delegate = self
            detector.startDetection()
            Pipeline(source: source, detectors: [detector], capacity: capacity).run()
            return entries
        }

        func collect(_ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult) {
            guard let word = result.value(of: kind == .tiltChanged ? .tilt : .orientation) else { return }
            entries.append("\(word) \(result.timeNanoseconds / millisecond)")
        }
        func collect(_ kind: EventKind, _ detector: any EventDetector, because error: any Error) {}
        func collect(_ kind: EventKind, _ detector: any Detector, because reason: String) {}
    }

    /// Samples at 10 Hz of a screen that is held in ways of a turn, a lean and a total acceleration in g.
    private func samples(
        _ holds: [(seconds: Double, turn: Double, lean: Double, g: Float)], signs: SIMD3<Float> = SIMD3(1, 1, 1)
    ) -> [Sample] {
        var samples: [Sample] = []
        for hold in holds {
            let force = up(turn: hold.turn, lean: hold.lean) * signs * hold.g * Units.standardGravity
            for _ in 0..<Int((hold.seconds * 10).rounded()) {
                samples.append(
                    Sample(
                        timeNanoseconds: Int64(samples.count) * 100 * millisecond, x: force.x, y: force.y, z: force.z))
            }
        }
        return samples
    }

    @Test(arguments: [1, 7, 4096]) func aChangeCountsAfterTheDwellAndTheFirstValuesAtOnce(capacity: Int) {
        let bench = Bench(
            samples([(1, 0, 10, 1), (1, 90, 10, 1), (0.2, 180, 10, 1), (1, 90, 10, 1), (1, -90, 80, 1)]))
        #expect(
            bench.run(capacity: capacity)
                == ["normal 0", "vertical 0", "left-up 1300", "face-up 3500"])
        #expect(bench.detector.orientation == .leftUp)
        #expect(bench.detector.tilt == .faceUp)
    }

    @Test func freeFallShakingAndWhatIsNoNumberHoldTheValues() {
        var all = samples([(1, 0, 0, 1), (2, 90, 0, 0), (1, 90, 0, 1.4), (1, 90, 0, 0.6)])
        let end = Int64(all.count) * 100 * millisecond
        for (number, x) in [Float.nan, .infinity, 1e38].enumerated() {
            all.append(Sample(timeNanoseconds: end + Int64(number) * 100 * millisecond, x: x, y: 0, z: 0))
        }
        let bench = Bench(all)
        #expect(bench.run() == ["normal 0", "vertical 0"])
    }

    @Test(arguments: [1, 7, 4096]) func aWrongScaleIsLearnedAndOutlivesAStop(capacity: Int) {
        var settings = OrientationSettings()
        settings.learnsLength = true
        let bench = Bench(samples([(3, 0, 0, 26), (1, 90, 0, 26)]), settings: settings)
        // The direction counts before the length does, which takes 2 s.
        #expect(bench.run(capacity: capacity) == ["normal 200", "vertical 200", "left-up 3300"])
        bench.detector.stopDetection()
        bench.detector.startDetection()
        #expect(bench.detector.gravityG == 26)
    }

    /// An orientation is a direction: a vector that lasts shows it before its length is known, and turns later as others do.
    @Test(arguments: [1, 7, 4096]) func aDirectionCountsBeforeItsLengthIsKnown(capacity: Int) {
        var settings = OrientationSettings()
        settings.learnsLength = true
        func told(_ samples: [Sample]) -> [String] {
            let bench = Bench(samples, settings: settings)
            return bench.run(capacity: capacity)
        }
        #expect(told(samples([(0.5, 0, 0, 26), (1, 90, 0, 26)])) == ["normal 200", "vertical 200", "left-up 1000"])
        #expect(told(samples([(0.5, 0, 90, 0.4)])) == ["face-up 200"])
        // Neither a shake, a fall, nor what has lasted for one reading does.
        let shake = (0..<10).map { (seconds: 0.1, turn: $0 % 2 == 0 ? 0 : 180.0, lean: 0.0, g: Float(3)) }
        #expect(told(samples(shake)).isEmpty)
        #expect(told(samples([(1, 0, 0, 0.1)])).isEmpty)
        #expect(told(samples([(0.2, 0, 0, 26), (0.1, 90, 0, 26)])).isEmpty)
        // Once gravity was seen, another length has to last.
        #expect(told(samples([(1, 0, 0, 1), (5, 90, 0, 2)])) == ["normal 0", "vertical 0"])
        // Without learning gravity is 1 g.
        settings.learnsLength = false
        #expect(told(samples([(1, 0, 0, 26)])).isEmpty)
    }

    @Test func aShakeAndAGapMakeAChangeLastAgain() {
        let shaken = samples([(1, 0, 0, 1), (0.2, 90, 0, 1), (0.1, 90, 0, 2), (0.2, 90, 0, 1), (1, 0, 0, 1)])
        #expect(Bench.told(shaken) == ["normal 0", "vertical 0"])
        var late = samples([(1, 0, 0, 1), (2, 90, 0, 1)])
        for index in late.indices where index > 11 { late[index].timeNanoseconds += 5 * second }
        #expect(Bench.told(late) == ["normal 0", "vertical 0", "left-up 6500"])
    }

    /// A screen on a table has no orientation; that a moment of a shake seems to be one is no reason to turn it.
    @Test func aScreenThatLiesFlatTurnsAfterTheDwellAsWell() {
        #expect(
            Bench.told(samples([(1, 0, 90, 1), (0.1, 90, 20, 1.2), (1, 0, 90, 1), (1, 90, 0, 1)]))
                == ["face-up 0", "left-up 2400", "vertical 2400"])
    }

    @Test func withoutADwellAChangeCountsWithItsSample() {
        var settings = OrientationSettings()
        settings.dwell = .zero
        #expect(
            Bench.told(samples([(1, 0, 0, 1), (1, -90, 0, 1)]), settings: settings)
                == ["normal 0", "vertical 0", "right-up 1000"])
    }

    /// The signs of the frames: on the desktop upright is -y, right edge up -x, face up +z, whatever the sensor's sign.
    @Test(arguments: [false, true]) func theDesktopsSignsAreThoseBehindTheMountMatrix(isReversed: Bool) {
        var settings = OrientationSettings()
        settings.frame = .desktop
        settings.isReversed = isReversed
        let signs = isReversed ? SIMD3<Float>(1, 1, -1) : SIMD3(-1, -1, 1)
        #expect(
            Bench.told(samples([(1, 0, 0, 1), (1, -90, 0, 1), (1, 0, 90, 1)], signs: signs), settings: settings)
                == ["normal 0", "vertical 0", "right-up 1300", "face-up 2300"])
    }

    /// A screen that is held at a place for 20 s, with noise of 0.05 g on each axis, changes at most once after its first
    /// values: from what it came from to what it is.
    @Test func nothingFluttersWithNoiseAtAnyTurnAndLean() {
        var worst = 0
        for lean in stride(from: -88.0, through: 88, by: 4.4) {
            for turn in stride(from: -4.0, through: 94, by: 3.5) {
                let noise = SampleNoise(
                    seed: UInt64(1000 + turn * 10) &* 100_003 &+ UInt64(1000 + lean * 10), kind: .accelerometer)
                var all = samples([(2, 0, lean, 1), (20, turn, lean, 1)])
                for index in all.indices {
                    let push = noise.vector(at: Int64(index)) * Double(0.05 * Units.standardGravity)
                    all[index].x += Float(push.x)
                    all[index].y += Float(push.y)
                    all[index].z += Float(push.z)
                }
                let words = Bench.told(all).compactMap { $0.split(separator: " ").first.map(String.init) }
                let tilts = words.filter { ScreenTilt(rawValue: $0) != nil }
                let edges = words.filter { ScreenOrientation(rawValue: $0) != nil }
                worst = max(worst, tilts.count, edges.count)
                #expect(edges.count <= 2 && tilts.count <= 2, "turn \(turn), lean \(lean): \(words)")
            }
        }
        #expect(worst == 2)
    }

    @Test func aLossIsToldAndThatThereIsNoSensorToStartWith() {
        let delegate = RecordingDelegate()
        let source = ScriptedSource(duration: .seconds(1)) { _ in [0, 9.81, 0] }
        let detector = OrientationDetector(accelerometer: source.streams[0])
        detector.delegate = delegate
        play(source, through: [detector])
        detector.didLose(source.streams, because: TestError())
        detector.stopDetection()
        detector.didLose(source.streams, because: TestError())
        Sensor.deactivate([source.streams[0].sensor], because: TestError())
        detector.startDetection()
        #expect(
            delegate.calls.map(\.name) == [
                "orientation.changed", "tilt.changed", "detector.failed", "detector.unavailable",
            ])
    }

    @Test func withoutAnAccelerometerADelegateIsToldSo() {
        let delegate = RecordingDelegate()
        let detector = OrientationDetector(accelerometer: nil)
        detector.delegate = delegate
        detector.startDetection()
        #expect(delegate.calls.map(\.name) == ["detector.unavailable"])
        #expect(!detector.isDetecting)
    }

    @Test func settingsOutsideTheirRangesAreProblems() {
        var settings = OrientationSettings()
        settings.hysteresisDegrees = 4.9
        settings.gateG = 1
        settings.dwell = .seconds(-1)
        settings.gapLimit = .zero
        #expect(
            settings.problems().map(\.description) == [
                "dwell (-1.0 seconds) is negative", "hysteresisDegrees (4.9) is not between 5 and 30",
                "gateG (1.0) is not below 1 g: free fall would count as an orientation",
                "gapLimit (0.0 seconds) has to be longer than 0 s",
            ])
        #expect(OrientationSettings().problems().isEmpty)
    }
}
