import Binnacle
import BinnacleTesting
import Glibc
import SensorGeometry
import Synchronization
import TestSupport
import Testing

import BinnacleHeading

/// The attitude on simulated devices, of which everything is known.
@Suite struct AttitudeTests {
    /// A device without noise that turns as a script says, in a field of 44 µT with a dip of 66°.
    private struct Body {
        /// From the device's frame to east, north and up.
        private(set) var truth: [Quaternion] = []
        private(set) var samples: [(stream: Int, sample: Sample)] = []
        private var orientation: Quaternion
        let streams: [SampleStream]
        private static let step: Int64 = 10_000_000

        init(_ orientation: Quaternion = .identity) {
            self.orientation = orientation
            let sensor = Sensor(name: "imu")
            streams = [.gyroscope, .magnetometer, .accelerometer].map { SampleStream(sensor: sensor, kind: $0) }
        }

        /// Turns for a time with a rate in °/s in the device's frame, at 100 Hz.
        mutating func turn(_ degreesPerSecond: Vector3 = .zero, seconds: Double, pushed: Vector3 = .zero) {
            for _ in 0..<Int(seconds * 100) {
                let time = Int64(truth.count) * Self.step
                let rate = degreesPerSecond * .pi / 180
                if !truth.isEmpty { orientation = (orientation * Quaternion(rate: rate, seconds: 0.01)).normalized }
                truth.append(orientation)
                let toDevice = orientation.conjugate
                let dip = 66 * Double.pi / 180
                append(0, rate, time)
                append(1, toDevice.rotate(Vector3(0, cos(dip), -sin(dip)) * 44), time)
                append(2, toDevice.rotate(Vector3(0, 0, Gravity.standard)) + pushed, time)
            }
        }

        private mutating func append(_ stream: Int, _ vector: Vector3, _ time: Int64) {
            samples.append(
                (stream, Sample(timeNanoseconds: time, x: Float(vector.x), y: Float(vector.y), z: Float(vector.z))))
        }
    }

    /// Keeps each attitude, and the limits and failures that it is told.
    private final class Diary: DetectorDelegate {
        var motions: [DeviceMotion] = []
        var changes: [DeviceMotion] = []
        var entries: [String] = []

        /// Reads all attitudes of a detector, and is told what becomes an event.
        init(of detector: AttitudeDetector) {
            detector.delegate = self
            detector.readers.append { [unowned self] in
                motions.append($0)
                return true
            }
        }

        func collect(_ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult) {
            if let motion = result as? DeviceMotion { changes.append(motion) }
            if let limit = result as? Finding {
                #expect(kind == limit.kind)
                enter(limit)
            }
        }
        func collect(_ kind: EventKind, _ detector: any EventDetector, because error: any Error) {
            entries.append("failed \(error)")
        }
        func collect(_ kind: EventKind, _ detector: any Detector, because reason: String) {}
        private func enter(_ limit: Finding) {
            func number(_ name: Figure.Name) -> Double? { limit.value(of: name)?.double }
            func milliseconds(_ nanoseconds: Double) -> Int64 { Int64(nanoseconds.rounded()) / millisecond }
            let words = limit.kind.rawValue.split(separator: ".").joined(separator: " ")
            let duration = number(.duration).map { " after \(milliseconds($0 * 1e9))" } ?? ""
            entries.append(
                "\(words) at \(limit.timeNanoseconds / millisecond) from \(milliseconds(number(.onset) ?? 0))\(duration), "
                    + "peak \(Int((number(.peakAngle) ?? 0).rounded()))")
        }
    }

    /// Plays a body to a detector that has the streams of some kinds.
    private func play(
        _ body: Body, _ settings: AttitudeSettings = AttitudeSettings(), gyroscope: Bool = true,
        magnetometer: Bool = true,
        capacity: Int = 4096, keeps: (Int, Sample) -> Bool = { _, _ in true }
    ) -> Diary {
        var settings = settings
        settings.uncalibratedIronMicrotesla = 0
        let detector = AttitudeDetector(
            accelerometer: body.streams[2], gyroscope: gyroscope ? body.streams[0] : nil,
            magnetometer: magnetometer ? body.streams[1] : nil, settings: settings)
        let diary = Diary(of: detector)
        let source = ScriptedSource(streams: body.streams, samples: body.samples.filter { keeps($0.stream, $0.sample) })
        detector.startDetection()
        Pipeline(source: source, detectors: [detector], capacity: capacity).run()
        return diary
    }

