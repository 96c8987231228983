import Binnacle
import BinnacleHeading
import BinnacleTesting
import Synchronization
import Testing

/// One accelerometer that is pushed from the third to the fifth second.
@Sendable private func pushed() -> ScriptedSource {
    let stream = SampleStream(sensor: Sensor(name: "chassis"), kind: .accelerometer)
    return ScriptedSource(
        streams: [stream], samples: recording(seconds: 10) { $0 >= 3 && $0 < 5 ? 0.5 : 0 }.map { (0, $0) })
}

/// A source that has nothing, and waits for being woken.
private final class SilentSource: SampleSource {
    let streams = [SampleStream(sensor: Sensor(name: "silent"), kind: .accelerometer)]
    private let woken: WakeCounter

    init(_ woken: WakeCounter) { self.woken = woken }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer { .pending }
    func wait() { woken.wait() }
    var wakeUp: (@Sendable () -> Void)? { { [woken] in woken.wake() } }
}

private final class WakeCounter: Sendable {
    let waits = Atomic(0)
    private let wakes = Atomic(0)

    func wait() {
        waits.add(1, ordering: .relaxed)
        while wakes.load(ordering: .acquiring) == 0 { Pipeline.pause() }
    }
    func wake() { wakes.add(1, ordering: .releasing) }
}

/// A source that is waited for until the session is stopped, and reports its release.
private final class ClosingSource: SampleSource {
    let streams = [SampleStream(sensor: Sensor(name: "closing"), kind: .accelerometer)]
    private let closing: Closing

    init(_ closing: Closing) { self.closing = closing }
    deinit { closing.isReleased.store(true, ordering: .sequentiallyConsistent) }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        closing.isAsked.store(true, ordering: .sequentiallyConsistent)
        return .pending
    }
    var wakeUp: (@Sendable () -> Void)? { { [closing] in closing.wake() } }
}

private final class Closing: Sendable {
    let isAsked = Atomic(false)
    let isReleased = Atomic(false)
    let isLate = Atomic(false)

    /// Stays until the source is released, or for so long that a session which does not wait for it has released the source.
    func wake() {
        for _ in 0..<100 where !isReleased.load(ordering: .sequentiallyConsistent) { Pipeline.pause() }
        if isReleased.load(ordering: .sequentiallyConsistent) { isLate.store(true, ordering: .sequentiallyConsistent) }
    }
}

/// A source of a library's user, with the stamps of each delivery.
private final class StampSource: SampleSource {
    let streams = [SampleStream(sensor: Sensor(name: "own"), kind: .accelerometer)]
    private var deliveries: [[Int64]]

    init(_ deliveries: [[Int64]]) { self.deliveries = deliveries }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        guard !deliveries.isEmpty, let batch = delivery[streams[0].id] else { return .ended }
        for time in deliveries.removeFirst() { batch.append(timeNanoseconds: time, x: 0, y: 0, z: 9.8) }
        return .samples
    }
}

/// A source of a library's user that names its stream twice.
private final class TwiceSource: SampleSource {
    let streams: [SampleStream]

    init() {
        let sensor = Sensor(name: "own")
        streams = (0..<2).map { _ in SampleStream(sensor: sensor, kind: .accelerometer) }
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer { .ended }
}

@Suite struct SensorSessionTests {
    @Test(arguments: [[[3, 2, 1]], [[1, 2], [5, 3, 7], [8, 9]], [[.max, .min]]] as [[[Int64]]])
    func fallingStampsAreAnError(_ deliveries: [[Int64]]) async {
        let session = SensorSession {
            StampSource(deliveries)
        } configure: {
            try $0.detectMotion()
        }
        await #expect {
            try await session.run()
        } throws: {
            guard case .source(let reason as StampOrderError)? = $0 as? SensorSessionError else { return false }
            return "\(reason)".contains("sort its samples")
        }
    }

    /// From one delivery to the next the order of arrival may step back.
    @Test(arguments: [[[5, 6], [1, 2]], [[.min], [.max], [.min]], [[-5], [.max - 1]]] as [[[Int64]]])
    func deliveriesMayStepBack(_ deliveries: [[Int64]]) async throws {
        let seen = Mutex<[[Int64]]>([])
        let session = SensorSession {
            StampSource(deliveries)
        } configure: {
            try $0.detectMotion()
            $0.add(StampRecorder { stamps in seen.withLock { $0.append(stamps) } })
        }
        try await session.run()
        #expect(seen.withLock { $0 } == deliveries)
    }

