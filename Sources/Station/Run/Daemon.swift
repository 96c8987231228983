package import Binnacle
import Configuration
import EventSocket
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Store
import Traces

/// A running station: the pipeline that a configuration describes, turned by one thread until somebody ends it.
///
/// The daemon owns source, detectors, router and handlers. Its thread waits for samples, for the words of other threads,
/// and for signals; whatever may block, such as a handler or the reading of a configuration, has a thread of its own.
package final class Daemon {
    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { waker.descriptor }

    let options: RunOptions
    let log: MessageLog
    let manager = ServiceManager()
    let mailbox: Mailbox<DaemonMessage>
    let source: StationSource
    let router: Router
    let pipeline: Pipeline
    let finder: DeviceFinder
    /// Gathers events for the store, which stays the same as long as the daemon runs.
    let inlet: StoreInlet?
    /// Keeps the events.
    var store: EventStore? { inlet?.store }
    let relay = SocketRelay()
    let startNanoseconds = SystemClock.monotonic()
    var assembly = Assembly()
    var lines: [HandlerLine] = []
    /// Attaches handlers to the store, when there is one.
    let attachments: HandlerAttachments?
    /// What handlers have reported about themselves, by handler name.
    var tallies: [String: HandlerTally] = [:]
    /// When the configuration in force was applied.
    var configuredNanoseconds: Int64 = 0
    /// Why the configuration that was read last was rejected; `nil` when it is in force.
    var refusedConfiguration: String?
    /// Why there is no socket, although the configuration wants one.
    var socketFailure: String?
    /// The repeated kinds that subscribers want beside events.
    var repeatedKinds: Set<EventKind> = []
    /// Handlers that a reload removed, until they have finished their queues.
    var retired: [HandlerLine] = []
    /// Whether a thread is reading the configuration.
    var isReading = false
    /// Whether the configuration has to be read again after that.
    var wantsAnother = false
    private let waker: Waker
    private var messages: [DaemonMessage] = []
    /// The first configuration's objects, until they are in force.
    private var preparation: Preparation?
    /// Whether the service manager was told that the daemon is ready.
    private(set) var isReady = false
    private var readyByNanoseconds: Int64 = 0
    /// Why a recording could not be played to its end.
    private var damage: StationError?
    private var toldState: (active: Int, all: Int)?
    private var isStopping = false
    private let session: Session
    let interruption: Interruption

    /// The longest time until the daemon says that it is ready, whether or not all devices have answered.
    private static let longestStart: Int64 = 500_000_000
    /// How long events are held for the store's last sequence number, and how many of them: sequence numbers that the file
    /// has cannot be stored again.
    private static let opening = (nanoseconds: Int64(5_000_000_000), eventCount: EventStore.capacity)
    /// Times from the beginning of the end: until held events are numbered, until handlers that act on the world, the store
    /// and all handlers have ended, and until the daemon has.
    private static let drainTimes = (
        opening: Duration.milliseconds(250), actors: Duration.milliseconds(500), store: Duration.milliseconds(650),
        handlers: Duration.milliseconds(750), all: Duration.milliseconds(900)
    )

    /// Reads the configuration and sets everything up.
    ///
    /// - Parameters:
    ///   - options: What to do.
    ///   - interruption: Says when a signal has come.
    /// - Throws: ``StationError`` when the configuration cannot be used, or the system refuses what the daemon needs.
    package init(_ options: RunOptions, interruption: Interruption) throws(StationError) {
        var options = options
        self.interruption = interruption
        finder = DeviceFinder(under: options.root)
        let configuration = try Self.configuration(&options, finder)
        self.options = options
        do throws(SystemError) {
            waker = try Waker()
            log = try MessageLog()
        } catch {
            throw StationError(error)
        }
        mailbox = Mailbox(waker: waker)
        source = StationSource(waker: waker)
        router = Router()
        (inlet, attachments) = try Self.openStore(configuration.store, mailbox, relay)
        router.wallClock = { time in
            guard let time else { return SystemClock.realtime() }
            return SystemClock.realtime() - (SystemClock.monotonic() - time)
        }
        pipeline = Pipeline(source: source, detectors: [], router: router, capacity: 1024)
        var settings = Session.Settings()
        settings.interruption = interruption
        session = Session(pipeline, source: source, settings: settings)
        session.delegate = self
        preparation = try prepare(configuration)
    }

    /// Turns the pipeline until a signal ends it, or nothing is left to listen to.
    ///
    /// - Returns: Why it had to end; `nil` when it was asked to.
    package func run() -> StationError? {
        readyByNanoseconds = SystemClock.monotonic() + Self.longestStart
        if store != nil { router.holdEvents(atMost: Self.opening.eventCount) }
        if let preparation { apply(preparation) }
        preparation = nil
        session.run()
        stop()
        return session.failures.first
    }

    /// Numbers events from the store's last sequence number on, and opens the socket, which tells clients that number.
    private func beginNumbering(behind number: UInt64) {
        let isFirst = router.isHolding
        router.continue(behind: number)
        relay.server?.continue(behind: number)
        if isFirst, let settings = assembly.configuration.socket { openSocket(settings) }
    }

    private var numberingDeadline: Int64? {
        router.isHolding ? startNanoseconds + Self.opening.nanoseconds : nil
    }

    /// Numbers events from 1 when the store has not been opened in time; a file that is opened later raises the number.
    private func checkNumbering(_ now: Int64) {
        guard let deadline = numberingDeadline, now >= deadline else { return }
        log.say("the event store: its file is not open after 5 s; events are numbered from 1", level: .warning)
        beginNumbering(behind: 0)
    }

    private func take(_ answer: SampleAnswer) {
        switch answer {
        case .samples:
            startDetectors()
            tellState()
        case .failed(_, let reason):
            if reason is TraceError || reason is StationError { damage = StationError(sourceFailure: reason) }
            tellState()
        case .ended:
            if let damage { session.end(damage) }
        case .pending: break
        }
    }

    private func takeMessages() {
        guard mailbox.hasMessages else { return }
        mailbox.takeAll(into: &messages)
        for message in messages {
            switch message {
            case .report(let event):
                count(event)
                router.report(event)
            case .configuration(let result): if !isStopping { finishReload(result) }
            case .handlerEnded(let name): if !isStopping { attachments?.handlerDidEnd(name) }
            case .sequence(let number): beginNumbering(behind: number)
            case .status(let reply): reply(statusLine())
            case .repeatedKinds(let kinds):
                repeatedKinds = kinds
                replaceChains()
            case .socket(let settings, let result):
                if isStopping { try? result.get()?.finish() } else { take(result, for: settings) }
            case .word(let text, let level): log.say(text, level: level)
            }
        }
        messages.removeAll(keepingCapacity: true)
        router.flush(upTo: nil)
    }

    /// Starts the detectors whose sensors were absent until now.
    private func startDetectors() {
        guard assembly.detectors.contains(where: { !$0.isDetecting }) else { return }
        for detector in assembly.detectors
        where !detector.isDetecting && detector.streams.allSatisfy(\.sensor.isActive) {
            detector.startDetection()
        }
    }

    private func checkReadiness(_ now: Int64) {
        guard source.isSettled && !router.isHolding || now >= readyByNanoseconds else { return }
        isReady = true
        if options.embedded != nil, router.activeSensors.isEmpty {
            session.end(startupFailure)
            return
        }
        manager.sayReady()
        tellState()
    }

    /// Without a configuration nothing says that an absent sensor is worth waiting for.
    private var startupFailure: StationError { session.refusals.failure(session.refusals.all) }

    /// Says in the service's state how many sensors deliver.
    func tellState() {
        let state = (active: router.sensors.count { $0.isActive }, all: router.sensors.count)
        // Called after each delivery, so the text is only made when it has changed.
        guard toldState.map({ $0 != state }) ?? true else { return }
        toldState = state
        manager.say("\(state.active) of \(state.all) sensors active")
    }

    // MARK: - Ending

    /// Lets commands and then the other handlers come to their end, says what did not, and closes the devices.
    private func stop() {
        isStopping = true
        manager.sayStopping()
        let begin = SystemClock.monotonic()
        router.flush(upTo: nil)
        releaseEvents(until: begin + Units.nanoseconds(Self.drainTimes.opening))
        for line in lines { line.flush() }
        inlet?.flush()
        attachments?.detachAll()
        // Commands end first, because the other handlers take the events about them.
        let actors = (lines + retired).filter { type(of: $0.section.action).actsOnTheWorld }
        end(actors, within: Self.drainTimes.actors, from: begin)
        takeMessages()
        endStore(until: begin + Units.nanoseconds(Self.drainTimes.store))
        end(
            (lines + retired).filter { line in !actors.contains { $0 === line } }, within: Self.drainTimes.handlers,
            from: begin)
        let end = begin + Units.nanoseconds(Self.drainTimes.all)
        // The server gets its last events from the store, so it ends after it.
        relay.server?.finish()
        _ = relay.server?.waitForEnd(until: end)
        takeMessages()
        log.finish(until: end)
        // Last, because a driver may not answer.
        source.live?.stop(atMostMilliseconds: Int(max(50, (end - SystemClock.monotonic()) / 1_000_000)))
    }

    /// Numbers the events that were held when the session ended.
    private func releaseEvents(until deadline: Int64) {
        guard router.isHolding, let store else { return }
        while !store.isOpened, case let left = SystemClock.milliseconds(until: deadline), left > 0 {
            waker.wait(timeoutMilliseconds: left)
        }
        router.continue(behind: store.statistics.lastSequence)
        router.flush(upTo: nil)
    }

    /// Has the store take what it was given and what was acknowledged.
    private func endStore(until deadline: Int64) {
        guard let store else { return }
        inlet?.flush()
        store.finish()
        guard !store.waitForEnd(until: deadline) else { return }
        log.say(
            "the event store: up to \(store.statistics.queueCount) events were not stored before the end",
            level: .warning)
    }

    private func end(_ ending: [HandlerLine], within duration: Duration, from begin: Int64) {
        for line in ending { line.handler.end(within: duration) }
        for line in ending {
            let count = line.handler.waitForEnd(until: begin + Units.nanoseconds(duration))
            guard count > 0 else { continue }
            let isKept = store != nil && line.handler.deliveryLimit != nil
            log.say(
                "handler '\(line.section.name)': up to \(count) events were not handled before the end"
                    + (isKept ? "; the store keeps them" : ""), level: isKept ? .info : .warning)
        }
    }
}

