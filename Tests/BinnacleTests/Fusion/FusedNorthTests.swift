import Binnacle
import BinnacleTesting
import Glibc
import SensorGeometry
import TestSupport
import Testing

/// The heading's detector with a gyroscope, without one, and with one that vanishes.
@Suite struct FusedNorthTests {
    /// A detector with three streams of one sensor, and what its delegate was told.
    private final class Diary: NorthDetectorDelegate {
        var events: [HeadingEvent] = []
        var failures: [String] = []
        var entries: [String] = []

        func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
            events.append(event)
            entries.append("heading \(event)")
        }
        func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
            failures.append("\(error)")
            entries.append("failed \(detector.position.timeNanoseconds) \(error)")
        }
        func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
            entries.append("faced \(event)")
        }
        func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
            entries.append("left \(event)")
        }
        func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
            entries.append("lost \(loss)")
        }
        func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
            entries.append("found \(event)")
        }
    }

    // Plays rows of a recording. `rates` shows the rate of a row, and `nil` leaves it out; the gyroscope fails at the row `fails`.
    private func play(
        _ recording: Recording, rows: Range<Int>, capacity: Int = 4096, hasStream: Bool = true,
        settings: NorthSettings = NorthSettings(), fails: Int? = nil,
        rates: (Int, SIMD3<Float>) -> SIMD3<Float>? = { $1 }
    ) -> (diary: Diary, detector: NorthDetector) {
        let sensor = Sensor(name: "hand")
        let turning = SampleStream(sensor: sensor, kind: .gyroscope)
        let north = SampleStream(sensor: sensor, kind: .magnetometer)
        let up = SampleStream(sensor: sensor, kind: .accelerometer)
        var steps: [ScriptedSource.Step] = []
        func append(_ vector: SIMD3<Float>, _ index: Int, _ stream: Int) {
            let time = Int64(index) * recording.stepNanoseconds
            steps.append(
                .sample(Sample(timeNanoseconds: time, x: vector.x, y: vector.y, z: vector.z), stream: stream))
        }
        let base = hasStream ? 1 : 0
        for index in rows {
            if index == fails { steps.append(.failure(TestError(), streams: [0])) }
            if hasStream, let rate = rates(index, recording.gyroscope[index]) { append(rate, index, 0) }
            append(recording.field[index], index, base)
            append(recording.acceleration[index], index, base + 1)
        }
        let source = ScriptedSource(streams: (hasStream ? [turning] : []) + [north, up], steps: steps)
        let detector = NorthDetector(
            accelerometer: up, magnetometer: north, gyroscope: hasStream ? turning : nil, settings: settings)
        let diary = Diary()
        detector.delegate = diary
        detector.startDetection()
        Pipeline(source: source, detectors: [detector], capacity: capacity).run()
        return (diary, detector)
    }

    @Test(arguments: ["broad05_rotation", "broad18_fast_translation", "broad33_attached_magnet"])
    func headingsInMotionAreThoseOfTheFusion(name: String) throws {
        let recording = try Recording(name)
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        settings.uprightAxis = nil
        let (diary, detector) = play(recording, rows: recording.gyroscope.indices, settings: settings)
        var errors: [Double] = []
        var within = 0
        for event in diary.events where !event.isStale {
            guard let reference = recording.reference[Int(event.timeNanoseconds / recording.stepNanoseconds)] else {
                continue
            }
            let matrix = reference.rotate(SIMD3(0, 1, 0))
            guard matrix.z * matrix.z < 0.75 else { continue }
            let wanted = Attitude.headingDegrees(of: matrix)
            errors.append(abs(Angle.differenceDegrees(from: wanted, to: event.headingDegrees)))
            if errors[errors.count - 1] <= event.accuracyDegrees { within += 1 }
            #expect(event.turnRateDegreesPerSecond != nil)
        }
        let moving = recording.reference.count { $0 != nil }
        let p95 = Score.percentile(errors, 0.95)
        print("\(name): \(errors.count) headings of \(moving) rows, p95 \(p95)°, \(detector.validCount) valid")
        #expect(p95 <= 4.2 && Double(within) >= 0.9 * Double(errors.count))
        #expect(Double(errors.count) > 0.6 * Double(moving))
        #expect(diary.failures.isEmpty)
    }

    @Test func howSamplesAreCutIntoDeliveriesChangesNothing() throws {
        let recording = try Recording("broad05_rotation")
        let whole = play(recording, rows: 0..<4000).diary.entries
        #expect(!whole.isEmpty)
        for capacity in [1, 7] {
            let cut = play(recording, rows: 0..<4000, capacity: capacity).diary.entries
            #expect(cut == whole, "\(capacity)")
        }
    }

    @Test func aStreamWithoutASampleIsNone() throws {
        let recording = try Recording("broad05_rotation")
        let without = play(recording, rows: 0..<6000, hasStream: false).diary
        let silent = play(recording, rows: 0..<6000, rates: { _, _ in nil }).diary
        #expect(!without.events.isEmpty)
        #expect(without.entries == silent.entries)
        #expect(without.events.allSatisfy { $0.turnRateDegreesPerSecond == nil })
    }

    @Test func aGyroscopeThatVanishesIsToldAndTheCompassGoesOn() throws {
        let recording = try Recording("broad05_rotation")
        let gap = 2000..<3000
        let (diary, _) = play(recording, rows: 0..<6000) { gap.contains($0) ? nil : $1 }
        #expect(diary.failures == ["\(GyroscopeNotes.silent)"])
        func hasRate(_ rows: Range<Int>) -> Set<Bool> {
            Set(
                diary.events.filter { rows.contains(Int($0.timeNanoseconds / recording.stepNanoseconds)) }
                    .map { $0.turnRateDegreesPerSecond != nil })
        }
        #expect(hasRate(1200..<2000) == [true])
        #expect(hasRate(2200..<3000) == [false])
        // After the start of the fusion it decides again.
        #expect(hasRate(3800..<6000) == [true])
    }

    @Test func aGyroscopeThatFailsIsToldAndTheCompassGoesOn() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<4000, fails: 2500) { $0 < 2500 ? $1 : nil }
        #expect(diary.failures == ["\(TestError())"])
        let after = diary.events.filter { $0.timeNanoseconds > 2600 * recording.stepNanoseconds }
        #expect(!after.isEmpty && after.allSatisfy { $0.turnRateDegreesPerSecond == nil })
    }

    @Test func aReversedGyroscopeIsToldAndNotUsed() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<8000) { -$1 }
        #expect(diary.failures.count == 1)
        #expect(diary.failures.first?.contains("reversed") ?? false, "\(diary.failures)")
        #expect(diary.events.last?.turnRateDegreesPerSecond == nil)
    }

    @Test func anEventSaysHowTheDeviceLies() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<6000)
        for event in diary.events {
            let top = event.orientation.rotate(SIMD3(0, 1, 0))
            let right = event.orientation.rotate(SIMD3(1, 0, 0))
            let out = event.orientation.rotate(SIMD3(0, 0, 1))
            if event.axis == .plusY {
                #expect(
                    abs(Angle.differenceDegrees(from: Attitude.headingDegrees(of: top), to: event.headingDegrees))
                        < 0.01)
            }
            #expect((top.z > 0) == (event.pitchDegrees > 0))
            #expect((right.z < 0) == (event.rollDegrees > 0))
            #expect((out.z > 0) == (abs(event.rollDegrees) < 90))
        }
    }
}

private enum GyroscopeNotes {
    static let silent = "no gyroscope sample for a second; headings are those of the compass until it is back"
}

extension Attitude {
    fileprivate static func headingDegrees(of direction: SIMD3<Double>) -> Double {
        Angle.normalizedDegrees(atan2(direction.x, direction.y) * 180 / .pi)
    }
}
