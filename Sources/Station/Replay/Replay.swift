package import Binnacle
import Glibc
import Handlers
package import LinuxSystem
import Traces

/// Plays recorded traces through the pipeline that the daemon runs.
///
/// The replay owns everything in it: source, detectors, router and handlers.
package final class Replay {
    /// What a person should know before the first event: assumptions about the files.
    package let notices: [String]

    /// The most samples in a delivery over all its streams: with their windows that is about 10 MB.
    private static let mostSamples = 262_144
    /// The most samples of one stream in a delivery that has no copies of them.
    private static let mostMapped = 65_536

    private let options: ReplayOptions
    private let plan: ReplayPlan
    private let pipeline: Pipeline
    private let source: StationSource
    private let interruption: Interruption
    private let output: LineWriter
    private let errors: LineWriter
    private let counter = EventCounter()

    /// Opens the traces and builds the pipeline.
    ///
    /// - Parameters:
    ///   - options: What to replay, and how.
    ///   - output: What the events are written to.
    ///   - errors: What log handlers write to.
    ///   - interruption: Says when a signal has come.
    /// - Throws: ``StationError`` when the configuration or a trace cannot be used.
    package init(
        _ options: ReplayOptions, output: LineWriter, errors: LineWriter, interruption: Interruption
    ) throws(StationError) {
        self.interruption = interruption
        self.options = options
        self.output = output
        self.errors = errors
        plan = try ReplayPlan(options, interruption: interruption)
        notices = plan.notices
        let router = Router()
        router.add(counter)
        router.add(options.writesJSON ? JSONLinesHandler(writer: output) : TextHandler(writer: output))
        let chains = plan.chains(
            router, runsCommands: options.runsHandlers, output: output, log: errors, interruption: interruption)
        for chain in chains {
            router.add(chain)
        }
        for manager in plan.motionManagers { manager.delegate = router }
        for detector in plan.northDetectors { detector.delegate = router }
        // With a speed each row comes at its own time; as fast as possible, they come in large pieces, unless a command
        // may take its time about each event.
        let most = max(1, Self.mostSamples / plan.source.streams.count)
        let usual = plan.source.isMapped ? Self.mostMapped : 4096
        var capacity = min(options.batch ?? (options.runsHandlers ? 1 : usual), most)
        var played: any SampleSource = plan.source
        if case .times(let speed) = options.speed {
            capacity = min(options.batch ?? 1, most)
            played = PacedSource(plan.source, speed: speed, capacity: capacity)
        }
        source = StationSource(playing: played, waker: try Self.makeWaker())
        pipeline = Pipeline(source: source, detectors: plan.detectors, router: router, capacity: capacity)
    }

    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { source.wakeDescriptor }

    /// Plays to the end, or until it is cancelled, the output is closed, or nothing is left to read.
    ///
    /// - Parameter indicator: Shows how far the replay has come; `nil` shows nothing.
    /// - Returns: What was played and found, and what went wrong on the way.
    package func run(_ indicator: ProgressIndicator) -> (summary: ReplaySummary, failures: [StationError]) {
        var settings = Session.Settings()
        settings.interruption = interruption
        let session = Session(pipeline, source: source, settings: settings, indicator: indicator)
        session.delegate = self
        let clock = ContinuousClock()
        let start = clock.now
        for detector in plan.detectors { detector.startDetection() }
        session.run()
        return (summary(session, elapsed: clock.now - start), session.failures)
    }

    private static func makeWaker() throws(StationError) -> Waker {
        do throws(SystemError) {
            return try Waker()
        } catch {
            throw StationError(.unavailable, "cannot wait for signals: \(error.description)")
        }
    }

    private func summary(_ session: Session, elapsed: Duration) -> ReplaySummary {
        var summary = ReplaySummary()
        summary.sampleCount = pipeline.sampleCount
        summary.timeRange = pipeline.timeRange
        summary.eventCounts = counter.counts
        summary.headings = plan.northDetectors.map { ($0.name, $0.validCount, $0.faultCounts) }
        summary.stillMoving = plan.motionManagers.filter(\.isMoving).map(\.name)
        let repairs = plan.source.repairs
        summary.repairs = TraceRepairs.Kind.allCases.compactMap { kind in
            repairs.counts[kind].map { "\($0) × \(kind.rawValue)" }
        }
        summary.repairNotices = repairs.notices.map(\.description)
        summary.elapsedSeconds = elapsed / .seconds(1)
        summary.isCancelled = session.isCancelled
        return summary
    }
}

extension Replay: SessionDelegate {
    /// Notes what went wrong.
    package func session(_ session: Session, didTurn answer: SampleAnswer) {
        if case .failed(_, let reason) = answer { session.add(reason) }
    }

    /// Writes what was found, and shows how far the replay has come.
    package func sessionShouldFlush(_ session: Session) {
        output.flush()
        errors.flush()
        session.showProgress(plan.source.fraction)
        if output.failure != nil { session.end() }
    }

    /// Has the handlers come to their end, and writes the rest.
    package func sessionDidEnd(_ session: Session) {
        pipeline.router.finish()
        output.flush()
        errors.flush()
    }
}
