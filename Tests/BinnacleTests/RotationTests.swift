import Binnacle
import BinnacleTesting
import Glibc
import TestSupport
import Testing

/// Motion and rotations with a gyroscope.
@Suite struct RotationTests {
    /// A device that lies on a table, is turned about its x axis and the vertical, and is pushed along x.
    private struct Tablet: Sendable {
        /// How far it is tilted, in degrees, at a time in seconds.
        var tilt: @Sendable (Double) -> Double = { _ in 0 }
        /// How fast it turns about the vertical while it lies flat, in °/s.
        var turn: @Sendable (Double) -> Double = { _ in 0 }
        /// What pushes it, in g.
        var push: @Sendable (Double) -> Float = { _ in 0 }
        /// The gyroscope's own error on each axis, in °/s.
        var offset: Float = 3
        var seconds = 20.0
        var hertz = 100
        /// Whether a sample is the mean of the step before its stamp, and not the value at the stamp.
        var isAveraging = false
        /// Which samples of the gyroscope there are.
        var hasRate: @Sendable (Double) -> Bool = { _ in true }

        func rate(_ t: Double) -> SIMD3<Float> {
            let tilting = (tilt(t + 0.001) - tilt(t - 0.001)) / 0.002
            return (SIMD3(Float(tilting), 0, Float(turn(t))) + offset) * .pi / 180
        }

        private func acceleration(_ t: Double) -> SIMD3<Float> {
            let angle = Float(tilt(t) * .pi / 180)
            return SIMD3(push(t), sin(angle), cos(angle)) * Units.standardGravity
        }

        /// The samples of a gyroscope (0) and an accelerometer (1) with the noise of small chips.
        func steps() -> [(stream: Int, sample: Sample)] {
            var random = SeededGenerator(seed: 5)
            func noise(_ size: Float) -> SIMD3<Float> { .random(in: -size...size, using: &random) }
            func measured(_ value: (Double) -> SIMD3<Float>, _ t: Double) -> SIMD3<Float> {
                guard isAveraging else { return value(t) }
                return (0..<8).map { value(t - (Double($0) + 0.5) / 8 / Double(hertz)) }.reduce(.zero, +) / 8
            }
            return (0..<Int(seconds) * hertz).flatMap { index -> [(stream: Int, sample: Sample)] in
                let t = Double(index) / Double(hertz)
                let a = measured(acceleration, t) + noise(0.03)
                let w = measured(rate, t) + noise(0.002)
                let time = Int64(index) * second / Int64(hertz)
                let up = (1, Sample(timeNanoseconds: time, x: a.x, y: a.y, z: a.z))
                return hasRate(t) ? [(0, Sample(timeNanoseconds: time, x: w.x, y: w.y, z: w.z)), up] : [up]
            }
        }
    }

    private static func linear(_ features: Set<MotionSettings.Feature> = [.motion]) -> MotionSettings {
        var settings = MotionSettings()
        settings.measure = .linearAcceleration
        settings.features = features
        return settings
    }

    private struct Run {
        let diary = RecordingDelegate()
        let manager: MotionManager
        var names: [String] { diary.calls.map(\.name).filter { $0 != "deviceIsMoving" && $0 != "willStartDetection" } }
        var failures: [Int64] {
            diary.calls.filter { $0.name == "didFailWithError" }.compactMap(\.timeNanoseconds)
        }

        init(
            _ steps: [ScriptedSource.Step], settings: MotionSettings, hasGyroscope: Bool = true, capacity: Int = 4096,
            sensor: Sensor = Sensor(name: "tablet")
        ) {
            let streams = [
                SampleStream(sensor: sensor, kind: .gyroscope), SampleStream(sensor: sensor, kind: .accelerometer),
            ]
            let source = ScriptedSource(streams: streams, steps: steps)
            manager = MotionManager(
                accelerometer: streams[1], gyroscope: hasGyroscope ? streams[0] : nil, settings: settings)
            manager.delegate = diary
            manager.startDetection()
            Pipeline(source: source, detectors: [manager], capacity: capacity).run()
        }

        init(_ tablet: Tablet, settings: MotionSettings, hasGyroscope: Bool = true, capacity: Int = 4096) {
            self.init(
                tablet.steps().map { .sample($0.sample, stream: $0.stream) }, settings: settings,
                hasGyroscope: hasGyroscope, capacity: capacity)
        }
    }

    private static func ramp(_ t: Double, from start: Double, to end: Double, by degrees: Double) -> Double {
        min(max((t - start) / (end - start), 0), 1) * degrees
    }

    // MARK: - Linear acceleration