    /// A model that owns a session which reports to it.
    private final class Owner: Sendable {
        let session = Mutex<SensorSession?>(nil)
    }

    /// Else who owns its session, as a model does, would never be released.
    @Test func theClosuresAreReleasedWithTheEnd() async throws {
        weak var released: Owner?
        do {
            let owner = Owner()
            released = owner
            let session = SensorSession {
                pushed()
            } configure: { setup in
                try setup.detectMotion()
                setup.onEvent { _ in _ = owner }
            }
            owner.session.withLock { $0 = session }
            try await session.run()
        }
        #expect(released == nil)
    }

    @Test func aStreamThatIsThereTwiceIsAnError() async {
        let session = SensorSession {
            TwiceSource()
        } configure: {
            try $0.detectMotion()
        }
        await #expect {
            try await session.run()
        } throws: {
            guard case .setup(let reason)? = $0 as? SensorSessionError else { return false }
            return "\(reason)" == "the source has the accelerometer of sensor 'own' twice"
        }
    }

    @Test func eventsEndWithTheSource() async throws {
        let session = SensorSession {
            pushed()
        } configure: {
            try $0.detectMotion()
        }
        var kinds: [EventKind] = []
        for try await event in session.events { kinds.append(event.kind) }
        #expect(kinds == [.motionBegan, .motionEnded])
    }

    /// As many as there are, however slow the task is, and the same each time.
    @Test func noEventOfARecordingIsLost() async throws {
        let session = SensorSession(eventCapacity: 1) {
            ScriptedSource(duration: .seconds(400)) { seconds in
                [Int(seconds) % 4 == 1 ? 5 * (Float(Int(seconds * 100) % 2) - 0.5) : 0, 0, 9.81]
            }
        } configure: {
            try $0.detectMotion()
        }
        var kinds: [EventKind] = []
        for try await event in session.events {
            kinds.append(event.kind)
            await Task.yield()
        }
        #expect(kinds.count { $0 == .motionBegan } == 100 && !kinds.contains(.eventsDropped))
    }

    @Test func aDelegateIsToldOnTheSessionsThreadAndKept() async throws {
        let delegate = RecordingDelegate()
        let session = SensorSession {
            pushed()
        } configure: {
            try $0.detectMotion(delegate: delegate)
        }
        try await session.run()
        let told = delegate.calls.filter { $0.name != "deviceIsMoving" }
        #expect(told.map(\.name) == ["willStartDetection", "didBeginMotion", "didEndMotion", "didStopDetection"])
        #expect(told.map(\.timeNanoseconds) == [nil, 3020 * millisecond, delegate.motions.last?.timeNanoseconds, nil])
    }

    /// How a session ends, for ``everyDelegateIsToldTheStartAndTheEndOnce(_:)``.
    enum End: CaseIterable {
        case source, failure, stop, delegate
    }

    @Test(arguments: End.allCases) func everyDelegateIsToldTheStartAndTheEndOnce(_ end: End) async {
        let delegates = (0..<2).map { _ in RecordingDelegate() }
        let box = Mutex<SensorSession?>(nil)
        let session = SensorSession {
            let sensors = [Sensor(name: "lid"), Sensor(name: "base")]
            let streams = [
                SampleStream(sensor: sensors[0], kind: .magnetometer),
                SampleStream(sensor: sensors[0], kind: .accelerometer),
                SampleStream(sensor: sensors[1], kind: .accelerometer),
            ]
            let source = ScriptedSource(
                streams: streams,
                samples: recording(seconds: 3) { _ in 0 }.flatMap { sample in [1, 2].map { ($0, sample) } })
            if end == .failure { source.fail(streams, atRequest: 1) }
            return source
        } configure: { setup in
            let detectors: [any Detector] = [
                try setup.detectMotion(delegate: delegates[0]), try setup.detectNorth(delegate: delegates[1]),
                try setup.detect(.orientation()),
                try setup.detectHinge(screen: "lid", base: "base"),
            ]
            setup.add(
                StampRecorder { _ in
                    if end == .stop { box.withLock { $0 }?.stop() }
                    if end == .delegate { for detector in detectors { detector.stopDetection() } }
                })
        }
        box.withLock { $0 = session }
        let error = await #expect(throws: (any Error).self) {
            try await session.run()
            if end != .failure { throw TestError() }
        }
        #expect(error is SensorSessionError == (end == .failure))
        box.withLock { $0 = nil }
        for delegate in delegates {
            let names = delegate.calls.map(\.name).filter { $0.hasSuffix("Detection") }
            #expect(names == ["willStartDetection", "didStopDetection"])
            #expect(delegate.calls.last?.name == "didStopDetection")
        }
    }

    @Test func aDetectorWithoutItsDeviceIsNotStopped() async throws {
        let delegate = RecordingDelegate()
        let session = SensorSession {
            pushed()
        } configure: {
            try $0.detectNorth(delegate: delegate)
        }
        try await session.run()
        #expect(delegate.calls.map(\.name) == ["deviceNotAvailable"])
    }

    @Test func aDetectorOfOneAccelerometerHasItsNameAndItsSettingsAreChecked() async throws {
        let session = SensorSession {
            ScriptedSource(
                streams: ["chassis", "base"].map { SampleStream(sensor: Sensor(name: $0), kind: .accelerometer) },
                steps: [])
        } configure: { setup in
            let hinge = try setup.detectHinge(screen: "chassis", base: "base")
            for (settings, name) in [
                (.tap(), "tap"), (.steps(), "steps"), (.stationary(), "stationary"), (.vibration(), "vibration"),
                (.orientation(), "orientation"),
            ] as [(DetectorSettings, String)] {
                #expect(try setup.detect(settings).name == name)
                let named = try setup.detect(settings, name: "my \(name)", sensor: "chassis")
                #expect(named.name == "my \(name)" && named.streams.map(\.sensor.name) == ["chassis"])
                if let screen = named as? OrientationDetector { #expect(screen.hinge === hinge) }
            }
            var wrong = TapSettings()
            wrong.mostTaps = 0
            try setup.detect(.tap(wrong))
        }
        let error = await #expect(throws: SensorSessionError.self) { try await session.run() }
        #expect(error?.description.hasPrefix("mostTaps") == true)
    }

    @Test(arguments: [nil, "motion"] as [String?]) func twoDetectorsOfOneNameAreAnError(_ name: String?) async {
        let session = SensorSession(source: pushed) { setup in
            try setup.detectMotion()
            try setup.detectMotion(name: "second")
            try setup.detect(.tap(), name: name)
            try setup.detect(.tap())
        }
        let error = await #expect(throws: SensorSessionError.self) { try await session.run() }
        #expect(error?.description.hasPrefix("two detectors are named '\(name ?? "tap")'") == true)
    }

    @Test func aDecoratorThatCannotWorkIsAnError() throws {
        let (time, count) = ("the time has to be longer than 0 s", "the number has to be from 1 to 1000000")
        let wrong: [(DecoratorSettings, String)] = [
            (.rateLimit(perMinute: 0), count), (.rateLimit(perMinute: 1_000_001), count), (.count(every: 0), count),
            (.quorum(count: 0, window: .seconds(1)), count), (.quorum(count: 1, window: .zero), time),
            (.debounce(.seconds(-1)), time), (.pace(.zero), time), (.coalesce(.seconds(-1)), time),
            (.minimumDuration(.zero), time),
            (.quietHours(startMinute: -5, endMinute: 99999), "minutes of a day are from 0 to 1439"),
            (
                .quietHours(startMinute: 60, endMinute: 60),
                "start and end are the same; leave the decorator out for no quiet hours"
            ),
        ]
        try play(pushed()) { setup in
            for (settings, message) in wrong {
                let error = #expect(throws: (any Error).self) { try setup.decorator(settings) }
                #expect(error.map { "\($0)" } == "\(settings): \(message)")
            }
            _ = try setup.decorator(.quietHours(startMinute: 1320, endMinute: 0))
        }
    }

    @Test func aSensorThatTheSourceDoesNotHaveIsAnError() async {
        let wrong: [(@Sendable (SensorSession.Setup) throws -> Void, String)] = [
            ({ try $0.detectMotion(sensor: "lid") }, "there is no accelerometer 'lid': the source has 'chassis'"),
            (
                { try $0.detect(.orientation(), sensor: "lid") },
                "there is no accelerometer 'lid': the source has 'chassis'"
            ),
            (
                { try $0.detectHinge(screen: "chassis", base: "lid") },
                "there is no accelerometer 'lid': the source has 'chassis'"
            ),
            (
                { try $0.detectNorth(magnetometer: "chassis") },
                "there is no magnetometer 'chassis': the source has none"
            ),
            ({ try $0.detectNorth(gyroscope: "chassis") }, "there is no gyroscope 'chassis': the source has none"),
            (
                { try $0.detectHinge(screen: "chassis", base: "chassis") },
                "base names the same sensor as screen ('chassis'): each part of a hinge has an accelerometer of its own"
            ),
        ]
        for (configure, message) in wrong {
            let session = SensorSession(source: pushed, configure: configure)
            let error = await #expect(throws: SensorSessionError.self) { try await session.run() }
            #expect(error?.description == message)
        }
    }

    @Test func whatAClosureMadeIsKeptUntilTheEndAndReleasedOnTheThread() async throws {
        let calls = Mutex<[String]>([])
        let session = SensorSession {
            pushed()
        } configure: { setup in
            let porter = Porter { calls.withLock { $0.append("released") } }
            try setup.detectMotion(delegate: porter)
            setup.onEvent { _ in calls.withLock { $0.append("event") } }
        }
        try await session.run()
        #expect(calls.withLock { $0 } == ["released"])
    }

    @Test func closuresAndDecoratorsTakeEvents() async throws {
        let kinds = Mutex<[EventKind]>([])
        let session = SensorSession {
            pushed()
        } configure: { setup in
            try setup.detectMotion()
            try setup.onEvent(of: [.motionBegan], decorators: [setup.decorator(.debounce(.seconds(1)))]) { event in
                kinds.withLock { $0.append(event.kind) }
            }
        }
        try await session.run()
        #expect(kinds.withLock { $0 } == [.motionBegan])
    }

    @Test func whatAClosureThrowsIsThrown() async {
        let session = SensorSession {
            throw TestError()
        } configure: { _ in
        }
        let error = await #expect(throws: SensorSessionError.self) { try await session.run() }
        #expect(error?.description == "the cable is out")
        let wrong = SensorSession {
            pushed()
        } configure: { setup in
            var settings = MotionSettings()
            settings.thresholdG = -1
            try setup.detectMotion(settings: settings)
        }
        await #expect(throws: SensorSessionError.self) { for try await _ in wrong.events {} }
    }

    @Test func aFailureIsThrownBehindTheEvents() async {
        let session = SensorSession {
            let source = pushed()
            source.fail(source.streams, atRequest: 2)
            return source
        } configure: {
            try $0.detectMotion()
        }
        var kinds: [EventKind] = []
        let error = await #expect(throws: SensorSessionError.self) {
            for try await event in session.events { kinds.append(event.kind) }
        }
        #expect(error?.description == "the cable is out")
        #expect(kinds.prefix(2) == [.motionBegan, .motionEnded])
        #expect(kinds.contains(.sensorsNoneLeft))
    }

    @Test func stopEndsASessionThatWaits() async throws {
        let woken = WakeCounter()
        let session = SensorSession {
            SilentSource(woken)
        } configure: {
            try $0.detectMotion()
        }
        async let end: Void = session.run()
        while woken.waits.load(ordering: .relaxed) == 0 { await Task.yield() }
        session.stop()
        try await end
        for try await event in session.events { Issue.record("\(event)") }
    }

    @Test func aSourceOutlivesTheCallsOfItsWakeUp() async throws {
        let closing = Closing()
        let session = SensorSession {
            ClosingSource(closing)
        } configure: { _ in
        }
        async let end: Void = session.run()
        while !closing.isAsked.load(ordering: .sequentiallyConsistent) { await Task.yield() }
        session.stop()
        try await end
        session.stop()
        let isReleased = closing.isReleased.load(ordering: .sequentiallyConsistent)
        let isLate = closing.isLate.load(ordering: .sequentiallyConsistent)
        #expect(isReleased && !isLate)
    }

    @Test func cancellationEndsTheSequenceAndTheSession() async throws {
        let woken = WakeCounter()
        let session = SensorSession {
            SilentSource(woken)
        } configure: {
            try $0.detectMotion()
        }
        let task = Task { for try await _ in session.events {} }
        while woken.waits.load(ordering: .relaxed) == 0 { await Task.yield() }
        task.cancel()
        try await task.value
        try await session.run()
    }

    @Test func aSessionThatNobodyHoldsEnds() async throws {
        let woken = WakeCounter()
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        do {
            let session = SensorSession {
                SilentSource(woken)
            } configure: { setup in
                setup.add(Ending { continuation.finish() })
            }
            let task = Task { for try await _ in session.events {} }
            while woken.waits.load(ordering: .relaxed) == 0 { await Task.yield() }
            task.cancel()
            try await task.value
        }
        for await _ in ended {}
    }

    @Test func stoppedBeforeItsStartItEndsAtOnce() async throws {
        let madeCount = Atomic(0)
        let session = SensorSession {
            madeCount.add(1, ordering: .relaxed)
            throw TestError()
        } configure: { _ in
            madeCount.add(1, ordering: .relaxed)
        }
        session.stop()
        try await session.run()
        for try await event in session.events { Issue.record("\(event)") }
        #expect(madeCount.load(ordering: .relaxed) == 0, "no source is made, and nothing configured")
    }
}