    private static func about(_ axis: Vector3, _ degrees: Double) -> Quaternion {
        Quaternion(rate: axis * degrees * .pi / 180, seconds: 1)
    }

    /// How far two rotations are from each other, in degrees.
    private static func angle(_ a: Quaternion, _ b: Quaternion) -> Double {
        (a * b.conjugate).normalized.angle * 180 / .pi
    }

    // MARK: - Frames and signs

    /// A body that lies as an axis, an angle and a heading say, with the signs of each frame.
    @Test(arguments: [
        // Pitch: the top up by 20°; roll: the right side down by 30°.
        (Vector3(1, 0, 0), 20.0, 20.0, 0.0, -20.0, 0.0), (Vector3(1, 0, 0), -20, -20, 0, 20, 0),
        (Vector3(0, 1, 0), 30, 0, 30, 0, 30), (Vector3(0, 1, 0), -170, 0, -170, 0, -170),
    ])
    func rollAndPitchHaveTheSignsOfTheFrame(
        axis: Vector3, degrees: Double, nedPitch: Double, nedRoll: Double, enuPitch: Double, enuRoll: Double
    ) throws {
        for heading in [0.0, 90, 200, 355] {
            for gyroscope in [true, false] {
                var body = Body(Self.about(Vector3(0, 0, 1), -heading) * Self.about(axis, degrees))
                body.turn(seconds: 6)
                for (frame, pitch, roll) in [(EarthFrame.ned, nedPitch, nedRoll), (.enu, enuPitch, enuRoll)] {
                    var settings = AttitudeSettings()
                    settings.frame = frame
                    let motion = try #require(play(body, settings, gyroscope: gyroscope).motions.last)
                    #expect(abs(motion.pitchDegrees - pitch) < 0.01, "\(frame)")
                    #expect(abs(try #require(motion.rollDegrees) - roll) < 0.01, "\(frame)")
                    #expect(abs(Angle.differenceDegrees(from: try #require(motion.headingDegrees), to: heading)) < 0.01)
                    let yaw = frame == .ned ? heading : 90 - heading
                    #expect(abs(Angle.differenceDegrees(from: try #require(motion.yawDegrees), to: yaw)) < 0.01)
                    #expect(motion.reference == .magnetic && motion.headingFault == nil)
                }
            }
        }
    }