    /// Also with an offset that the gyroscope has, and in both directions.
    @Test(arguments: [10.0, 20, 45, 90, -60])
    func aTurnIsNoMotion(degreesPerSecond: Double) {
        let tablet = Tablet(tilt: { Self.ramp($0, from: 6, to: 8, by: 2 * degreesPerSecond) })
        #expect(Run(tablet, settings: Self.linear()).names.isEmpty)
        var user = Self.linear()
        user.measure = .userAcceleration
        #expect(Run(tablet, settings: user).names == ["didBeginMotion", "didEndMotion"])
    }

    /// Half a turn within half a second: between two samples of a slow chip gravity turns by up to 23°.
    @Test(arguments: [25, 50, 100], [false, true])
    func aFastTurnIsNoMotionAtAnyRateOfSamples(hertz: Int, isAveraging: Bool) {
        let tablet = Tablet(
            tilt: { 90 * (1 - cos(.pi * Self.ramp($0, from: 6, to: 6.5, by: 1))) }, hertz: hertz,
            isAveraging: isAveraging)
        #expect(Run(tablet, settings: Self.linear()).names.isEmpty)
    }

    @Test func aPushIsMotionAlsoInATurn() {
        let push: @Sendable (Double) -> Float = { $0 >= 10 && $0 < 11 ? (Int($0 * 10) % 2 == 0 ? 0.3 : -0.3) : 0 }
        for tilt in [0, 40.0] {
            let run = Run(
                Tablet(tilt: { Self.ramp($0, from: 9, to: 12, by: tilt) }, push: push), settings: Self.linear())
            #expect(run.names == ["didBeginMotion", "didEndMotion"])
            let (began, ended) = (run.diary.motions[0], run.diary.motions[1])
            #expect(began.onsetNanoseconds == 10 * second)
            #expect((10_900 * millisecond...11_600 * millisecond).contains(ended.timeNanoseconds - second))
            #expect(abs(ended.magnitudeG - 0.3) < 0.03, "\(ended.magnitudeG)")
        }
    }

    /// An accelerometer's own error of gravity's length is none of its motion.
    @Test func gravityHasTheLengthThatTheAccelerometerShows() {
        var steps = Tablet(tilt: { Self.ramp($0, from: 6, to: 9, by: 60) }).steps()
        for index in steps.indices where steps[index].stream == 1 {
            let sample = steps[index].sample
            steps[index].sample = Sample(
                timeNanoseconds: sample.timeNanoseconds, x: 1.06 * sample.x, y: 1.06 * sample.y, z: 1.06 * sample.z)
        }
        #expect(Run(steps.map { .sample($0.sample, stream: $0.stream) }, settings: Self.linear()).names.isEmpty)
    }

    // MARK: - Without a gyroscope

    private static let pushed = Tablet(
        tilt: { ramp($0, from: 12, to: 14, by: 60) },
        push: { $0 >= 8 && $0 < 9 ? (Int($0 * 10) % 2 == 0 ? 0.3 : -0.3) : 0 })

    @Test func withoutAGyroscopeItIsUserAccelerationAndThatIsToldOnce() {
        var user = Self.linear()
        user.measure = .userAcceleration
        let wanted = Run(Self.pushed, settings: user, hasGyroscope: false)
        #expect(wanted.diary.motions.count == 4)
        let without = Run(Self.pushed, settings: Self.linear(), hasGyroscope: false)
        #expect(without.diary.motions == wanted.diary.motions)
        #expect(without.names.count { $0 == "didFailWithError" } == 1 && without.names.first == "didFailWithError")
        // A device without one has the stream as well, which never delivers.
        var silent = Self.pushed
        silent.hasRate = { _ in false }
        let never = Run(silent, settings: Self.linear())
        #expect(never.diary.motions == wanted.diary.motions)
        #expect(never.names.count { $0 == "didFailWithError" } == 1 && never.names.first == "didFailWithError")
    }

    @Test func whatDoesNotAskForAGyroscopeDoesNotLookAtOne() {
        let with = Run(Self.pushed, settings: MotionSettings())
        let without = Run(Self.pushed, settings: MotionSettings(), hasGyroscope: false)
        #expect(!with.diary.calls.isEmpty && with.diary.calls == without.diary.calls)
        #expect(with.diary.motions == without.diary.motions)
        #expect(!MotionSettings().usesGyroscope && MotionSettings.Feature.usual.count == 4)
    }

    @Test func aGyroscopeThatVanishesIsToldAndServesWhenItIsBack() {
        // Tilted three times: with the gyroscope, without, and when it has been back for a while.
        var tablet = Tablet(
            tilt: {
                Self.ramp($0, from: 6, to: 8, by: 60) - Self.ramp($0, from: 14, to: 16, by: 60)
                    + Self.ramp($0, from: 28, to: 30, by: 60)
            }, seconds: 34)
        tablet.hasRate = { $0 < 10 || $0 >= 20 }
        let run = Run(tablet, settings: Self.linear())
        #expect(run.names == ["didFailWithError", "didBeginMotion", "didEndMotion"])
        #expect(run.diary.motions.allSatisfy { (14 * second..<19 * second).contains($0.timeNanoseconds) })
    }

