package import Binnacle
import Glibc
package import Handlers
import LinuxSystem
import Traces

/// Plays recorded traces through the pipeline that the daemon runs.
///
/// The replay owns everything in it: source, detectors, router and handlers. It is the delegate of its progress
/// indicator, whose cancellation ends it after the delivery under way.
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
    /// What plays at a speed, and what its waits end by; `nil` when the replay goes as fast as it can.
    private let paced: (source: PacedSource, waker: Waker)?
    private let output: LineWriter
    private let errors: LineWriter
    private let counter = EventCounter()
    private var isCancelled = false
    private var failures: [StationError] = []

    /// Opens the traces and builds the pipeline.
    ///
    /// - Parameters:
    ///   - options: What to replay, and how.
    ///   - output: What the events are written to.
    ///   - errors: What log handlers write to.
    /// - Throws: ``StationError`` when the configuration or a trace cannot be used.
    package init(_ options: ReplayOptions, output: LineWriter, errors: LineWriter) throws(StationError) {
        self.options = options
        self.output = output
        self.errors = errors
        plan = try ReplayPlan(options)
        notices = plan.notices
        let router = Router()
        router.add(counter)
        router.add(options.writesJSON ? JSONLinesHandler(writer: output) : TextHandler(writer: output))
        for chain in plan.chains(router, runsCommands: options.runsHandlers, output: output, log: errors) {
            router.add(chain)
        }
        for manager in plan.motionManagers { manager.delegate = router }
        for detector in plan.northDetectors { detector.delegate = router }
        // With a speed each row comes at its own time; as fast as possible, they come in large pieces, unless a command
        // may take its time about each event.
        let most = max(1, Self.mostSamples / plan.source.streams.count)
        let usual = plan.source.isMapped ? Self.mostMapped : 4096
        var capacity = min(options.batch ?? (options.runsHandlers ? 1 : usual), most)
        if case .times(let speed) = options.speed {
            capacity = min(options.batch ?? 1, most)
            paced = (PacedSource(plan.source, speed: speed, capacity: capacity), try Self.makeWaker())
        } else {
            paced = nil
        }
        pipeline = Pipeline(
            source: paced?.source ?? plan.source, detectors: plan.detectors, router: router, capacity: capacity)
    }

    /// Writing eight bytes that are not 0 to this descriptor ends a wait, when there are waits; a signal handler may do
    /// it.
    package var wakeDescriptor: Int32? { paced?.waker.descriptor }

    /// Plays to the end, or until it is cancelled, the output is closed, or nothing is left to read.
    ///
    /// - Parameter indicator: Shows how far the replay has come; `nil` shows nothing.
    /// - Returns: What it came to, and what went wrong on the way.
    package func run(_ indicator: ProgressIndicator) -> (summary: ReplaySummary, failures: [StationError]) {
        indicator.delegate = self
        indicator.show()
        let clock = ContinuousClock()
        let start = clock.now
        for detector in plan.detectors { detector.startDetection() }
        pipeline.run {
            self.goesOn(indicator)
        } afterTurn: {
            self.didTurn($0, indicator)
        } whenPending: {
            self.wait()
        }
        output.flush()
        errors.flush()
        // A cancelled wait for a pipe looks like its end.
        if Interruption.isRequested { indicator.cancel() }
        indicator.hide()
        return (summary(elapsed: clock.now - start), failures)
    }

    private func goesOn(_ indicator: ProgressIndicator) -> Bool {
        if Interruption.isRequested { indicator.cancel() }
        return !isCancelled && output.failure == nil
    }

    private func didTurn(_ answer: SampleAnswer, _ indicator: ProgressIndicator) {
        if case .failed(_, let reason) = answer {
            let failure = (reason as? TraceError).map { StationError($0) } ?? StationError(.inputOutput, "\(reason)")
            // Streams that are read from one file by themselves fail one by one, for the same reason.
            if !failures.contains(where: { $0.description == failure.description }) { failures.append(failure) }
        }
        output.flush()
        errors.flush()
        indicator.update(fraction: plan.source.fraction)
    }

    /// Waits until the next samples are due, or a signal comes; what was found is written by then.
    private func wait() {
        guard let paced, let due = paced.source.nextDueNanoseconds else { return Pipeline.pause() }
        paced.waker.wait(timeoutMilliseconds: SystemClock.milliseconds(until: due))
    }

    private static func makeWaker() throws(StationError) -> Waker {
        do throws(SystemError) {
            return try Waker()
        } catch {
            throw StationError(.unavailable, "cannot wait for signals: \(error.description)")
        }
    }

    private func summary(elapsed: Duration) -> ReplaySummary {
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
        summary.isCancelled = isCancelled
        return summary
    }
}

extension Replay: ProgressIndicatorDelegate {
    /// Ends the replay after the delivery under way; what was found so far is kept.
    package func progressIndicatorDidCancel(_ indicator: ProgressIndicator) {
        isCancelled = true
    }
}
