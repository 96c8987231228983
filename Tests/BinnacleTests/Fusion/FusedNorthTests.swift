import Binnacle
import BinnacleHeading
import BinnacleTesting
import Glibc
import SensorGeometry
import TestSupport
import Testing

/// The heading's detector with a gyroscope, without one, and with one that vanishes.
@Suite struct FusedNorthTests {
    /// A detector with three streams of one sensor, and the events and failures that its delegate received.
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
        func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
            entries.append("needed \(event)")
        }
        func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
            entries.append("restored \(event)")
        }
        func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
            entries.append("interference \(event)")
        }
    }

    /// Streams, 0 the gyroscope's, 1 the magnetometer's, 2 the accelerometer's, that fail at a row, and are back at another.
    private struct Failure {
        let streams: [Int]
        let rows: Range<Int>
    }

    // Plays rows of a recording. `rates` shows the rate of a row, and `nil` leaves it out.
    private func play(
        _ recording: Recording, rows: Range<Int>, capacity: Int = 4096, hasStream: Bool = true,
        settings: NorthSettings = NorthSettings(), failure: Failure? = nil,
        loss: (row: Int, cause: SampleLoss.Cause)? = nil, calibration: SensorCalibration? = .fair,
        iron: SIMD3<Float> = .zero,
        rates: (Int, SIMD3<Float>) -> SIMD3<Float>? = { $1 },
        fields: (SIMD3<Float>) -> SIMD3<Float> = { $0 }
    ) -> (diary: Diary, detector: NorthDetector) {
        let sensor = Sensor(name: "hand", calibration: calibration)
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
            if let failure, index == failure.rows.lowerBound {
                steps.append(.failure(TestError(), streams: failure.streams))
            }
            if let loss, index == loss.row {
                steps.append(.loss(SampleLoss(stream: turning.id, cause: loss.cause, detail: "")))
            }
            func isThere(_ stream: Int) -> Bool {
                failure.map { !$0.rows.contains(index) || !$0.streams.contains(stream) } ?? true
            }
            if hasStream, isThere(0), let rate = rates(index, recording.gyroscope[index]) { append(rate, index, 0) }
            if isThere(1) { append(fields(recording.field[index]) + iron, index, base) }
            if isThere(2) { append(recording.acceleration[index], index, base + 1) }
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

    /// At rest for 10.4 s, and turned then.
    @Test func withoutACalibrationItIsSaidThatTheDeviceHasToBeTurned() throws {
        let recording = try Recording("broad05_rotation")
        var settings = NorthSettings()
        settings.calibrationDelay = .seconds(8)
        let (diary, detector) = play(
            recording, rows: 0..<6000, settings: settings, calibration: nil, iron: SIMD3(12, -20, 8))
        let kinds = diary.entries.compactMap { $0.split(separator: " ").first }
        #expect(kinds.prefix(4) == ["lost", "needed", "restored", "found"], "\(kinds.prefix(6))")
        #expect(diary.entries.first?.contains("ironUnknown") ?? false)
        #expect(diary.failures.isEmpty && !kinds.contains("interference"))
        #expect(detector.gyroscopeState?.memory.errors != nil)
    }

    /// The device was built in elsewhere, or has a magnet, since it was calibrated.
    @Test func ironThatTheCalibrationDoesNotHaveIsSaidOnce() throws {
        let recording = try Recording("broad05_rotation")
        let rows = 0..<4000
        for iron in [SIMD3<Float>(20, -10, 20), SIMD3(-10, 25, -13)] {
            let (diary, _) = play(recording, rows: rows, iron: iron)
            #expect(diary.entries.count { $0.hasPrefix("needed") } == 1 && diary.failures.isEmpty, "\(iron)")
        }
        #expect(!play(recording, rows: rows).diary.entries.contains { $0.hasPrefix("needed") })
    }

    /// A calibration with little turning, whose error is large, is where learning begins: no worse than none.
    @Test func aPoorCalibrationDoesNotSilenceACompass() throws {
        let recording = try Recording("broad05_rotation")
        let axes = AxisCalibration(offset: SIMD3(3, -2, 4), matrix: .identity)
        let poor = MagnetometerCalibration(axes: axes, fieldMicrotesla: 45, residualMicrotesla: 14)
        func count(_ calibration: SensorCalibration?) -> Int {
            play(recording, rows: 0..<recording.field.count, hasStream: false, calibration: calibration)
                .diary.events.count { $0.age == .zero }
        }
        let (without, with) = (count(nil), count(SensorCalibration(magnetometer: poor)))
        #expect(without > 100 && Double(with) >= 0.9 * Double(without), "\(with) of \(without)")
    }

    /// 4 µT/√Hz behind the corrections' low pass of 9 s are 0.67 µT, and 0.3 µT are assumed.
    @Test func keptNoiseWidensTheAccuracy() throws {
        let recording = try Recording("broad05_rotation")
        func accuracy(_ noise: [SampleKind: Double], rows: Range<Int>) -> Double {
            var calibration = SensorCalibration.fair
            calibration.noise = noise
            let found = play(recording, rows: rows, calibration: calibration).diary.events.filter { $0.age == .zero }
            return found.map(\.accuracyDegrees).reduce(0, +) / Double(max(1, found.count))
        }
        let rows = 0..<12_000
        let usual = accuracy([:], rows: rows)
        #expect(usual > 0 && accuracy([.magnetometer: 0.1, .gyroscope: 1e-4], rows: rows) == usual)
        #expect(accuracy([.magnetometer: 4], rows: rows) > 1.2 * usual)
        #expect(accuracy([.gyroscope: 0.01], rows: rows) > 1.02 * usual)
    }

    /// Without a gyroscope and a calibration: first it is said that the device has to be turned, then nine of ten headings are within
    /// what they state, whatever the iron.
    @Test(arguments: [SIMD3<Float>(0, 0, 0), SIMD3(12, -20, 8), SIMD3(-40, 30, 35)])
    func withoutAGyroscopeTheIronIsLearnedFromTurns(iron: SIMD3<Float>) throws {
        let recording = try Recording("broad05_rotation")
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        settings.uprightAxis = nil
        let (diary, _) = play(
            recording, rows: 0..<recording.field.count, hasStream: false, settings: settings, calibration: nil,
            iron: iron)
        #expect(diary.entries.first?.hasPrefix("lost") ?? false)
        var (count, within, errors) = (0, 0, [Double]())
        for event in diary.events where event.age == .zero {
            guard let reference = recording.reference[Int(event.timeNanoseconds / recording.stepNanoseconds)] else {
                continue
            }
            let y = reference.rotate(Vector3(0, 1, 0))
            guard abs(y.z) < 0.5 else { continue }
            let error = abs(Angle.differenceDegrees(from: atan2(y.x, y.y) * 180 / .pi, to: event.headingDegrees))
            count += 1
            within += error <= event.accuracyDegrees ? 1 : 0
            errors.append(error)
        }
        #expect(count > 3000)
        #expect(Double(within) >= 0.9 * Double(count))
        #expect(errors.sorted()[count / 2] < 5)
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
        let (diary, _) = play(recording, rows: 0..<4000, failure: Failure(streams: [0], rows: 2500..<4000))
        #expect(diary.failures == ["\(TestError())"])
        let after = diary.events.filter { $0.timeNanoseconds > 2600 * recording.stepNanoseconds }
        #expect(!after.isEmpty && after.allSatisfy { $0.turnRateDegreesPerSecond == nil })
    }

    private func hasRate(_ diary: Diary, _ recording: Recording, _ rows: Range<Int>) -> Set<Bool> {
        Set(
            diary.events.filter { rows.contains(Int($0.timeNanoseconds / recording.stepNanoseconds)) && !$0.isStale }
                .map { $0.turnRateDegreesPerSecond != nil })
    }

    @Test func aGyroscopeThatFailedServesWhenItIsBack() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<6000, failure: Failure(streams: [0], rows: 2500..<3000))
        #expect(diary.failures == ["\(TestError())"])
        #expect(hasRate(diary, recording, 1200..<2500) == [true])
        #expect(hasRate(diary, recording, 2501..<3000) == [false])
        // Five seconds of motion begin it again.
        #expect(hasRate(diary, recording, 3800..<6000) == [true])
        #expect(!diary.entries.contains { $0.hasPrefix("lost") })
    }

    @Test func withoutItsMagnetometerTheHeadingGoesOn() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, detector) = play(
            recording, rows: 0..<6000, failure: Failure(streams: [1], rows: 2500..<3500))
        #expect(diary.failures == ["\(TestError())"])
        #expect(!diary.entries.contains { $0.hasPrefix("lost") || $0.hasPrefix("found") })
        #expect(hasRate(diary, recording, 2501..<6000) == [true])
        #expect((detector.heading?.accuracyDegrees ?? -1) > 0)
    }

    @Test func withoutItsAccelerometerTheHeadingIsLostOnceAndFoundAgain() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<6000, failure: Failure(streams: [2], rows: 2500..<3500))
        #expect(diary.failures == ["\(TestError())"])
        let firstWords: [Substring] = diary.entries.compactMap { $0.split(separator: " ").first }
        let changes = firstWords.filter { $0 == "lost" || $0 == "found" }
        #expect(changes == ["lost", "found"])
        let after = diary.events.filter { $0.timeNanoseconds > 2500 * recording.stepNanoseconds }
        #expect(after.allSatisfy { $0.timeNanoseconds >= 3500 * recording.stepNanoseconds } && !after.isEmpty)
    }

    /// The stamps do not tell how long a machine slept, or how far a clock stepped back.
    @Test(arguments: [SampleLoss.Cause.suspend, .clock])
    func whereStampsDoNotTellTheTimeTheOrientationBeginsAgain(cause: SampleLoss.Cause) throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<6000, loss: (3000, cause))
        #expect(diary.failures.isEmpty)
        #expect(hasRate(diary, recording, 1200..<3000) == [true])
        // The device moves: the fusion begins with five seconds of motion, in which the compass decides.
        #expect(!hasRate(diary, recording, 3001..<3700).contains(true))
        #expect(hasRate(diary, recording, 3800..<6000) == [true])
    }

    /// An overrun and a stall show in the stamps; what is missing is bridged.
    @Test(arguments: [SampleLoss.Cause.overrun, .stall, .readError])
    func lossesThatStampsShowAreBridged(cause: SampleLoss.Cause) throws {
        let recording = try Recording("broad05_rotation")
        let missing = 3000..<3010
        let (diary, _) = play(recording, rows: 0..<6000, loss: (3010, cause)) { missing.contains($0) ? nil : $1 }
        #expect(diary.failures.isEmpty && !diary.entries.contains { $0.hasPrefix("lost") })
        #expect(hasRate(diary, recording, 1200..<6000) == [true])
    }

    @Test func fasterThanTheGyroscopeMeasuresThereIsNoHeading() throws {
        let recording = try Recording("broad07_fast_rotation")
        let limit = Float(500 * Double.pi / 180)
        let (diary, detector) = play(recording, rows: 0..<8000) {
            $1.clamped(lowerBound: SIMD3(repeating: -limit), upperBound: SIMD3(repeating: limit))
        }
        #expect(detector.faultCounts[.rateSaturated] ?? 0 > 50)
        #expect(diary.failures.isEmpty && diary.events.contains { $0.turnRateDegreesPerSecond != nil })
        #expect(diary.events.allSatisfy { abs($0.turnRateDegreesPerSecond ?? 0) < 900 })
    }

    @Test func aReversedGyroscopeIsToldAndNotUsed() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(recording, rows: 0..<8000) { -$1 }
        #expect(diary.failures.count == 1)
        #expect(diary.failures.first?.contains("reversed") ?? false, "\(diary.failures)")
        #expect(diary.events.last?.turnRateDegreesPerSecond == nil)
    }

    @Test func aMagnetometerWithOtherAxesIsReportedAndHasNoHeading() throws {
        let recording = try Recording("broad05_rotation")
        let (diary, _) = play(
            recording, rows: recording.gyroscope.indices, fields: { SIMD3($0.x, $0.y, -$0.z) })
        #expect(diary.failures.filter { $0.hasPrefix("the magnetometer turns otherwise") }.count == 1)
        let report = try #require(diary.entries.last { $0.contains("the magnetometer turns otherwise") })
        let time = try #require(report.split(separator: " ").dropFirst().first.flatMap { Int64($0) })
        #expect(!diary.events.contains { !$0.isStale && $0.timeNanoseconds > time })
    }

    /// A field that points up where it points down at the place: north would be south.
    @Test(arguments: [false, true])
    func aMagnetometerOfTheOtherSignHasNoHeadingWhereThePlaceIsKnown(isReversed: Bool) throws {
        let recording = try Recording("broad05_rotation")
        var settings = NorthSettings()
        settings.localField = LocalField(
            declinationDegrees: 4, declinationUncertaintyDegrees: 0.4, fieldMicrotesla: 49.5, dipDegrees: 67)
        let (diary, _) = play(
            recording, rows: recording.gyroscope.indices, settings: settings, fields: { isReversed ? -$0 : $0 })
        #expect(diary.events.isEmpty == isReversed)
    }

    /// The end of a turn is told, although the heading does not change any more; and at rest nothing is.
    @Test func aTurnThatEndsIsTold() throws {
        let sensor = Sensor(name: "boat", calibration: .fair)
        sensor.gyroscopeDevice = MountedSensor(device: "chip", axes: nil)
        // The accuracy of a first turn would be told as well.
        sensor.recallLearned = { _, _ in
            FusionMemory(
                offset: .zero, sigmaDegrees: SIMD3(repeating: 0.05),
                errors: SensorErrors(iron: .zero, ironSigma: SIMD3(repeating: 1), scale: 1, scaleSigma: 0.005))
        }
        let streams = [SampleKind.gyroscope, .magnetometer, .accelerometer].map {
            SampleStream(sensor: sensor, kind: $0)
        }
        var random = SeededGenerator(seed: 11)
        func noise(_ size: Float) -> SIMD3<Float> { .random(in: -size...size, using: &random) }
        var samples: [(stream: Int, sample: Sample)] = []
        var heading = 100.0
        let dip = 66 * Double.pi / 180
        for index in 0..<3000 {
            let rate: Double = (1000..<1300).contains(index) ? 8 : 0
            heading += rate / 100
            let angle = heading * .pi / 180
            let field = SIMD3<Float>(SIMD3(-sin(angle) * cos(dip), cos(angle) * cos(dip), -sin(dip)) * 44) + noise(0.5)
            let turning = SIMD3<Float>(0, 0, Float(-rate)) * .pi / 180 + noise(0.005)
            for (stream, v) in [turning, field, SIMD3(0, 0, 9.81) + noise(0.03)].enumerated() {
                let time = Int64(index) * 10 * millisecond
                samples.append((stream, Sample(timeNanoseconds: time, x: v.x, y: v.y, z: v.z)))
            }
        }
        var settings = NorthSettings()
        settings.headingFilterDegrees = 90
        let detector = NorthDetector(
            accelerometer: streams[2], magnetometer: streams[1], gyroscope: streams[0], settings: settings)
        let diary = Diary()
        detector.delegate = diary
        detector.startDetection()
        Pipeline(source: ScriptedSource(streams: streams, samples: samples), detectors: [detector]).run()
        let inTurn = diary.events.filter { (10 * second..<13 * second).contains($0.timeNanoseconds) }
        let after = diary.events.filter { $0.timeNanoseconds >= 13 * second }
        #expect(inTurn.contains { abs(($0.turnRateDegreesPerSecond ?? 0) - 8) < 1 })
        #expect(abs(after.last?.turnRateDegreesPerSecond ?? 9) < 1 && (after.last?.timeNanoseconds ?? 0) < 15 * second)
        #expect(inTurn.count <= 3 && after.count <= 2)
        #expect(!diary.events.contains { (6 * second..<10 * second).contains($0.timeNanoseconds) })
    }

    // MARK: - What was learned before

    /// A device that turns from the first moment on, with a gyroscope that is 5°/s off.
    private func turned(
        _ recall: ((SampleKind, MountedSensor) -> FusionMemory?)?, calibration: SensorCalibration = .fair
    ) -> (errors: [Double], state: GyroscopeState?) {
        let sensor = Sensor(name: "boat", calibration: calibration)
        sensor.gyroscopeDevice = MountedSensor(device: "chip", axes: "1")
        sensor.magnetometerDevice = MountedSensor(device: "compass", axes: "2")
        sensor.recallLearned = recall
        let streams = [SampleKind.gyroscope, .magnetometer, .accelerometer].map {
            SampleStream(sensor: sensor, kind: $0)
        }
        var random = SeededGenerator(seed: 9)
        func noise(_ size: Float) -> SIMD3<Float> { .random(in: -size...size, using: &random) }
        var samples: [(stream: Int, sample: Sample)] = []
        let dip = 66 * Double.pi / 180
        for index in 0..<1500 {
            let seconds = Double(index) / 50
            let angle = 20 * seconds * .pi / 180
            let rate = SIMD3<Float>(0, 0, -20 + 5) * .pi / 180 + noise(0.003)
            let field = SIMD3<Float>(SIMD3(-sin(angle) * cos(dip), cos(angle) * cos(dip), -sin(dip)) * 44) + noise(0.5)
            for (stream, v) in [rate, field, SIMD3(0, 0, 9.81) + noise(0.03)].enumerated() {
                let time = Int64(index) * 20 * millisecond
                samples.append((stream, Sample(timeNanoseconds: time, x: v.x, y: v.y, z: v.z)))
            }
        }
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0
        let detector = NorthDetector(
            accelerometer: streams[2], magnetometer: streams[1], gyroscope: streams[0], settings: settings)
        let diary = Diary()
        detector.delegate = diary
        detector.startDetection()
        Pipeline(source: ScriptedSource(streams: streams, samples: samples), detectors: [detector]).run()
        let errors = diary.events.filter { $0.turnRateDegreesPerSecond != nil }.map {
            abs(Angle.differenceDegrees(from: 20 * Double($0.timeNanoseconds) * 1e-9, to: $0.headingDegrees))
        }
        return (errors, detector.gyroscopeState)
    }

    @Test func whatWasLearnedOfTheDeviceIsRecalled() throws {
        let degree = Double.pi / 180
        let memory = FusionMemory(
            offset: SIMD3(0, 0, 5 * degree), sigmaDegrees: SIMD3(repeating: 0.05), field: (44, 66))
        var asked: [String] = []
        let with = turned {
            asked.append("\($0) \($1.device) \($1.axes ?? "")")
            return memory
        }
        #expect(Set(asked) == ["gyroscope chip 1", "magnetometer compass 2"])
        let without = turned(nil)
        let (known, unknown) = (Score.percentile(with.errors, 0.95), Score.percentile(without.errors, 0.95))
        print("in motion from the start, 5°/s off: p95 \(known)° with the offset, \(unknown)° without")
        #expect(known < 3 && unknown > 2 * known)
        let state = try #require(with.state)
        #expect(state.gyroscope?.device == "chip" && state.magnetometer?.device == "compass")
        #expect(state.isLearned && !state.isAtRest && state.sigmaDegrees < 0.3)
        #expect(without.state?.isLearned == false)
        // What a calibration takes away is no offset of the samples, and is one of the device.
        let calibration = SensorCalibration(
            magnetometer: SensorCalibration.fair.magnetometer,
            gyroscope: AxisCalibration(offset: SIMD3(0, 0, 5 * degree), matrix: Matrix3(diagonal: SIMD3(1, 1, 1))))
        let calibrated = turned({ _, _ in memory }, calibration: calibration)
        #expect(Score.percentile(calibrated.errors, 0.95) < 3)
        #expect(abs((calibrated.state?.memory.offset.z ?? 0) / degree - 5) < 0.5)
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

extension SensorCalibration {
    /// That of a magnetometer that is right already, in the field of the recordings and of the simulated boat.
    static let fair = SensorCalibration(
        magnetometer: MagnetometerCalibration(
            axes: AxisCalibration(offset: .zero, matrix: .identity), fieldMicrotesla: 44, residualMicrotesla: 0.3))
}

private enum GyroscopeNotes {
    static let silent = "no gyroscope sample for a second; headings are those of the compass until it is back"
}

extension Attitude {
    fileprivate static func headingDegrees(of direction: SIMD3<Double>) -> Double {
        Angle.normalizedDegrees(atan2(direction.x, direction.y) * 180 / .pi)
    }
}