    @Test func aGyroscopeThatFailsIsToldOnce() {
        let steps = Self.pushed.steps().filter { $0.stream == 1 || $0.sample.timeNanoseconds < 5 * second }
        var script: [ScriptedSource.Step] = steps.map { .sample($0.sample, stream: $0.stream) }
        let place = steps.firstIndex { $0.sample.timeNanoseconds >= 5 * second } ?? 0
        script.insert(.failure(TestError(), streams: [0]), at: place)
        let run = Run(script, settings: Self.linear([.motion, .rotation]))
        #expect(run.names.count { $0 == "didFailWithError" } == 1)
        #expect(run.manager.isDetecting && run.diary.motions.count >= 2)
    }

    @Test func aStandbyOfTheMachineBeginsTheLevelAgain() {
        // Turned over while it slept, in which the stamps did not go on.
        let tablet = Tablet(tilt: { $0 < 10 ? 0 : 80 }, seconds: 20)
        let sensor = Sensor(name: "tablet")
        let loss = SampleLoss(
            stream: SampleStream(sensor: sensor, kind: .gyroscope).id, cause: .suspend, detail: "slept")
        let steps = tablet.steps()
        var script: [ScriptedSource.Step] = steps.map { .sample($0.sample, stream: $0.stream) }
        let place = steps.firstIndex { $0.sample.timeNanoseconds >= 10 * second } ?? 0
        let settings = Self.linear()
        let unknowing = Run(script, settings: settings).diary.motions.last
        script.insert(.loss(loss), at: place)
        let knowing = Run(script, settings: settings, sensor: sensor).diary.motions.last
        // User acceleration serves meanwhile, which forgets within seconds; what the level forgets lasts longer.
        #expect(knowing?.duration ?? .zero < unknowing?.duration ?? .zero)
    }

    // MARK: - Rotations

    private static let rotations = Tablet(
        turn: { t in
            switch t {
            case 6..<7: 60
            case 7.5..<8: -100
            case 12..<12.01: 200
            default: 0
            }
        })

    @Test func aRotationBeginsAndEnds() throws {
        let run = Run(Self.rotations, settings: Self.linear([.rotation]))
        #expect(run.names == ["didBeginRotation", "didEndRotation"])
        let (began, ended) = (run.diary.rotations[0], run.diary.rotations[1])
        #expect(began.onsetNanoseconds == 6 * second && began.timeNanoseconds == 6020 * millisecond)
        // The offset is no part of it.
        #expect(abs(began.peakDegreesPerSecond - 60) < 1 && abs(ended.peakDegreesPerSecond - 100) < 1)
        #expect(ended.onsetNanoseconds == 6 * second && ended.duration == .seconds(2))
        #expect(ended.timeNanoseconds == 9 * second)
        #expect(!run.manager.isRotating)
    }

    @Test func itsLimitsAreSettings() {
        var settings = Self.linear([.rotation])
        settings.rotationDegreesPerSecond = 80
        settings.rotationReleaseDegreesPerSecond = 70
        settings.quiet = .milliseconds(200)
        let run = Run(Self.rotations, settings: settings)
        #expect(run.diary.rotations.map(\.onsetNanoseconds) == [7500 * millisecond, 7500 * millisecond])
        settings.minimumDuration = .seconds(2)
        #expect(Run(Self.rotations, settings: settings).names.isEmpty)
        settings.rotationReleaseDegreesPerSecond = 90
        #expect(settings.problems().map(\.property) == [\.rotationReleaseDegreesPerSecond])
        settings.rotationDegreesPerSecond = .nan
        #expect(!settings.problems().isEmpty)
    }

    @Test func withoutAGyroscopeThereIsNoRotationAndThatIsTold() {
        let run = Run(Self.rotations, settings: Self.linear([.rotation]), hasGyroscope: false)
        #expect(run.names == ["didFailWithError"])
    }

    @Test func aGapNeverEndsARotation() {
        // Quiet is seen only when the gyroscope is back.
        var tablet = Self.rotations
        tablet.hasRate = { !(6.5..<10).contains($0) }
        let run = Run(tablet, settings: Self.linear([.rotation]))
        #expect(run.diary.rotations.map(\.timeNanoseconds).prefix(1) == [6020 * millisecond])
        #expect(run.diary.rotations.last.map { $0.isEnd && $0.timeNanoseconds == 11 * second } == true)
    }

