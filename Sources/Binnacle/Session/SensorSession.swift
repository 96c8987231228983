import PosixCalls
import Synchronization

/// Runs detectors over the samples of a source, on a thread of its own, until the source ends or the session is stopped.
///
/// ```swift
/// let session = SensorSession {
///     try LiveSource()
/// } configure: { setup in
///     try setup.detectMotion()
///     try setup.detect(.orientation())
/// }
/// for try await event in session.events { print(event.json) }
/// ```
///
/// Sources, detectors and delegates belong to one thread, and so are not `Sendable`. Therefore a session is given no
/// objects but two closures that make them. Both are called on the session's thread, as are all delegates and handlers,
/// and everything that they made is released there when the session ends.
///
/// A source with a ``SampleSource/wakeUp``, as that of devices, and a simulated one do not wait for the tasks that read events and samples:
/// what they leave is dropped beyond a capacity, and reported. Another source, such as a recording, waits as long as an iterator exists, so
/// that nothing of it is lost. Several sequences of such a session are therefore read by a task each, and no iterator is kept that is not
/// read, also not during ``run()``.
///
/// A session runs once. It starts with the first iteration over ``events`` or with ``run()``, and ends with its source,
/// with ``stop()``, with the cancellation of a task that awaits it, or with the last reference to it.
public final class SensorSession: Sendable {
    private let runner: SessionRunner

    /// Describes a session; nothing is called before it starts.
    ///
    /// - Parameters:
    ///   - eventCapacity: The most events that wait in ``events``, at least 1. Beyond it a recording waits for the iterator.
    ///     Of devices, and without an iterator, the oldest is dropped, and an event of the kind ``EventKind/eventsDropped`` in its
    ///     place says how many were.
    ///   - makeSource: Makes the source, on the session's thread.
    ///   - configure: Adds what looks at the samples and what takes events, on the session's thread.
    public init(
        eventCapacity: Int = 1024, source makeSource: @escaping @Sendable () throws -> any SampleSource,
        configure: @escaping @Sendable (Setup) throws -> Void
    ) {
        runner = SessionRunner(eventCapacity: eventCapacity, makeSource: makeSource, configure: configure)
    }

    deinit {
        runner.stop()
    }

    /// What the session finds: the events of detectors without a delegate of their own, and those of the sensors.
    ///
    /// For one task. Kinds that repeat an ongoing state are left out (``EventKind/repeated``). The sequence begins with
    /// the first event after this property was read, and ends, behind the events that wait, when the session does; a
    /// failure of the session is thrown. Cancelling the task that iterates stops the session.
    public var events: some AsyncSequence<Event, SensorSessionError> & Sendable {
        runner.keepEvents()
        return SessionSequence(session: self, handover: runner.handover, reader: nil)
    }

    /// A sequence of what a part of the session gives, from the session's next delivery on; the oldest element is dropped without room.
    ///
    /// - Parameters:
    ///   - capacity: The most elements that wait, at least 1.
    ///   - mark: What the reader gets in place of those that were dropped, as in ``Handover/Overflow/dropOldest(mark:)``.
    ///   - attach: Called on the session's thread, with what takes an element, and returns `false` when its reader has gone; its
    ///     error ends the sequence.
    /// - Returns: The sequence, for one task.
    package func sequence<Element: Sendable>(
        capacity: Int, mark: @escaping @Sendable (_ count: Int, _ last: Element) -> Element,
        attach: @escaping @Sendable (Setup, _ take: @escaping (Element) -> Bool) throws -> Void
    ) -> SessionSequence<Element> {
        let reader = PartReader(capacity: capacity, mark: mark, attach: attach)
        runner.add(reader)
        return SessionSequence(session: self, handover: reader.handover, reader: reader)
    }

