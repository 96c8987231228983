package import Binnacle
package import Configuration
import DesktopBus
import EventSocket
import Glibc
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Store
import TableReading
import Traces

/// The daemon: runs the pipeline of a configuration on one thread until a signal ends it.
///
/// It owns source, detectors, router and handlers. Its thread waits for samples, for messages of other threads, and for
/// signals; what may block, such as a handler or the reading of a configuration, has a thread of its own.
package final class Daemon {
    /// The eventfd to which a signal handler writes to end a wait.
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
    /// Logs failures that no log handler takes.
    let trouble: TroubleLog
    let startNanoseconds = SystemClock.monotonic()
    var assembly = Assembly()
    /// Reads what has no samples; `nil` when nothing needs it.
    var watcher: AmbientWatcher?
    /// The number of the watchers that were started: what an earlier one has still sent is left out.
    var watcherNumber = 0
    /// What is read by the watcher, and for which detectors.
    var watchedReadings: Set<AmbientReading.Kind> = []
    var watchedTakers: [ObjectIdentifier] = []
    /// What was told of the scales of accelerometers.
    private var toldScales: Set<String> = []
    /// Serves the system bus; `nil` without `[dbus]`.
    var desktop: DesktopService?
    /// The sensors whose devices are not read, because nothing wants them.
    var idleSensors: [Sensor] = []
    var lines: [HandlerLine] = []
    /// Attaches handlers to the store, when there is one.
    let attachments: HandlerAttachments?
    /// The counted reports of handlers, by handler name.
    var tallies: [String: HandlerTally] = [:]
    /// The events since the start.
    let eventTally = EventTally()
    /// When the configuration in force was applied.
    var configuredNanoseconds: Int64 = 0
    /// Why the configuration that was read last was rejected; `nil` when it is in force.
    var refusedConfiguration: String?
    /// What the machine lacked at the last reload.
    var machineWarnings: [ConfigurationDiagnostic] = []
    /// Why the configured socket is not open.
    var socketFailure: String?
    /// The settings of the socket that is open, or was last.
    var socketSettings: SocketSettings?
    /// The number of the sockets that were opened.
    var socketNumber = 0
    /// The socket that was open before, which ends.
    var endingSocket: SocketServer?
    /// Whether a socket is being opened.
    var isOpeningSocket = false
    /// The repeated kinds that subscribers want beside events, by the number of their socket.
    var repeatedKinds: [Int: Set<EventKind>] = [:]
    /// The shortest intervals of the live readings that subscribers want, by the number of their socket.
    var readingsIntervals: [Int: Int64] = [:]
    /// Makes live readings; `nil` while none are wanted, and then it costs nothing.
    var readings: ReadingsSchedule?
    /// The sensors for which there has been no device since the start of the daemon.
    var missingSensors: Set<String> = []
    /// What was learned of gyroscopes, now and in earlier runs.
    let gyroscopes = GyroscopeBook(path: GyroscopeBook.standardPath)
    /// When the detectors are asked next what they have learned, and from when on the file is written again.
    var gyroscopeLookNanoseconds: Int64 = 0
    var gyroscopeFileNanoseconds: Int64 = 0
    /// Whether a thread writes it.
    var isWritingGyroscopes = false
    /// Why it could not be written last.
    var gyroscopeFailure: String?
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
    /// When what the start or a reload needed is given back; `nil` once that is done.
    var restNanoseconds: Int64?
    /// The error that ended a recording early.
    private var damage: StationError?
    private var toldState: (active: Int, all: Int)?
    private var isStopping = false
    /// Whether another daemon has the store.
    private var hasStoreConflict = false
    let session: Session
    let interruption: Interruption

    /// The time after which the daemon reports readiness even if devices have not answered.
    private static let longestStart: Int64 = 500_000_000
    /// The time after a start or a reload in which the threads that it began have ended, and handlers have connected.
    static let settling: Int64 = 1_000_000_000
    /// How long events are held for the store's last sequence number, and how many of them: sequence numbers that the file
    /// has cannot be stored again.
    private static let opening = (nanoseconds: Int64(5_000_000_000), eventCount: EventStore.capacity)
    /// Times from the beginning of the end: until held events are numbered, until handlers that act on the world, the store
    /// and all handlers have ended, and until the daemon has.
    private static let drainTimes = (
        opening: Duration.milliseconds(250), actors: Duration.milliseconds(500), store: Duration.milliseconds(650),
        handlers: Duration.milliseconds(750), all: Duration.milliseconds(900)
    )

    /// The name of the handler of `--json`.
    static let outputName = "--json"

    /// Reads the configuration, and makes the objects that run it.
    package init(_ options: RunOptions, interruption: Interruption) throws(StationError) {
        var options = options
        self.interruption = interruption
        finder = DeviceFinder(under: options.root)
        let read = try Self.read(&options, finder, interruption)
        self.options = options
        if read.configuration.dbus != nil { DesktopBus.prepare() }
        let folderFailures = Self.makeOwnFolders(read.configuration)
        do throws(SystemError) {
            waker = try Waker()
            log = try MessageLog(to: options.view?.logDescriptor ?? STDERR_FILENO)
        } catch {
            throw StationError(error)
        }
        trouble = TroubleLog(log)
        mailbox = Mailbox(waker: waker)
        source = StationSource(waker: waker)
        router = Router()
        (inlet, attachments) = try Self.openStore(read.configuration.store, mailbox, relay)
        router.wallClock = { [source] time in
            guard let time else { return SystemClock.realtime() }
            return SystemClock.realtime() - (SystemClock.monotonic() - source.clockNanoseconds(of: time))
        }
        pipeline = Pipeline(source: source, detectors: [], router: router, capacity: 1024)
        var settings = Session.Settings()
        settings.interruption = interruption
        session = Session(pipeline, source: source, settings: settings)
        session.delegate = self
        for failure in folderFailures { log.say(failure, level: .warning) }
        if let failure = gyroscopes.read() { log.say(failure, level: .warning) }
        preparation = try prepare(read)
    }

    /// Runs the pipeline until a signal comes, or no source is left.
    ///
    /// - Returns: The error that ended it; `nil` after a signal.
    package func run() -> StationError? {
        readyByNanoseconds = SystemClock.monotonic() + Self.longestStart
        if store != nil {
            router.holdEvents(atMost: Self.opening.eventCount)
        } else {
            router.continue(behind: 0, identity: EventStore.makeIdentity())
        }
        if let preparation { apply(preparation) }
        preparation = nil
        session.run()
        stop()
        if let failure = session.failures.first { return failure }
        // The output is what the caller asked for.
        guard options.writesJSON, let failure = tallies[Self.outputName]?.failure else { return nil }
        return StationError(.inputOutput, failure)
    }

    /// Numbers events from the store's last sequence number on, and opens the socket, which tells clients that number.
    private func beginNumbering(behind number: UInt64, identity: String?) {
        let isFirst = router.isHolding
        router.continue(behind: number, identity: identity)
        relay.continue(behind: number)
        if isFirst { openSocket() }
    }

    private var numberingDeadline: Int64? {
        router.isHolding ? startNanoseconds + Self.opening.nanoseconds : nil
    }

    /// Numbers events from 1 when the store has not been opened in time; a file that is opened later raises the number.
    private func checkNumbering(_ now: Int64) {
        guard let deadline = numberingDeadline, now >= deadline else { return }
        log.say("the event store: its file is not open after 5 s; events are numbered from 1", level: .warning)
        beginNumbering(behind: 0, identity: store?.identity)
    }

    private func take(_ answer: SampleAnswer) {
        switch answer {
        case .samples:
            startDetectors()
            tellState()
        case .failed(let streams, let reason):
            note(streams, reason)
            if reason is TraceError || reason is StationError { damage = StationError(sourceFailure: reason) }
            tellState()
        case .ended:
            if let damage { session.end(damage) }
        case .pending: break
        }
    }

    /// Records whether sensors are missing, or failed in another way.
    private func note(_ streams: [SampleStream], _ reason: any Error) {
        let isMissing = (reason as? SensorFailure)?.category == .missing
        for sensor in streams.map(\.sensor) {
            if isMissing, sensor.lastTimeNanoseconds == nil {
                missingSensors.insert(sensor.name)
            } else {
                missingSensors.remove(sensor.name)
            }
        }
    }

    private func takeMessages() {
        guard mailbox.hasMessages else { return }
        mailbox.takeAll(into: &messages)
        for message in messages {
            switch message {
            case .reading(let outcome, let number): if number == watcherNumber { take(outcome) }
            case .report(let event):
                count(event)
                router.report(event)
            case .readerGone(let event): takeReaderGone(event)
            case .configuration(let result): if !isStopping { finishReload(result) }
            case .machineWarnings(let warnings): take(machineWarnings: warnings)
            case .handlerEnded(let name): if !isStopping { attachments?.handlerDidEnd(name) }
            case .sequence(let number, let identity): beginNumbering(behind: number, identity: identity)
            case .storeConflict(let reason):
                hasStoreConflict = true
                session.end(StationError(.temporaryFailure, reason))
            case .claimed(let sensors): take(claimed: sensors)
            case .readingsPresent(let kinds): take(readingsPresent: kinds)
            case .status(let reply): reply(statusLine())
            case .repeatedKinds(let kinds, let socket): take(kinds, of: socket)
            case .readingsInterval(let interval, let socket): take(readingsInterval: interval, of: socket)
            case .socket(let settings, let result):
                if isStopping { try? result.get().finish() } else { take(result, for: settings) }
            case .gyroscopesWritten(let failure): gyroscopesWritten(failure)
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
        restNanoseconds = now + Self.settling
        tellState()
    }

    private func giveMemoryBack(_ now: Int64) {
        guard let time = restNanoseconds, now >= time else { return }
        restNanoseconds = nil
        ResidentMemory.giveBack()
    }

    /// Without a configuration there is no reason to wait for an absent sensor.
    private var startupFailure: StationError { session.refusals.failure(session.refusals.all) }

    /// Shows the number of active sensors in the service's status.
    func tellState() {
        let state = (active: router.sensors.count { $0.isActive }, all: router.sensors.count)
        // Called after each delivery: the text is made only when it changes.
        guard toldState.map({ $0 != state }) ?? true else { return }
        toldState = state
        manager.say("\(state.active) of \(state.all) sensors active")
    }

    // MARK: - Ending

    /// Ends commands and then the other handlers, reports what was not handled, and closes the devices.
    private func stop() {
        isStopping = true
        watcher?.stop()
        desktop?.bus.finish()
        trouble.isStopping = true
        manager.sayStopping()
        let begin = SystemClock.monotonic()
        noteGyroscopes()
        writeGyroscopes()
        router.flush(upTo: nil)
        // The other daemon handles them.
        if !hasStoreConflict { releaseEvents(until: begin + Units.nanoseconds(Self.drainTimes.opening)) }
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
        for server in [relay.server, endingSocket] { _ = server?.waitForEnd(until: end) }
        _ = desktop?.bus.waitForEnd(until: end)
        takeMessages()
        while isWritingGyroscopes, case let left = SystemClock.milliseconds(until: end), left > 0 {
            waker.wait(timeoutMilliseconds: left)
            takeMessages()
        }
        log.finish(until: end)
        // Last, because a driver may not respond.
        source.live?.stop(atMostMilliseconds: Int(max(50, (end - SystemClock.monotonic()) / 1_000_000)))
    }

    /// Numbers the events that were held when the session ended.
    private func releaseEvents(until deadline: Int64) {
        guard router.isHolding, let store else { return }
        while !store.isOpened, case let left = SystemClock.milliseconds(until: deadline), left > 0 {
            waker.wait(timeoutMilliseconds: left)
        }
        router.continue(behind: store.statistics.lastSequence, identity: store.identity)
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
        serveDesktop(now)
        for case let scale? in assembly.detectors.lazy.map(\.scaleAssumption)
        where toldScales.insert(scale.sensor).inserted {
            log.say(scale.text, level: .warning)
        }
        if interruption.takeReload() { reload() }
        inlet?.flush()
        if let readings, now >= readings.dueNanoseconds { publishReadings(now) }
        checkNumbering(now)
        keepGyroscopes(now)
        if !isReady { checkReadiness(now) }
        giveMemoryBack(now)
        // It keeps its descriptors as long as it is there.
        if endingSocket?.waitForEnd(until: 0) ?? false { endingSocket = nil }
    }

    /// Logs a notice, unless the daemon is about to end with an error.
    package func session(_ session: Session, didNotice notice: String) {
        if session.failures.isEmpty, !interruption.isRequested { log.say(notice) }
    }

    /// The earliest of all that is due without samples, such as the next watchdog message.
    package func sessionNextDeadline(_ session: Session) -> Int64? {
        // Asked in each turn, so no array is made.
        var next: Int64?
        func consider(_ deadline: Int64?) {
            guard let deadline else { return }
            next = min(next ?? deadline, deadline)
        }
        consider(manager.lifeSignMilliseconds.map { SystemClock.monotonic() + Int64($0) * 1_000_000 })
        if !isReady { consider(readyByNanoseconds) }
        consider(numberingDeadline)
        consider(readings?.dueNanoseconds)
        consider(desktopDeadline)
        consider(restNanoseconds)
        return next
    }
}

/// The options of `binnacle run`.
package struct RunOptions: Sendable {
    /// The configuration: a file, or a folder with drop-ins.
    package var configurationPath: String?
    /// What replaces a missing configuration, or the sensors of the one that is named.
    package var embedded: EmbeddedConfiguration?
    /// What the command line sets.
    package var settings: [CommandLineSetting] = []
    /// Whether events are written to standard output as well.
    package var writesJSON = false
    /// The root of `/sys` and `/dev`; `nil` for that of the machine.
    package var root: String?
    /// What a view needs, which only looks: no handler, no store, and a socket of its own; `nil` for a daemon.
    var view: (socketPath: String, logDescriptor: Int32)?

    package init() {}
}
