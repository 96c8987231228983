import BinnacleTesting
import Foundation
import TestSupport
import Testing

import Binnacle

@Suite struct HingeDetectorTests {
    /// The acceleration of a base that was raised at its back, and of a screen at an angle to it.
    private func parts(_ angle: Double, rise: Double = 0, roll: Double = 0) -> (
        screen: SIMD3<Float>, base: SIMD3<Float>
    ) {
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let x = sin(radians(roll))
        let base = SIMD3(x, cos(radians(roll)) * sin(radians(rise)), cos(radians(roll)) * cos(radians(rise)))
        let fold = radians(180 - angle)
        let screen = SIMD3(base.x, base.y * cos(fold) + base.z * sin(fold), base.z * cos(fold) - base.y * sin(fold))
        return (SIMD3<Float>(screen) * Units.standardGravity, SIMD3<Float>(base) * Units.standardGravity)
    }

    @Test func everyAngleIsFoundHoweverTheBaseIsHeldAndWhateverTheSign() throws {
        for sign in [Float(1), -1] {
            for (rise, roll) in [(0.0, 0.0), (50, 20), (180, 0), (-120, -50)] {
                var hinge = HingeAngle()
                for tenths in 0...3600 {
                    let angle = Double(tenths) / 10
                    let (screen, base) = parts(angle, rise: rise, roll: roll)
                    let known = hinge.degrees(
                        screen: screen * sign, base: base * sign, in: .device, isFolded: nil, at: 0)
                    let found = try #require(known)
                    #expect(abs(found - angle) < 0.01, "\(angle) at \(rise), \(roll)")
                }
            }
        }
    }

    /// With the signs of a desktop x and y are reversed, which is half a turn around z.
    @Test func withTheSignsOfADesktopTheAnglesAreTheSame() throws {
        let signs = SIMD3<Float>(-1, -1, 1)
        var hinge = HingeAngle()
        for angle in stride(from: 0.0, through: 360, by: 0.5) {
            let (screen, base) = parts(angle, rise: 20, roll: 10)
            let known = hinge.degrees(screen: screen * signs, base: base * signs, in: .desktop, isFolded: nil, at: 0)
            #expect(try abs(#require(known) - angle) < 0.01)
        }
    }

    @Test func aHingeThatIsNearlyUprightHasNoAngle() {
        var hinge = HingeAngle()
        for (roll, isKnown) in [(0.0, true), (59, true), (61, false), (90, false)] {
            let (screen, base) = parts(100, roll: roll)
            let found = hinge.degrees(screen: screen, base: base, in: .device, isFolded: nil, at: 0)
            #expect((found != nil) == isKnown, "\(roll)")
        }
    }

    @Test func closedAndFoldedBackDifferByTheAngleBeforeOrTheSwitch() throws {
        func angle(_ degrees: Double, after: Double?, isFolded: Bool? = nil) -> Double? {
            var hinge = HingeAngle()
            for degrees in [after, degrees].compactMap({ $0 }) {
                let (screen, base) = parts(degrees)
                let found = hinge.degrees(screen: screen, base: base, in: .device, isFolded: isFolded, at: 0)
                if degrees != after { return found }
            }
            return nil
        }
        #expect(try abs(#require(angle(3, after: 90)) - 3) < 0.01)
        #expect(angle(3, after: 300) == 360)
        #expect(angle(355, after: 90) == 0)
        #expect(try abs(#require(angle(355, after: 300)) - 355) < 0.01)
        #expect(angle(355, after: nil) == 0)
        #expect(try abs(#require(angle(355, after: nil, isFolded: true)) - 355) < 0.01)
        #expect(angle(3, after: 300, isFolded: true) == 360)
        #expect(angle(355, after: 300, isFolded: false) == 0)
    }