    /// The samples of one stream of the source, from now on; any number of readers may have them, at any time.
    ///
    /// - Parameters:
    ///   - kind: What they measure.
    ///   - sensor: The name of the sensor; `nil` takes the first that has such a stream.
    ///   - isRaw: Whether the calibration of the sensor is left out.
    ///   - capacity: The most deliveries that wait for the task that iterates, at least 1.
    /// - Returns: The samples; a sensor that the source does not have is an error of the sequence. There are none after the end of
    ///   the session, of any sensor.
    public func samples(
        of kind: SampleKind, from sensor: String? = nil, isRaw: Bool = false, capacity: Int = 64
    ) -> SessionSamples {
        let reader = SampleReader(kind: kind, sensor: sensor, isRaw: isRaw, capacity: capacity)
        runner.add(reader)
        return SessionSamples(session: self, reader: reader)
    }

    /// Starts the session, once.
    func start() { runner.start() }

    /// Runs the session and returns when it has ended; a second call waits for the same end.
    ///
    /// Cancelling the task stops the session.
    ///
    /// - Throws: ``SensorSessionError`` when the session could not begin, or lost a part of its source.
    public func run() async throws(SensorSessionError) {
        runner.start()
        let runner = runner
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { runner.awaitEnd($0) }
        } onCancel: {
            runner.stop()
        }
        try result.get()
    }

    /// Ends the session, from any thread and without waiting: what was found so far is still told.
    ///
    /// A session that has not started yet will end at once.
    public func stop() {
        runner.stop()
    }

    func next<Element: Sendable>(
        of handover: Handover<Element, SensorSessionError>, endsSession: Bool
    ) async throws(SensorSessionError) -> Element? {
        runner.start()
        let runner = runner
        return try await handover.next(onCancel: { if endsSession { runner.stop() } }).get()
    }
}

/// Why a session ended before its source did, or what was lost of the source.
public enum SensorSessionError: Error, CustomStringConvertible {
    /// One of the closures that describe the session threw this error.
    case setup(any Error)
    /// Streams of the source failed, and the source has ended; the error is that of the first failure.
    case source(any Error)
    /// The system refused what the session needs itself; the text says what.
    case system(String)

    /// What is wrong, as the error inside says it.
    public var description: String {
        switch self {
        case .setup(let error), .source(let error): "\(error)"
        case .system(let text): text
        }
    }
}

/// What the thread and the owners of a session share.
private final class SessionRunner: Sendable {
    typealias Outcome = Result<Void, SensorSessionError>

    private enum Phase {
        case ready
        case running
        case ended(Outcome)
    }

    private struct State {
        var phase = Phase.ready
        /// What the session is made of, until its thread takes it.
        var plan: Plan?
        var awaiting: [CheckedContinuation<Outcome, Never>] = []
        var readers: [KeptReader] = []
    }

    private struct Plan {
        let makeSource: @Sendable () throws -> any SampleSource
        let configure: @Sendable (SensorSession.Setup) throws -> Void
    }

    /// What reads a part of the session, which the program owns.
    private struct KeptReader {
        weak var reader: (any SessionReader)?
    }

    let handover: Handover<Event, SensorSessionError>
    private let state: Mutex<State>
    /// Wakes the source, while the session holds it; called with the lock, so that the source outlives each call.
    private let wakeUp = Mutex<(@Sendable () -> Void)?>(nil)
    private let isStopped = Atomic(false)
    private let keepsEvents = Atomic(false)
    /// Whether a reader has come or gone.
    private let areReadersChanged = Atomic(false)

    init(
        eventCapacity: Int, makeSource: @escaping @Sendable () throws -> any SampleSource,
        configure: @escaping @Sendable (SensorSession.Setup) throws -> Void
    ) {
        handover = Handover(
            capacity: eventCapacity,
            overflow: .dropOldest { count, last in
                var event = EventDrops.event(
                    count: count, reason: "more than \(eventCapacity) events wait", isSimulated: last.isSimulated)
                event.sequence = last.sequence
                event.timeNanoseconds = last.timeNanoseconds
                return event
            })
        state = Mutex(State(plan: Plan(makeSource: makeSource, configure: configure)))
    }

    // MARK: - Any thread

    func keepEvents() {
        keepsEvents.store(true, ordering: .relaxed)
    }

    func start() {
        let isFirst = state.withLock { state in
            guard case .ready = state.phase else { return false }
            state.phase = .running
            return true
        }
        guard isFirst else { return }
        do throws(SystemError) {
            try WorkerThread.start(stackBytes: nil) { self.end(self.work()) }
        } catch {
            end(.failure(.system(error.description)))
        }
    }