/// A delegate that only the session retains.
private final class Porter: MotionManagerDelegate {
    private let onRelease: () -> Void
    init(onRelease: @escaping () -> Void) { self.onRelease = onRelease }
    deinit { onRelease() }
}

/// Reports the stamps of each delivery that the session has its detectors process.
private final class StampRecorder: SampleDetector {
    let name = "recorder"
    let streams: [SampleStream] = []
    let isDetecting = true
    private let report: ([Int64]) -> Void

    init(report: @escaping ([Int64]) -> Void) { self.report = report }

    func startDetection() {}
    func stopDetection() {}
    func process(_ delivery: SampleDelivery) {
        report(delivery.batches.flatMap { batch in (0..<batch.count).map { batch[$0].timeNanoseconds } })
    }
    func didLose(_ streams: [SampleStream], because error: any Error) {}
}

/// Does something when it is released, which the session does on its thread.
private final class Ending: SampleDetector {
    let name = "ending"
    let streams: [SampleStream] = []
    let isDetecting = true
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
    deinit { body() }

    func startDetection() {}
    func stopDetection() {}
    func process(_ delivery: SampleDelivery) {}
    func didLose(_ streams: [SampleStream], because error: any Error) {}
}

@Suite struct HandoverTests {
    private func handover(_ capacity: Int) -> Handover<Int, TestError> {
        Handover(capacity: capacity, overflow: .dropOldest { count, last in -(count * 100 + last) })
    }

    @Test func theOldestIsDroppedAndAMarkStandsInItsPlace() async throws {
        let handover = handover(3)
        for number in 0..<10 { #expect(handover.offer(number) == .taken) }
        handover.finish()
        var numbers: [Int] = []
        while let number = try await handover.next().get() { numbers.append(number) }
        // Seven were dropped, the last of them was 6.
        #expect(numbers == [-706, 7, 8, 9])
    }

    @Test func refusedIsWhatDoesNotFit() async throws {
        let handover = Handover<Int, TestError>(capacity: 2, overflow: .refuse)
        #expect([1, 2, 3].map { handover.offer($0) } == [.taken, .taken, .full])
        #expect(try await handover.next().get() == 1)
        #expect(handover.offer(4) == .taken)
        handover.close()
        #expect(handover.offer(5) == .closed)
        #expect(try await handover.next().get() == nil)
    }

    @Test func aFailureIsThrownOnceBehindWhatWaits() async throws {
        let handover = handover(3)
        _ = handover.offer(1)
        handover.finish(TestError())
        #expect(try await handover.next().get() == 1)
        await #expect(throws: TestError.self) { try await handover.next().get() }
        #expect(try await handover.next().get() == nil)
    }
}