    /// A turn of the whole device between the samples of its parts, here of 50°, looks like a hinge that is 50° beyond its end.
    @Test(arguments: [(250.0, 360.0, 50.0), (110, 0, 310)])
    func aTipOfAFoldedDeviceIsNoTurnOfTheHinge(from: Double, end: Double, tip: Double) {
        var hinge = HingeAngle()
        var time: Int64 = 0
        func find(_ degrees: Double, count: Int) -> Double {
            var found: Double?
            for _ in 0..<count {
                let (screen, base) = parts(degrees)
                found = hinge.degrees(screen: screen, base: base, in: .device, isFolded: nil, at: time)
                time += 100 * millisecond
            }
            return found ?? .nan
        }
        _ = find(from, count: 1)
        #expect(abs(find(end, count: 10) - end) < 0.01)
        // At 10 Hz four pairs of a quick tip are wrong.
        _ = find(tip, count: 4)
        #expect(abs(find(360 - end, count: 1) - end) < 0.01)
        // What comes after a time without an angle, in which the hinge may have turned, is the hinge.
        var other = hinge
        let (screen, base) = parts(tip)
        _ = other.degrees(screen: screen, base: base, in: .device, isFolded: nil, at: time + 700 * millisecond)
        let (flatScreen, flatBase) = parts(end)
        let found = other.degrees(
            screen: flatScreen, base: flatBase, in: .device, isFolded: nil, at: time + 800 * millisecond)
        #expect(abs((found ?? .nan) - (360 - end)) < 0.01)
        // What lasts is the hinge.
        _ = find(tip, count: 6)
        #expect(abs(find(end, count: 1) - (360 - end)) < 0.01)
    }

    @Test func posturesChangeFiveDegreesBeyondTheirLimits() {
        func walk(_ angles: [Double]) -> [String] {
            var posture: Posture?
            return angles.compactMap { angle in
                let found = Posture.of(angle, after: posture)
                defer { posture = found }
                return found == posture ? nil : "\(found.rawValue) \(angle)"
            }
        }
        let angles = (0...3600).map { Double($0) / 10 }
        #expect(walk(angles) == ["closed 0.0", "laptop 20.1", "tent 195.1", "tablet 335.1"])
        #expect(walk(angles.reversed()) == ["tablet 360.0", "tent 324.9", "laptop 184.9", "closed 9.9"])
    }

    // MARK: - Samples

    /// A hinge and an orientation that only a folded laptop has, with samples of both parts at 10 Hz.
    private struct Bench {
        let hinge: HingeDetector
        let orientation: OrientationDetector
        let source: ScriptedSource
        let events = EventCollector()

        init(_ samples: [(screen: SIMD3<Float>, base: SIMD3<Float>)], hasSwitch: Bool = false) {
            let screen = SampleStream(sensor: Sensor(name: "lid"), kind: .accelerometer)
            let base = SampleStream(sensor: Sensor(name: "keyboard"), kind: .accelerometer)
            var all: [(Int, Sample)] = []
            for (index, sample) in samples.enumerated() {
                let time = Int64(index) * 100 * millisecond
                // The base's come between the screen's.
                all.append(
                    (0, Sample(timeNanoseconds: time, x: sample.screen.x, y: sample.screen.y, z: sample.screen.z)))
                all.append(
                    (
                        1,
                        Sample(
                            timeNanoseconds: time + millisecond, x: sample.base.x, y: sample.base.y, z: sample.base.z)
                    ))
            }
            source = ScriptedSource(streams: [screen, base], samples: all)
            hinge = HingeDetector(screen: screen, base: base, hasSwitch: hasSwitch)
            var settings = OrientationSettings()
            settings.postures = [.tablet, .tent]
            orientation = OrientationDetector(accelerometer: screen, settings: settings)
            orientation.hinge = hinge
        }

        func run(capacity: Int = 4096) -> [String] {
            let router = Router()
            router.add(events)
            hinge.delegate = router
            orientation.delegate = router
            let detectors: [any DrivenDetector] = [hinge, orientation]
            for detector in detectors { detector.startDetection() }
            Pipeline(source: source, detectors: detectors, router: router, capacity: capacity).run()
            return events.events.map { event in
                let words = event.figures.filter { $0.name.unit != .metresPerSecondSquared }
                return "\(event.timeNanoseconds / millisecond) " + words.map(\.value.description).joined(separator: " ")
            }
        }
    }

    /// What was turned as a tablet is not left upside down in a laptop, whose screen lies flat and shows no edge.
    @Test func theScreenOfALaptopIsAsItWasBuilt() {
        let held = { (hold: (screen: SIMD3<Float>, base: SIMD3<Float>)) in Array(repeating: hold, count: 20) }
        let (tablet, flat) = (parts(360, rise: 100), parts(180))
        let told = Bench(held(parts(100, rise: -10)) + held(parts(270, rise: 180)) + held(tablet) + held(flat)).run()
        let edges = told.compactMap {
            $0.split(separator: " ").last.flatMap { ScreenOrientation(rawValue: String($0)) }
        }
        #expect(edges == [.normal, .bottomUp, .normal], "\(told)")
    }

