package import Binnacle
import Configuration
import Glibc
import Handlers
package import LinuxSystem
import Traces

/// Plays recorded traces through the pipeline that the daemon runs.
///
/// The replay owns everything in it: source, detectors, router and handlers.
package final class Replay {
    /// What a person should know before the first event: assumptions about the files.
    package var notices: [String] { assembly.notices }

    /// The most samples in a delivery over all its streams: with their windows that is about 10 MB.
    private static let mostSamples = 262_144
    /// The most samples of one stream in a delivery that has no copies of them.
    private static let mostMapped = 65_536

    private let options: ReplayOptions
    private let assembly: Assembly
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
        assembly = try Assembly(
            replaying: options.traces, configuration: options.configurationPath, interruption: interruption)
        let router = Router()
        router.add(counter)
        router.add(options.writesJSON ? JSONLinesHandler(writer: output) : TextHandler(writer: output))
        let chains = Self.chains(
            assembly.configuration.handlers, router, runsCommands: options.runsHandlers, output: output, log: errors,
            interruption: interruption)
        for chain in chains {
            router.add(chain)
        }
        assembly.report(to: router)
        // With a speed each row comes at its own time; as fast as possible, they come in large pieces, unless a command
        // may take its time about each event.
        let most = max(1, Self.mostSamples / max(1, assembly.streams.count))
        let usual = assembly.traces?.isMapped ?? false ? Self.mostMapped : 4096
        var capacity = min(options.batch ?? (options.runsHandlers ? 1 : usual), most)
        var paced: PacedSource?
        if case .times(let speed) = options.speed {
            capacity = min(options.batch ?? 1, most)
            paced = assembly.traces.map { PacedSource($0, speed: speed, capacity: capacity) }
        }
        source = try assembly.makeSource(playing: paced)
        pipeline = Pipeline(source: source, detectors: assembly.detectors, router: router, capacity: capacity)
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
        for detector in assembly.detectors { detector.startDetection() }
        session.run()
        return (summary(session, elapsed: clock.now - start), session.failures)
    }

    /// Makes the configured handlers with their decorators.
    ///
    /// - Parameters:
    ///   - handlers: Their sections.
    ///   - router: Knows which sensors are active.
    ///   - runsCommands: Whether handlers that act on the world are among them.
    ///   - output: Flushed before a command runs.
    ///   - log: Where log handlers write, and commands say what went wrong.
    ///   - interruption: Ends the wait for a command.
    /// - Returns: A chain for each handler that runs.
    private static func chains(
        _ handlers: [HandlerSection], _ router: Router, runsCommands: Bool, output: LineWriter, log: LineWriter,
        interruption: Interruption
    ) -> [HandlerChain] {
        let context = DecoratorSettings.Context(router)
        return handlers.compactMap { (section) -> HandlerChain? in
            guard runsCommands || !type(of: section.action).actsOnTheWorld else { return nil }
            let place = HandlerContext(
                name: section.name, log: log, willRun: { output.flush() }, isCancelled: { interruption.isRequested })
            guard let handler = section.action.work(for: section.name).replayed(place) else { return nil }
            let chain = HandlerChain(
                handler: handler, kinds: Set(section.kinds), detectors: section.detectors.map { Set($0) })
            for decorator in section.decorators { chain.append(decorator.makeDecorator(in: context)) }
            return chain
        }
    }

    private func summary(_ session: Session, elapsed: Duration) -> ReplaySummary {
        var summary = ReplaySummary()
        summary.sampleCount = pipeline.sampleCount
        summary.timeRange = pipeline.timeRange
        summary.eventCounts = counter.counts
        summary.headings = assembly.norths.map(\.object).map { ($0.name, $0.validCount, $0.faultCounts) }
        summary.stillMoving = assembly.motions.map(\.object).filter(\.isMoving).map(\.name)
        let repairs = assembly.repairs
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
        session.showProgress(assembly.fraction)
        if output.failure != nil { session.end() }
    }

    /// Has the handlers come to their end, and writes the rest.
    package func sessionDidEnd(_ session: Session) {
        pipeline.router.finish()
        output.flush()
        errors.flush()
    }
}
