package import Binnacle
import Configuration
import DesktopBus
import LinuxSensors
import LinuxSystem
import PlainText

/// The daemon: runs the pipeline of a configuration on one thread until a signal ends it.
///
/// It owns the source, the detectors, the router and the parts, which do everything beside detection. Its thread waits
/// for samples, for messages of other threads and for signals; work that may block, such as reading a configuration,
/// runs on another thread.
package final class Daemon {
    /// The state of the daemon, which only advances.
    enum Phase {
        /// The first configuration is read and its objects exist.
        case prepared(Preparation)
        /// Devices are opened, and the store is read.
        case starting
        /// The service manager has received READY.
        case running
        case ending
    }

    struct Preparation {
        let assembly: Assembly
        let live: LiveSource?
    }

    /// The eventfd to which a signal handler writes to end a wait.
    package var wakeDescriptor: Int32 { waker.descriptor }

    private(set) var options: RunOptions
    let interruption: Interruption
    let finder: DeviceFinder
    let waker: Waker
    /// Messages of other threads to the parts.
    let mailbox: Mailbox<PartMessage>
    let log: MessageLog
    let source: StationSource
    let router = Router()
    let pipeline: Pipeline
    let session: SampleLoop
    let startNanoseconds = SystemClock.monotonic()
    private(set) var assembly = Assembly()
    private(set) var phase = Phase.starting
    /// See ``makeParts(_:)`` for the order.
    private var parts: [any DaemonPart] = []

    /// Reads the configuration, and makes the objects that run it.
    package init(_ options: RunOptions, interruption: Interruption) throws(StationError) {
        var options = options
        self.interruption = interruption
        finder = DeviceFinder(under: options.root)
        let read = try options.readFirst(finder, interruption)
        self.options = options
        if read.configuration.dbus != nil { DesktopBus.prepare() }
        let folderFailures = read.configuration.makeOwnFolders()
        (waker, log) = try mapError(StationError.init) { () throws(SystemError) in
            (try Waker(), try MessageLog(to: options.logDescriptor))
        }
        mailbox = Mailbox(waker: waker)
        source = StationSource(waker: waker)
        router.wallClock = { [source] time in
            guard let time else { return SystemClock.realtime() }
            return SystemClock.realtime() - (SystemClock.monotonic() - source.clockNanoseconds(of: time))
        }
        pipeline = Pipeline(source: source, detectors: [], router: router, capacity: 1024)
        session = SampleLoop(pipeline, source: source, settings: SampleLoop.Settings(interruption: interruption))
        session.delegate = self
        for failure in folderFailures { log.say(failure, level: .warning) }
        parts = try mapError(StationError.init) { () throws(SystemError) in try makeParts(read.configuration) }
        phase = .prepared(try prepare(read))
    }

    /// Makes the parts in the order in which each turn calls them.
    ///
    /// The gyroscope memory and the counts precede the detectors that use them. The store gets an event before the socket, the bus and
    /// the handlers, which deliver stored events. Demand follows from all of these. The reload part logs a
    /// configuration after these parts have applied it. Readiness depends on all other parts.
    private func makeParts(_ configuration: Configuration) throws(SystemError) -> [any DaemonPart] {
        let relay = SocketRelay()
        let demand = DemandPart(self)
        let store = try StorePart(self, configuration.store, relay)
        let learned = LearnedPart(self)
        let socket = SocketPart(self, relay, store, learned)
        let service = ServicePart(self)
        return [
            GyroscopePart(self), learned,
            DetectionPart(self, demand), store, socket, DesktopPart(self, demand),
            HandlersPart(self, store), HeldEventsPart(self), demand, LiveValuesPart(self, socket),
            ReloadPart(self, service, socket), service,
        ]
    }

    /// Runs the pipeline until a signal comes, or no source is left; returns the error that ended it, if one did.
    package func run() -> StationError? {
        if case .prepared(let preparation) = phase {
            phase = .starting
            apply(preparation, isFirst: true)
        }
        session.run()
        stop()
        return session.failures.first
    }

    /// Called when all devices are open or the time for that is over.
    func becomeReady() { phase = .running }

    var isEnding: Bool { if case .ending = phase { true } else { false } }

    var isReady: Bool { if case .running = phase { true } else { false } }

    // MARK: - Contributions of the parts

    func replaceChains() { router.replaceChains(parts.flatMap(\.chains)) }

    /// Rebuilds the pipeline: the detectors, then the observers of the parts.
    func replaceDetectors() { pipeline.change(detectors: assembly.detectors + parts.flatMap(\.observers)) }

    var problems: [String] {
        parts.flatMap(\.problems) + (log.failure.map { ["the log: standard error: \($0)"] } ?? [])
    }

    func statusMembers(at now: Int64) -> [(key: String, json: String)] { parts.flatMap { $0.status(at: now) } }

    // MARK: - Configurations

    /// Makes the objects of a configuration, and keeps those of unchanged sections.
    private func prepare(_ read: ReadConfiguration) throws(StationError) -> Preparation {
        var configuration = read.configuration
        configuration.places = ConfigurationPlaces()
        // A replay has no clients, so that it needs a detector in any case.
        if configuration.sampledSensors.isEmpty { try configuration.requireDetector(options.configurationPath ?? "") }
        configuration.addDesktop()
        let assembly = Assembly(
            configuration, after: assembly, now: SystemClock.monotonic(), traces: read.traces.take() ?? nil,
            notices: read.notices)
        return try mapError(StationError.init) { () throws(SystemError) in
            let isFirst = !assembly.requests.isEmpty && source.live == nil
            let live = isFirst ? try LiveSource(assembly.requests, finder: finder, waker: waker) : source.live
            for part in parts { try part.prepare(configuration) }
            return Preparation(assembly: assembly, live: live)
        }
    }

    /// Applies a configuration that was read again; called between two turns.
    func apply(_ read: ReadConfiguration) throws(StationError) { apply(try prepare(read), isFirst: false) }

    private func apply(_ next: Preparation, isFirst: Bool) {
        let change = ConfigurationChange(before: assembly, after: next.assembly, isFirst: isFirst)
        for part in parts { part.willApply(change) }
        for detector in assembly.detectors where !next.assembly.detectors.contains(where: { $0 === detector }) {
            detector.stopDetection()
        }
        assembly = next.assembly
        source.change(
            live: next.live, timed: assembly.timed, streams: assembly.streams,
            staysOpen: assembly.configuration.dbus != nil || assembly.detectors.contains { !$0.ambientKinds.isEmpty })
        pipeline.change(detectors: assembly.detectors)
        for part in parts { part.apply(change) }
    }

    // MARK: - Ending

    /// Ends the parts stage by stage, then closes the devices.
    private func stop() {
        phase = .ending
        let begin = SystemClock.monotonic()
        router.reportLosses()
        for stage in EndStage.allCases {
            for part in parts { part.end(stage, until: begin + Units.nanoseconds(stage.time)) }
            handleMessages()
            router.flush(upTo: nil)
        }
        let end = begin + Units.nanoseconds(EndStage.files.time)
        log.finish(until: end)
        // Last, because a driver may not respond.
        source.live?.stop(atMostMilliseconds: Int(max(50, (end - SystemClock.monotonic()) / 1_000_000)))
    }

    /// Delivers messages to the parts and flushes the resulting events.
    package func handleMessages() {
        guard mailbox.hasMessages else { return }
        var messages: [PartMessage] = []
        mailbox.removeAll(into: &messages)
        for message in messages { message(parts) }
        router.flush(upTo: nil)
    }
}

extension Daemon: SampleLoopDelegate {
    package func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        let now = SystemClock.monotonic()
        handleMessages()
        for part in parts { part.turn(answer, at: now) }
        router.flushReported()
        for part in parts { part.finishTurn(at: now) }
    }

    /// Logs a notice, unless the daemon is about to end with an error.
    package func session(_ session: SampleLoop, didNotice notice: String) {
        if session.failures.isEmpty, !interruption.isRequested { log.say(notice) }
    }

    /// The earliest deadline that needs no samples, such as the next watchdog message.
    package func sessionNextDeadline(_ session: SampleLoop) -> Int64? {
        // Called in each turn, so it builds no array.
        var next: Int64?
        for part in parts {
            if let deadline = part.deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }
}