    @Test(arguments: [1, 7, 64])
    func howSamplesAreCutIntoDeliveriesChangesNothing(capacity: Int) {
        var tablet = Self.rotations
        tablet.push = { $0 >= 6.5 && $0 < 9 ? (Int($0 * 10) % 2 == 0 ? 3 : -3) : 0 }
        tablet.hasRate = { !(13..<15).contains($0) }
        let settings = Self.linear(Set(MotionSettings.Feature.allCases))
        let whole = Run(tablet, settings: settings)
        let cut = Run(tablet, settings: settings, capacity: capacity)
        #expect(whole.diary.calls == cut.diary.calls && whole.diary.rotations == cut.diary.rotations)
        #expect(whole.diary.motions == cut.diary.motions)
        #expect(Set(whole.names).count >= 6, "\(whole.names)")
        // Both streams' calls come in one order.
        let times = whole.diary.calls.compactMap(\.timeNanoseconds)
        #expect(times == times.sorted())
    }

    @Test func whatIsNoNumberIsLeftOut() {
        var steps = Self.rotations.steps()
        for index in stride(from: 0, to: steps.count, by: 37) {
            let value: Float = index % 2 == 0 ? .nan : .infinity
            steps[index].sample = Sample(
                timeNanoseconds: steps[index].sample.timeNanoseconds, x: value, y: value, z: value)
        }
        let run = Run(steps.map { .sample($0.sample, stream: $0.stream) }, settings: Self.linear([.motion, .rotation]))
        #expect(run.diary.rotations.allSatisfy { $0.peakDegreesPerSecond.isFinite })
        #expect(run.diary.rotations.count >= 2)
    }

    // MARK: - The delegate

    @Test func aRefusedRotationTakesItsEndWithIt() {
        final class Refusing: MotionManagerDelegate {
            let decoratedMotionDelegate: (any MotionManagerDelegate)?

            init(_ decorated: any MotionManagerDelegate) { decoratedMotionDelegate = decorated }

            func motionManager(_ manager: MotionManager, shouldReport event: RotationEvent) -> Bool { false }
        }
        let streams = [SampleKind.gyroscope, .accelerometer].map {
            SampleStream(sensor: Sensor(name: "tablet"), kind: $0)
        }
        let diaries = [RecordingDelegate(), RecordingDelegate()]
        let chains: [any MotionManagerDelegate] = [Refusing(diaries[0]), MotionDecorator(MotionDecorator(diaries[1]))]
        for chain in chains {
            let manager = MotionManager(
                accelerometer: streams[1], gyroscope: streams[0], settings: Self.linear([.rotation]))
            manager.delegate = chain
            manager.startDetection()
            Pipeline(source: ScriptedSource(streams: streams, samples: Self.rotations.steps()), detectors: [manager])
                .run()
        }
        #expect(diaries[0].rotations.isEmpty)
        #expect(diaries[1].calls.map(\.name) == ["willStartDetection", "didBeginRotation", "didEndRotation"])
    }

    @Test func aDelegateMayStopTheDetection() {
        final class Stopping: MotionManagerDelegate {
            var count = 0
            func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) {
                count += 1
                manager.stopDetection()
            }
            func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) { count += 1 }
        }
        let streams = [SampleKind.gyroscope, .accelerometer].map {
            SampleStream(sensor: Sensor(name: "tablet"), kind: $0)
        }
        let stopping = Stopping()
        let manager = MotionManager(
            accelerometer: streams[1], gyroscope: streams[0], settings: Self.linear([.rotation]))
        manager.delegate = stopping
        manager.startDetection()
        Pipeline(source: ScriptedSource(streams: streams, samples: Self.rotations.steps()), detectors: [manager]).run()
        #expect(stopping.count == 1 && !manager.isRotating && !manager.isDetecting)
    }

    @Test func theRouterMakesEventsOfRotations() {
        let sensor = Sensor(name: "tablet")
        let streams = [SampleKind.gyroscope, .accelerometer].map { SampleStream(sensor: sensor, kind: $0) }
        let router = Router()
        let collector = EventCollector()
        router.add(HandlerChain(handler: collector))
        let manager = MotionManager(
            accelerometer: streams[1], gyroscope: streams[0], settings: Self.linear([.rotation]))
        manager.delegate = router
        manager.startDetection()
        Pipeline(
            source: ScriptedSource(streams: streams, samples: Self.rotations.steps()), detectors: [manager],
            router: router
        ).run()
        #expect(collector.events.map(\.kind) == [.rotationBegan, .rotationEnded])
        #expect(collector.events.allSatisfy { $0.sensor == "tablet" })
        #expect(collector.events.last?.number(.duration) == 2)
    }
}