    /// As a laptop the turn to the left edge holds; folded to a tent it is reported as soon as that posture counts.
    @Test(arguments: [1, 7, 4096]) func theOrientationChangesOnlyInItsPostures(capacity: Int) {
        let upright = parts(100, rise: -10)
        // The hinge of a laptop that stands on its side is upright: the angle is unknown, and its posture stays.
        let side = SIMD3<Float>(-1, 0, 0) * Units.standardGravity
        let tent = parts(280, rise: 170)
        let tablet = parts(360, rise: 190)
        let held = { (hold: (screen: SIMD3<Float>, base: SIMD3<Float>)) in Array(repeating: hold, count: 20) }
        let bench = Bench(held(upright) + held((side, side)) + held(tent) + held(tablet) + held((side, side)))
        #expect(
            bench.run(capacity: capacity) == [
                "0 normal", "0 vertical", "100 laptop 100.0", "4600 tent 280.0", "6300 face-up", "6500 tablet 360.0",
                "8300 left-up", "8300 vertical",
            ])
    }

    /// A laptop that is carried closed on its side, and then opened, has no sideways screen.
    @Test(arguments: [1, 7, 4096]) func theFirstOrientationIsHeldAsWell(capacity: Int) {
        let closed = parts(0, rise: 0)
        let side = SIMD3<Float>(-1, 0, 0) * Units.standardGravity
        let held = { (hold: (screen: SIMD3<Float>, base: SIMD3<Float>)) in Array(repeating: hold, count: 20) }
        let bench = Bench(held(closed) + held((side, -side)) + held(parts(100, rise: -10)))
        let orientations = bench.run(capacity: capacity).map { $0.split(separator: " ").last.map(String.init) ?? "" }
            .filter { ScreenOrientation(rawValue: $0) != nil }
        #expect(orientations == ["normal"])
    }

    /// Angles that are reported meanwhile do not begin the time again that a posture has to last.
    @Test func anAngleDoesNotDelayAPosture() {
        let held = { (hold: (screen: SIMD3<Float>, base: SIMD3<Float>), count: Int) in
            Array(repeating: hold, count: count)
        }
        let bench = Bench(held(parts(100), 20) + held(parts(150), 3) + held(parts(280), 20))
        let found = bench.run().filter { !$0.hasSuffix("normal") && !$0.hasSuffix("vertical") && !$0.contains("-") }
        // The tent begins at 2.3 s, and the angle of 150° is reported at 2.5 s.
        #expect(found == ["100 laptop 100.0", "2500 laptop 280.0", "2800 tent 280.0"])
    }

    @Test func aSwitchAloneSaysThePosture() {
        let hinge = HingeDetector(screen: nil, base: nil, hasSwitch: true)
        let delegate = RecordingDelegate()
        hinge.delegate = delegate
        hinge.switchDidChange(isFolded: true, at: 1)
        hinge.startDetection()
        hinge.process(.failed(.tabletMode, TestError()))
        #expect(hinge.lacksReadings)
        hinge.switchDidChange(isFolded: true, at: 2)
        #expect(!hinge.lacksReadings)
        hinge.switchDidChange(isFolded: true, at: 3)
        hinge.switchDidChange(isFolded: false, at: 4)
        let found = delegate.results(of: Finding.self)
        #expect(found.map { $0.value(of: .posture) } == [.word(Posture.tablet), .word(Posture.laptop)])
        #expect(found.map(\.timeNanoseconds) == [2, 4])
        #expect(found.allSatisfy { $0.value(of: .angle) == nil })
        #expect(hinge.posture(at: SamplePosition(timeNanoseconds: 5, streamIndex: 0, sampleIndex: 0)) == .laptop)
    }

    @Test func withoutBothPartsAndASwitchADelegateIsToldSo() {
        let delegate = RecordingDelegate()
        let hinge = HingeDetector(
            screen: SampleStream(sensor: Sensor(name: "lid"), kind: .accelerometer), base: nil)
        hinge.delegate = delegate
        hinge.startDetection()
        #expect(delegate.calls.map(\.name) == ["detector.unavailable"])
    }
}