    /// Adds a reader, which its owner keeps.
    func add(_ reader: any SessionReader) {
        let outcome = state.withLock { state -> Outcome? in
            if case .ended(let outcome) = state.phase { return outcome }
            state.readers.append(KeptReader(reader: reader))
            return nil
        }
        if let outcome { return reader.finish(outcome.failure) }
        areReadersChanged.store(true, ordering: .releasing)
        wake()
    }

    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        wake()
    }

    private func wake() {
        wakeUp.withLock { wakeUp in
            if let wakeUp { wakeUp() }
        }
    }

    func awaitEnd(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            if case .ended(let outcome) = state.phase { return outcome }
            state.awaiting.append(continuation)
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    // MARK: - The session's thread

    private var goesOn: Bool { !isStopped.load(ordering: .sequentiallyConsistent) }

    private func work() -> Outcome {
        // The closures, and what they hold, are released with what they have made.
        guard let plan = state.withLock({ $0.plan.take() }), goesOn else { return .success(()) }
        let setup: SensorSession.Setup
        do {
            setup = SensorSession.Setup(source: try plan.makeSource())
            if let repeated = RepeatedStream(setup.source.streams) { throw repeated }
            try plan.configure(setup)
        } catch {
            return .failure(.setup(error))
        }
        let wakeUp = setup.source.wakeUp
        self.wakeUp.withLock { $0 = wakeUp }
        let isRealTime = setup.source.isRealTime
        setup.mayWait = { !isRealTime && self.goesOn }
        setup.router.add(ClosureHandler { [mayWait = setup.mayWait] in self.keep($0, mayWait) })
        let pipeline = Pipeline(source: setup.source, detectors: setup.detectors, router: setup.router)
        setup.tellNotices()
        for detector in setup.detectors { detector.startDetection() }
        var failure: (any Error)?
        // Detectors hold their delegates weakly; the setup owns them.
        withExtendedLifetime(setup) {
            let goesOn = {
                self.attachReaders(to: pipeline, setup)
                return self.goesOn
            }
            pipeline.run(while: goesOn) { answer in
                if case .failed(_, let reason) = answer { failure = failure ?? reason }
                setup.tellNotices()
            }
            setup.tellNotices()
            // A source may end before a reader that came meanwhile was attached, which may ask for what is not there.
            attachReaders(to: pipeline, setup)
            for detector in setup.detectors { detector.stopDetection() }
            // The closure is released behind the lock: it may hold the session, which wakes the source when it is released.
            _ = self.wakeUp.withLock { $0.take() }
        }
        // A stopped session reports no failure of its source.
        guard goesOn, let failure else { return .success(()) }
        return .failure(.source(failure))
    }

    /// Gives the readers that there are now what they want; without readers nothing stands in the pipeline.
    private func attachReaders(to pipeline: Pipeline, _ setup: SensorSession.Setup) {
        guard areReadersChanged.exchange(false, ordering: .acquiring) else { return }
        let readers = state.withLock { state in
            state.readers.removeAll { $0.reader == nil }
            return state.readers.compactMap(\.reader)
        }
        var taps = SessionTaps()
        for reader in readers {
            do {
                try reader.attach(to: setup, &taps) { self.areReadersChanged.store(true, ordering: .relaxed) }
            } catch {
                reader.finish(.setup(error))
            }
        }
        pipeline.beforeCorrection = taps.raw
        pipeline.change(detectors: setup.detectors + taps.corrected)
    }

    private func keep(_ event: Event, _ mayWait: () -> Bool) {
        // Without a reader there is nothing to drop.
        if keepsEvents.load(ordering: .relaxed) { _ = handover.offer(event, while: mayWait) }
    }

    private func end(_ outcome: Outcome) {
        let (awaiting, readers) = state.withLock { state in
            defer { (state.awaiting, state.readers) = ([], []) }
            state.phase = .ended(outcome)
            return (state.awaiting, state.readers.compactMap(\.reader))
        }
        handover.finish(outcome.failure)
        for reader in readers { reader.finish(outcome.failure) }
        for continuation in awaiting { continuation.resume(returning: outcome) }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