extension Daemon: SessionDelegate {
    package func session(_ session: Session, didTurn answer: SampleAnswer) {
        let now = SystemClock.monotonic()
        manager.giveLifeSign(now)
        take(answer)
        takeMessages()
        if interruption.takeReload() { reload() }
        inlet?.flush()
        checkNumbering(now)
        if !isReady { checkReadiness(now) }
    }

    /// Writes a notice, unless the daemon is about to end with a message of its own.
    package func session(_ session: Session, didNotice notice: String) {
        if session.failures.isEmpty, !interruption.isRequested { log.say(notice) }
    }

    /// The next life sign, or the time by which the daemon says that it is ready.
    package func sessionNextDeadline(_ session: Session) -> Int64? {
        let lifeSign = manager.lifeSignMilliseconds.map { SystemClock.monotonic() + Int64($0) * 1_000_000 }
        return [lifeSign, isReady ? nil : readyByNanoseconds, numberingDeadline].compactMap { $0 }.min()
    }
}

/// What a person asks of the daemon.
package struct RunOptions: Sendable {
    /// The file, or the folder with its drop-ins, that says what to do.
    package var configurationPath: String?
    /// What is done without a configuration.
    package var embedded: EmbeddedConfiguration?
    /// Whether events are written to standard output as well.
    package var writesJSON = false
    /// The folder under which `/sys` and `/dev` lie; the machine's own without one.
    package var root: String?

    package init() {}
}
