package import Binnacle
import Configuration
import DesktopBus
import Glibc
import LinuxSensors
import LinuxSystem
import PlainText

/// The daemon: runs the pipeline of a configuration on one thread until a signal ends it.
///
/// It owns source, detectors, router and parts. Its thread waits for samples, for messages of other threads, and for signals;
/// what may block, such as a handler or the reading of a configuration, has a thread of its own. What the daemon does beside
/// detecting is done by its parts.
package final class Daemon {
    /// What the daemon is doing; it never goes back.
    enum Phase {
        /// The first configuration is read, and its objects are made.
        case prepared(Preparation)
        /// Devices are opened, and the store is read.
        case starting
        /// The service manager was told that the daemon is ready.
        case running
        case ending
    }

    /// A configuration's objects, made but not yet in force.
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
    /// What other threads leave for the parts.
    let mailbox: Mailbox<PartMessage>
    let log: MessageLog
    let source: StationSource
    let router = Router()
    let pipeline: Pipeline
    let session: SampleLoop
    let startNanoseconds = SystemClock.monotonic()
    /// The configuration in force, and its objects.
    private(set) var assembly = Assembly()
    private(set) var phase = Phase.starting
    /// The parts, in the order of their turns: see ``makeParts(_:)``.
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
        var settings = SampleLoop.Settings()
        settings.interruption = interruption
        session = SampleLoop(pipeline, source: source, settings: settings)
        session.delegate = self
        for failure in folderFailures { log.say(failure, level: .warning) }
        parts = try mapError(StationError.init) { () throws(SystemError) in try makeParts(read.configuration) }
        phase = .prepared(try prepare(read))
    }

    /// Makes the parts, in the order of their turns.
    ///
    /// What was learned of gyroscopes is there before the detectors that recall it. An event gets to the store before the
    /// socket, the bus and the handlers, which deliver what the store has. What is read follows from what all of these want,
    /// and readiness from everything. What a configuration says is logged when the others have applied it.
    private func makeParts(_ configuration: Configuration) throws(SystemError) -> [any DaemonPart] {
        let relay = SocketRelay()
        let demand = DemandPart(self)
        let store = try StorePart(self, configuration.store, relay)
        let socket = SocketPart(self, relay, store)
        let service = ServicePart(self)
        return [
            GyroscopePart(self), DetectionPart(self, demand), store, socket, DesktopPart(self, demand),
            HandlersPart(self, store), demand, LiveValuesPart(self, socket), ReloadPart(self, service), service,
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

    /// Everything is open, or had the time.
    func becomeReady() { phase = .running }

    var isEnding: Bool { if case .ending = phase { true } else { false } }

    /// Whether the service manager was told that the daemon is ready.
    var isReady: Bool { if case .running = phase { true } else { false } }

    // MARK: - What parts contribute

    /// Leads events to where the parts have them.
    func replaceChains() { router.replaceChains(parts.flatMap(\.chains)) }

    /// Makes the pipeline of the detectors and, behind them, the parts' observers.
    func replaceDetectors() { pipeline.change(detectors: assembly.detectors + parts.flatMap(\.observers)) }

    /// What is wrong, each a sentence.
    var problems: [String] {
        parts.flatMap(\.problems) + (log.failure.map { ["the log: standard error: \($0)"] } ?? [])
    }

    /// The members of the status that parts have, in the order of the parts.
    func statusMembers(at now: Int64) -> [(key: String, json: String)] { parts.flatMap { $0.status(at: now) } }

    // MARK: - Configurations

    /// Makes what a configuration says, as far as it is not there already.
    private func prepare(_ read: ReadConfiguration) throws(StationError) -> Preparation {
        var configuration = read.configuration
        configuration.places = ConfigurationPlaces()
        try configuration.requireDetector(options.configurationPath ?? "")
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

    /// Applies a configuration that was read again, between two turns.
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

    /// Ends the parts, stage by stage, and closes the devices.
    private func stop() {
        phase = .ending
        let begin = SystemClock.monotonic()
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

    /// Calls the parts with their messages, and forwards the events that result.
    func handleMessages() {
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

    /// The earliest of all that is due without samples, such as the next watchdog message.
    package func sessionNextDeadline(_ session: SampleLoop) -> Int64? {
        // Asked in each turn, so no array is made.
        var next: Int64?
        for part in parts {
            if let deadline = part.deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }
}