    @Test func vectorsAreInTheAxesOfTheBody() throws {
        var body = Body()
        body.turn(seconds: 5)
        body.turn(Vector3(0, 0, -10), seconds: 0.1, pushed: Vector3(0.5, 1, 0.25))
        for (frame, signs) in [(EarthFrame.ned, Vector3(1, 1, -1)), (.enu, Vector3(1, -1, 1))] {
            var settings = AttitudeSettings()
            settings.frame = frame
            let motion = try #require(play(body, settings).motions.last)
            let gravity = Vector3(0, 0, Gravity.standard) * signs
            #expect(length(motion.gravity - gravity) < 0.05, "\(motion.gravity)")
            // Forward is the device's y, to the right its x.
            #expect(
                length(motion.userAcceleration - Vector3(1, 0.5, 0.25) * signs) < 0.05, "\(motion.userAcceleration)")
            #expect(length(try #require(motion.rotationRate) * 180 / .pi - Vector3(0, 0, -10) * signs) < 0.1)
            // Gravity and the attitude are one: the body's up is the frame's.
            let up = motion.attitude.rotate(motion.gravity / length(motion.gravity))
            #expect(length(up - Vector3(0, 0, frame == .ned ? -1 : 1)) < 1e-9)
        }
    }

    @Test func withTheDevicesAxesTheQuaternionIsThatOfAndroid() throws {
        let orientation = Self.about(Vector3(0.6, -0.64, 0.48), 75)
        var body = Body(orientation)
        body.turn(seconds: 6)
        var settings = AttitudeSettings()
        (settings.frame, settings.forwardAxis) = (.enu, .plusX)
        let motion = try #require(play(body, settings).motions.last)
        #expect(Self.angle(motion.attitude, orientation) < 0.01)
        #expect(motion.attitude.w >= 0)
    }

    // MARK: - Turns

    /// However the device is built in: what is found is the attitude of the body, all the way round and through gimbal lock.
    @Test(arguments: [
        Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1), Vector3(0.6, 0, 0.8), Vector3(-0.36, 0.48, 0.8),
    ])
    func turnsAboutAllAxesAreExact(axis: Vector3) throws {
        for (forward, up) in [
            (DeviceAxis.plusY, DeviceAxis.plusZ), (.plusX, .plusZ), (.minusZ, .plusY), (.minusX, .minusY),
        ] {
            for frame in EarthFrame.allCases {
                var body = Body(Self.about(Vector3(0, 0, 1), -40))
                body.turn(seconds: 5)
                body.turn(axis * 90, seconds: 8)
                var settings = AttitudeSettings()
                (settings.frame, settings.forwardAxis, settings.upAxis) = (frame, forward, up)
                let diary = play(body, settings)
                let axes = BodyAxes(frame, forward: forward, up: up)
                let moving = diary.motions.suffix(800)
                #expect(moving.count == 800)
                for (motion, truth) in zip(moving, body.truth.suffix(800)) {
                    let off = Self.angle(motion.attitude, axes.attitude(truth))
                    guard off < 0.05 else {
                        Issue.record("\(frame) \(forward) \(up): \(off)° at \(motion.timeNanoseconds)")
                        break
                    }
                }
            }
        }
    }

    @Test func aVerticalBowHasNoRollAndNoHeading() throws {
        var body = Body(Self.about(Vector3(0, 0, 1), -40))
        body.turn(seconds: 5)
        body.turn(Vector3(45, 0, 0), seconds: 8)
        let moving = play(body).motions.suffix(800)
        var count = 0
        for (before, motion) in zip(moving, moving.dropFirst()) {
            #expect(Self.angle(before.attitude, motion.attitude) < 0.46)
            let isVertical = abs(motion.pitchDegrees) > 89
            if isVertical { count += 1 }
            // A step of 0.45° may lie on the limit itself.
            guard abs(abs(motion.pitchDegrees) - 89) > 0.1 else { continue }
            #expect((motion.rollDegrees == nil) == isVertical, "\(motion.pitchDegrees)")
            #expect((motion.headingDegrees == nil) == isVertical && (motion.yawDegrees == nil) == isVertical)
            if !isVertical {
                let isUpsideDown = abs(try #require(motion.rollDegrees)) > 90
                let heading = try #require(motion.headingDegrees)
                #expect(abs(Angle.differenceDegrees(from: heading, to: isUpsideDown ? 220 : 40)) < 0.1)
            }
        }
        #expect((6...10).contains(count), "\(count)")
        let figures = EventKind.attitudeFigures.figures(of: try #require(moving.first { $0.rollDegrees == nil })).map(
            \.name)
        #expect(!figures.contains(.roll) && !figures.contains(.heading) && !figures.contains(.yaw))
        #expect(figures.contains(.quaternionW) && figures.contains(.pitch))
    }

    // MARK: - What there is without one of the sensors

    @Test(arguments: [(EarthFrame.ned, 90.0), (.enu, 270)])
    func withoutAMagnetometerYawIsRelative(frame: EarthFrame, turned: Double) throws {
        var body = Body(Self.about(Vector3(0, 0, 1), -123) * Self.about(Vector3(1, 0, 0), 10))
        body.turn(seconds: 5)
        var settings = AttitudeSettings()
        settings.frame = frame
        let still = try #require(play(body, settings, magnetometer: false).motions.last)
        #expect(still.reference == .relative && still.headingDegrees == nil && still.headingFault == nil)
        #expect(abs(Angle.differenceDegrees(from: 0, to: try #require(still.yawDegrees))) < 0.01)
        // Clockwise about the vertical, which lies slanting in the device.
        body.turn(Self.about(Vector3(1, 0, 0), -10).rotate(Vector3(0, 0, -45)), seconds: 2)
        let motion = try #require(play(body, settings, magnetometer: false).motions.last)
        #expect(abs(Angle.differenceDegrees(from: turned, to: try #require(motion.yawDegrees))) < 0.05)
        #expect(abs(motion.pitchDegrees - (frame == .ned ? 10 : -10)) < 0.05)
        // A turn of 90° may be off by the scale of a gyroscope that nothing shows.
        let (first, last) = (try #require(still.yawAccuracyDegrees), try #require(motion.yawAccuracyDegrees))
        #expect(first < 5 && last > first && last < 10, "\(first) \(last)")
    }

    @Test func anOffsetThatIsLearnedAtRestDoesNotTurnAYawThatStands() throws {
        var body = Body()
        body.turn(seconds: 20)
        let offset = Float(2 * Double.pi / 180)
        var samples = body
        samples = body
        let detector = AttitudeDetector(accelerometer: samples.streams[2], gyroscope: samples.streams[0])
        let diary = Diary(of: detector)
        let shown = body.samples.map { stream, sample -> (stream: Int, sample: Sample) in
            var sample = sample
            if stream == 0 { sample.z += offset }
            return (stream, sample)
        }
        detector.startDetection()
        Pipeline(source: ScriptedSource(streams: body.streams, samples: shown), detectors: [detector]).run()
        let yaws = diary.motions.compactMap(\.yawDegrees)
        for (before, after) in zip(yaws, yaws.dropFirst()) {
            #expect(abs(Angle.differenceDegrees(from: before, to: after)) < 0.1)
        }
        #expect(length(try #require(diary.motions.last?.rotationRate)) < 0.001)
    }

    @Test func anAccelerometerAloneHasATiltAndNoYaw() throws {
        var body = Body(Self.about(Vector3(0, 0, 1), -123) * Self.about(Vector3(0, 1, 0), 25))
        body.turn(seconds: 3)
        let diary = play(body, gyroscope: false, magnetometer: false)
        #expect(diary.motions.count == 300)
        let motion = try #require(diary.motions.last)
        #expect(motion.reference == nil && motion.yawDegrees == nil && motion.yawAccuracyDegrees == nil)
        #expect(motion.rotationRate == nil && motion.headingDegrees == nil && motion.headingFault == nil)
        #expect(abs(try #require(motion.rollDegrees) - 25) < 0.01 && abs(motion.pitchDegrees) < 0.01)
        // The quaternion has the tilt, and points where a yaw of 0 does.
        #expect(Self.angle(motion.attitude, Self.about(Vector3(1, 0, 0), 25)) < 0.01)
        #expect(diary.changes.count == 1)
    }

    @Test func aGyroscopeThatFallsSilentIsToldAndNotMissed() throws {
        var body = Body()
        body.turn(seconds: 12)
        let diary = play(body) { stream, sample in
            stream != 0 || !(5 * second..<9 * second).contains(sample.timeNanoseconds)
        }
        #expect(diary.entries == ["failed \(AttitudeFailure.gyroscopeSilent)"])
        let at = { (seconds: Int64) in diary.motions.last { $0.timeNanoseconds <= seconds * second } }
        #expect(try #require(at(8)).rotationRate == nil && at(8)?.reference == .magnetic)
        #expect(try #require(at(12)).rotationRate != nil && at(12)?.reference == .magnetic)
        // North, which was known without the turns, stays known until they have it, too.
        let others = diary.motions.filter { $0.timeNanoseconds > 4 * second && $0.reference != .magnetic }
        #expect(others.isEmpty, "\(others.map { ($0.timeNanoseconds, $0.reference, $0.headingFault) })")
        // The attitude is held for the second in which the rates might still come, and no longer.
        #expect(diary.motions.allSatisfy { !(5 * second..<6 * second).contains($0.timeNanoseconds) })
    }

    @Test(arguments: [(0, true), (1, true), (2, false)])
    func aSensorThatFailsIsToldAndTakesItsPart(stream: Int, hasAttitude: Bool) throws {
        var body = Body()
        body.turn(seconds: 6)
        let detector = AttitudeDetector(
            accelerometer: body.streams[2], gyroscope: body.streams[0], magnetometer: body.streams[1])
        let diary = Diary(of: detector)
        detector.startDetection()
        let steps = body.samples.map { ScriptedSource.Step.sample($0.sample, stream: $0.stream) }
        let source = ScriptedSource(
            streams: body.streams,
            steps: steps.prefix(1200) + [.failure(TestError(), streams: [stream])]
                + body.samples.dropFirst(1200).filter { $0.stream != stream }.map {
                    .sample($0.sample, stream: $0.stream)
                })
        Pipeline(source: source, detectors: [detector]).run()
        #expect(diary.entries == ["failed the cable is out"])
        #expect((detector.latest != nil) == hasAttitude)
        if stream == 0 { #expect(detector.latest?.rotationRate == nil) }
    }

    @Test func withoutAnAccelerometerThereIsNone() {
        let detector = AttitudeDetector(accelerometer: nil)
        let delegate = RecordingDelegate()
        detector.delegate = delegate
        detector.startDetection()
        #expect(!detector.isDetecting && delegate.calls.map(\.name) == ["detector.unavailable"])
    }

    // MARK: - Events

    @Test func heelAndPitchHaveHysteresisAndDwell() throws {
        var settings = AttitudeSettings()
        (settings.heelDegrees, settings.pitchDegrees) = (25, 15)
        var body = Body()
        body.turn(seconds: 5)
        body.turn(Vector3(0, 30, 0), seconds: 1)  // to 30° of roll
        body.turn(seconds: 2)
        body.turn(Vector3(0, -8, 0), seconds: 1)  // to 22°, which is within the hysteresis
        body.turn(seconds: 2)
        body.turn(Vector3(0, -22, 0), seconds: 1)  // level
        body.turn(seconds: 2)
        body.turn(Vector3(40, 0, 0), seconds: 0.5)  // 20° of pitch, for less than the dwell
        body.turn(Vector3(-40, 0, 0), seconds: 0.5)
        body.turn(seconds: 1)
        body.turn(Vector3(-40, 0, 0), seconds: 0.5)  // bow down
        body.turn(seconds: 2)
        for capacity in [1, 7, 4096] {
            let diary = play(body, settings, capacity: capacity)
            #expect(
                diary.entries == [
                    "heel began at 6830 from 5830, peak 30", "heel ended at 12090 from 5830 after 5260, peak 30",
                    "pitch began at 17370 from 16370, peak 20",
                ])
        }
    }

    /// Near the vertical a small error of the accelerometer, here 0.05 g across, is a large roll.
    @Test(arguments: [(70.0, true), (86, false)])
    func aBodyThatOnlyPitchesHasNotHeeled(pitch: Double, isHeelable: Bool) throws {
        var settings = AttitudeSettings()
        (settings.heelDegrees, settings.hysteresisDegrees) = (6, 2)
        var body = Body()
        let error = Vector3(0.5, 0, 0)
        body.turn(seconds: 5, pushed: error)
        body.turn(Vector3(pitch, 0, 0), seconds: 1, pushed: error)
        body.turn(seconds: 20, pushed: error)
        #expect(play(body, settings).entries.contains { $0.hasPrefix("heel began") } == isHeelable)
    }

    /// While a body sways the vertical is far less certain than the pitch makes the roll.
    @Test func aBodyThatSwaysHeelsAtAPitch() throws {
        var settings = AttitudeSettings()
        settings.heelDegrees = 20
        var body = Body()
        body.turn(seconds: 5)
        body.turn(Vector3(40, 0, 0), seconds: 1)
        body.turn(Vector3(0, 45, 0), seconds: 1)
        for push in 0..<40 { body.turn(seconds: 0.5, pushed: Vector3(push % 2 == 0 ? 2 : -2, 0, 0)) }
        #expect(play(body, settings).entries.contains { $0.hasPrefix("heel began") })
    }

    @Test func changesComeByTheFilter() throws {
        var settings = AttitudeSettings()
        settings.filterDegrees = 10
        var body = Body()
        // The field agrees with a first turn, which would be told with its accuracy.
        body.turn(seconds: 4)
        body.turn(Vector3(0, 0, 90), seconds: 3)
        body.turn(seconds: 8)
        body.turn(Vector3(0, 0, -90), seconds: 1)
        let changes = play(body, settings).changes.filter { $0.timeNanoseconds >= 15 * second }
        #expect(changes.count == 8 || changes.count == 9, "\(changes.count)")
        for (before, after) in zip(changes, changes.dropFirst()) {
            #expect((10...11).contains(Self.angle(before.attitude, after.attitude)))
        }
    }

    /// A steady attitude is not kept from those who wait for a better one.
    @Test func aBetterAccuracyIsReportedAtMostOnceASecond() throws {
        var body = Body()
        body.turn(seconds: 3)
        body.turn(seconds: 0.3, pushed: Vector3(0, 0, 6))
        body.turn(seconds: 10)
        let diary = play(body, gyroscope: false, magnetometer: false)
        let (worst, last) = (diary.changes.map(\.tiltAccuracyDegrees).max(), try #require(diary.motions.last))
        #expect(try #require(worst) > last.tiltAccuracyDegrees + 2)
        let told = try #require(diary.changes.last).tiltAccuracyDegrees
        #expect(abs(told - last.tiltAccuracyDegrees) <= max(1, told / 4), "\(told)")
        for (before, after) in zip(diary.changes, diary.changes.dropFirst())
        where after.tiltAccuracyDegrees < before.tiltAccuracyDegrees {
            #expect(after.timeNanoseconds - before.timeNanoseconds >= second)
        }
    }

    /// A tram accelerates and brakes: the vertical follows, and nine of ten verticals are within what is stated.
    @Test func anAccelerationThatLastsIsInTheAccuracy() throws {
        var body = Body()
        body.turn(seconds: 20)
        for push in [1.2, 0, -1.2, 0, 1.0, -1.0, 0] {
            body.turn(seconds: 10, pushed: Vector3(0, push, 0))
        }
        let diary = play(body, magnetometer: false)
        let later = diary.motions.filter { $0.timeNanoseconds >= 20 * second }
        let within = later.count { motion in
            let error = acos(min(abs(motion.gravity.z) / length(motion.gravity), 1)) * 180 / .pi
            return error <= motion.tiltAccuracyDegrees
        }
        #expect(Double(within) >= 0.9 * Double(later.count), "\(within) of \(later.count)")
        #expect(later.contains { acos(min(abs($0.gravity.z) / length($0.gravity), 1)) * 180 / .pi > 5 })
    }

    @Test func theEndOfATurnIsReported() throws {
        var body = Body()
        body.turn(seconds: 10)
        body.turn(Vector3(0, 0, -6), seconds: 5)
        body.turn(seconds: 5)
        func rate(_ motion: DeviceMotion) -> Double { length(motion.rotationRate ?? .zero) * 180 / .pi }
        let changes = play(body).changes
        #expect(changes.contains { abs(rate($0) - 6) < 0.5 })
        #expect(changes.contains { (15 * second..<17 * second).contains($0.timeNanoseconds) && rate($0) < 1 })
    }

    /// Handlers that send an attitude again and again send none after a failure, until there is one.
    @Test(arguments: [0, 2], [true, false])
    func theFirstAttitudeAfterASilenceIsReported(stream: Int, hasMagnetometer: Bool) throws {
        var body = Body()
        body.turn(seconds: 16)
        let diary = play(body, magnetometer: hasMagnetometer) { kept, sample in
            kept != stream || !(5 * second..<9 * second).contains(sample.timeNanoseconds)
        }
        #expect(diary.entries.count == 1)
        // Without the gyroscope there is an attitude again behind the failure, without the accelerometer behind the silence.
        let start = stream == 0 ? 6 * second : 9 * second
        let first = try #require(diary.motions.first { $0.timeNanoseconds >= start })
        #expect(diary.changes.contains(first), "\(diary.changes.map(\.timeNanoseconds))")
    }

    @Test func theFirstAttitudeAfterAFallIsReported() throws {
        var body = Body()
        body.turn(seconds: 3)
        body.turn(seconds: 3, pushed: Vector3(0, 0, -Gravity.standard))
        body.turn(seconds: 3)
        let diary = play(body, gyroscope: false, magnetometer: false)
        let pairs = zip(diary.motions, diary.motions.dropFirst())
        let pause = try #require(pairs.first { $1.timeNanoseconds - $0.timeNanoseconds > second })
        #expect(diary.changes.contains(pause.1))
    }

    @Test(arguments: [1, 7, 100])
    func deliveriesChangeNothing(capacity: Int) throws {
        let recording = try Recording("broad05_rotation")
        func events(_ capacity: Int) -> [String] {
            let sensor = Sensor(name: "hand", calibration: .fair)
            let streams = [.gyroscope, .magnetometer, .accelerometer].map { SampleStream(sensor: sensor, kind: $0) }
            var samples: [(stream: Int, sample: Sample)] = []
            for index in 0..<6000 {
                for (stream, vector) in [recording.gyroscope, recording.field, recording.acceleration].enumerated() {
                    let vector = vector[index]
                    samples.append(
                        (
                            stream,
                            Sample(
                                timeNanoseconds: Int64(index) * 7 * millisecond, x: vector.x, y: vector.y, z: vector.z)
                        ))
                }
            }
            var settings = AttitudeSettings()
            (settings.heelDegrees, settings.pitchDegrees) = (20, 20)
            let detector = AttitudeDetector(
                accelerometer: streams[2], gyroscope: streams[0], magnetometer: streams[1], settings: settings)
            let router = Router()
            let collector = EventCollector()
            router.add(collector)
            detector.report(to: router)
            detector.startDetection()
            Pipeline(
                source: ScriptedSource(streams: streams, samples: samples), detectors: [detector], router: router,
                capacity: capacity
            ).run()
            return collector.events.map(\.json)
        }
        let whole = events(4096)
        #expect(whole.count > 200 && whole == events(capacity))
        #expect(whole.contains { $0.contains("heel.began") } && whole.contains { $0.contains("pitch.ended") })
    }

    // MARK: - A session

    private static func session(configure: @escaping @Sendable (SensorSession.Setup) throws -> Void) -> SensorSession {
        SensorSession {
            ScriptedSource(duration: .seconds(2)) { seconds in [0, Float(seconds), 9.81] }
        } configure: { setup in
            try configure(setup)
        }
    }

    @Test(arguments: [1, 1024])
    func aSessionGivesEachAttitudeOrSaysHowManyWereNotRead(capacity: Int) async throws {
        let session = Self.session { try $0.detectAttitude(name: "hull") }
        var (count, last) = (0, Int64.min)
        for try await motion in session.deviceMotion(of: "hull", capacity: capacity) {
            count += 1 + motion.skippedCount
            #expect(motion.timeNanoseconds > last && motion.pitchDegrees >= 0)
            last = motion.timeNanoseconds
        }
        #expect(count == 200 && last == 1990 * millisecond)
        // It is over, and says so.
        for try await _ in session.deviceMotion(of: "hull") { Issue.record("an attitude after the end") }
    }

    @Test func theLatestAttitudeIsPulled() async throws {
        let session = Self.session { try $0.detectAttitude(name: "hull") }
        let motions = session.deviceMotion(of: "hull", capacity: 1)
        #expect(motions.latest == nil)
        try await session.run()
        #expect(motions.latest?.timeNanoseconds == 1990 * millisecond && motions.latest?.skippedCount == 0)
    }

    /// Counts the readers of a detector before each delivery and at the end.
    private final class ReaderCounter: SampleDetector {
        let name = "readers"
        let streams: [SampleStream] = []
        let isDetecting = true
        var detector: AttitudeDetector?
        private let report: (Int?) -> Void

        init(report: @escaping (Int?) -> Void) { self.report = report }

        func startDetection() {}
        func stopDetection() { report(detector?.readers.count) }
        func process(_ delivery: SampleDelivery) { report(detector?.readers.count) }
        func didLose(_ streams: [SampleStream], because error: any Error) {}
    }

    @Test func aReaderThatHasGoneIsCalledNoMore() async throws {
        let reader = Mutex<(any Sendable)?>(nil)
        let counts = Mutex<[Int?]>([])
        let session = Self.session { setup in
            let counter = ReaderCounter { count in
                counts.withLock { $0.append(count) }
                reader.withLock { $0 = nil }
            }
            // In front of the detector.
            setup.add(counter)
            counter.detector = try setup.detectAttitude(name: "hull") as? AttitudeDetector
        }
        do {
            let motions = session.deviceMotion(of: "hull")
            reader.withLock { $0 = motions }
        }
        try await session.run()
        let found = counts.withLock { $0 }
        #expect(found.first == 1 && found.last == 0)
    }

    @Test func aSessionWithoutTheDetectorSaysWhichThereAre() async throws {
        let session = Self.session { try $0.detectAttitude(name: "hull") }
        let error = await #expect(throws: SensorSessionError.self) {
            for try await _ in session.deviceMotion(of: "mast") {}
        }
        #expect(error?.description == "there is no detector of attitudes 'mast': the session has 'hull'")
    }

    // MARK: - Truth

    /// The attitude against the optical reference of BROAD, in motion: root mean squares in degrees.
    @Test(arguments: [
        ("broad05_rotation", 1.4, 0.6), ("broad07_fast_rotation", 1.5, 0.8), ("broad18_fast_translation", 1.0, 0.6),
        ("broad31_stationary_magnet", 3.1, 1.4), ("broad33_attached_magnet", 2.5, 1.2),
    ])
    func attitudesAreThoseOfTheOptics(name: String, total: Double, inclination: Double) throws {
        let recording = try Recording(name)
        let sensor = Sensor(name: "hand", calibration: .fair)
        let streams = [.gyroscope, .magnetometer, .accelerometer].map { SampleStream(sensor: sensor, kind: $0) }
        var samples: [(stream: Int, sample: Sample)] = []
        for index in recording.gyroscope.indices {
            for (stream, vector) in [recording.gyroscope, recording.field, recording.acceleration].enumerated() {
                let (vector, time) = (vector[index], Int64(index) * recording.stepNanoseconds)
                samples.append((stream, Sample(timeNanoseconds: time, x: vector.x, y: vector.y, z: vector.z)))
            }
        }
        var settings = AttitudeSettings()
        (settings.frame, settings.forwardAxis) = (.enu, .plusX)
        let detector = AttitudeDetector(
            accelerometer: streams[2], gyroscope: streams[0], magnetometer: streams[1], settings: settings)
        let diary = Diary(of: detector)
        detector.startDetection()
        Pipeline(source: ScriptedSource(streams: streams, samples: samples), detectors: [detector]).run()
        var (count, valid, totals, tilts, within, yawWithin) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for motion in diary.motions {
            guard let truth = recording.reference[Int(motion.timeNanoseconds / recording.stepNanoseconds)] else {
                continue
            }
            count += 1
            let error = (motion.attitude * truth.conjugate).normalized
            let tilt = 2 * acos(min(hypot(error.w, error.z), 1)) * 180 / .pi
            tilts += tilt * tilt
            if tilt <= motion.tiltAccuracyDegrees { within += 1 }
            guard motion.reference == .magnetic, let accuracy = motion.yawAccuracyDegrees else { continue }
            valid += 1
            totals += pow(error.angle * 180 / .pi, 2)
            if abs(2 * atan2(error.w < 0 ? -error.z : error.z, abs(error.w))) * 180 / .pi <= accuracy { yawWithin += 1 }
        }
        let (found, tilt) = ((totals / valid).squareRoot(), (tilts / count).squareRoot())
        #expect(valid >= 0.99 * count && found <= total && tilt <= inclination, "\(found) \(tilt)")
        #expect(within >= 0.85 * count && yawWithin >= 0.9 * valid, "\(within / count) \(yawWithin / valid)")
    }

    // MARK: - Settings

    @Test func whatCannotWorkIsSaid() {
        func problems(_ change: (inout AttitudeSettings) -> Void) -> [String] {
            var settings = AttitudeSettings()
            change(&settings)
            return settings.problems().map(\.description)
        }
        #expect(problems { _ in }.isEmpty)
        #expect(
            problems { $0.upAxis = .minusY } == ["upAxis lies along forwardAxis (+y): a body has two different axes"])
        #expect(problems { $0.filterDegrees = -1 } == ["filterDegrees (-1.0) has to be from 0 to 180"])
        #expect(
            problems { ($0.heelDegrees, $0.pitchDegrees) = (180, 90) } == [
                "heelDegrees (180.0) has to be above 0 and below 180",
                "pitchDegrees (90.0) has to be above 0 and below 90",
            ])
        #expect(
            problems { $0.heelDegrees = 5 } == [
                "hysteresisDegrees (5.0) is not below heelDegrees (5.0): it could not end"
            ])
    }
}
