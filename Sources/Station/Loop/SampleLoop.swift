package import Binnacle
package import LinuxSensors
package import LinuxSystem
import PlainText

/// A source of samples that a ``SampleLoop`` can wait for.
package protocol SampleLoopSource: SampleSource {
    /// Whether every sensor has been searched for, and opened or refused.
    var isSettled: Bool { get }
    /// Whether the source, after this answer, has no more samples until ``wait(until:)`` returns.
    func isDrained(after answer: SampleAnswer) -> Bool
    /// Waits for samples, a signal, or a deadline on CLOCK_MONOTONIC.
    func wait(until deadlineNanoseconds: Int64?)
    /// Takes new notices about sensors; each is returned once.
    func takeNotices() -> [String]
}

/// The delegate of a ``SampleLoop``, called on the thread that runs it; every method is optional.
package protocol SampleLoopDelegate: AnyObject {
    /// Tells the delegate that a turn is done, with the source's answer; the delegate may end the session.
    func session(_ session: SampleLoop, didTurn answer: SampleAnswer)
    /// Tells the delegate that the session's duration has started; not called for ``SampleLoop/Start/immediately``.
    func sessionDidBegin(_ session: SampleLoop)
    /// Tells the delegate to flush its output.
    func sessionShouldFlush(_ session: SampleLoop)
    /// Tells the delegate a notice about a sensor.
    func session(_ session: SampleLoop, didNotice notice: String)
    func sessionWillWait(_ session: SampleLoop)
    /// Asks the delegate when the next turn is due even without samples, on CLOCK_MONOTONIC; `nil` for never.
    func sessionNextDeadline(_ session: SampleLoop) -> Int64?
}

extension SampleLoopDelegate {
    package func sessionDidBegin(_ session: SampleLoop) {}
    package func sessionShouldFlush(_ session: SampleLoop) {}
    package func sessionWillWait(_ session: SampleLoop) {}
    package func sessionNextDeadline(_ session: SampleLoop) -> Int64? { nil }

    /// Keeps a failure for the end.
    package func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        if case .failed(_, let reason) = answer { session.add(reason) }
    }

    package func session(_ session: SampleLoop, didNotice notice: String) {
        session.settings.errors?.write("binnacle: \(notice.printable)")
    }
}

/// The loop of every subcommand that reads a source.
///
/// In each turn, a pipeline or a closure asks the source for samples and handles them. The session runs until the
/// source ends, its duration has passed, or a signal comes; it waits when there are no samples, collects failures, and
/// tells its delegate when to flush and what to log.
package final class SampleLoop {
    /// When the duration starts.
    package enum Start: Sendable {
        /// Before the first turn.
        case immediately
        /// After the first turn that delivers samples.
        case firstSamples
        /// After the turn in which all sensors are open or refused, or samples come.
        case settled
    }

    /// The limits of a session.
    package struct Settings {
        /// The duration; `nil` for no limit.
        package var duration: Duration?
        /// When the duration starts.
        package var start: Start
        /// Maximum time until output is flushed; zero flushes after each turn.
        package var flushInterval: Duration
        /// Reports the signals that end the session.
        package var interruption: Interruption
        /// Gets the notices, unless the delegate takes them.
        package var errors: LineWriter?
        package var clock: () -> Int64 = SystemClock.monotonic

        package init(
            duration: Duration? = nil, start: Start = .immediately, flushInterval: Duration = .zero,
            interruption: Interruption = .never, errors: LineWriter? = nil
        ) {
            (self.duration, self.start, self.flushInterval) = (duration, start, flushInterval)
            (self.interruption, self.errors) = (interruption, errors)
        }
    }

    /// The delegate; held weakly.
    package weak var delegate: (any SampleLoopDelegate)?
    /// When the session ends, on CLOCK_MONOTONIC; `nil` before the duration has started, and without a limit.
    package var deadlineNanoseconds: Int64?
    /// When the duration started, on CLOCK_MONOTONIC.
    package private(set) var beginNanoseconds: Int64?
    /// Whether a signal came, or the progress indicator was cancelled.
    package private(set) var isCancelled = false
    package private(set) var failures: [StationError] = []
    /// The sensors that failed before the first sample of any sensor.
    package private(set) var refusals = SensorRefusals()

    private let source: any SampleLoopSource
    private let turn: () -> SampleAnswer
    fileprivate let settings: Settings
    private let indicator: ProgressIndicator?
    private var hasSamples = false
    /// Whether the session ends after the current turn.
    package private(set) var hasEnded = false
    /// When the first samples since the last flush came, on CLOCK_MONOTONIC.
    private var unflushedNanoseconds: Int64?

    /// Creates a session whose turns run a pipeline, which may read the source through a decorator.
    ///
    /// Cancelling the indicator ends the session.
    package convenience init(
        _ pipeline: Pipeline, source: any SampleLoopSource, settings: Settings, indicator: ProgressIndicator? = nil
    ) {
        self.init(source, settings: settings, indicator: indicator) { pipeline.turn() }
    }

    /// Creates a session that hands the source's samples to a closure.
    ///
    /// The closure is called in each turn; the delivery may be empty, and is valid until the call returns.
    package convenience init(
        _ source: any SampleLoopSource, capacity: Int, settings: Settings, indicator: ProgressIndicator? = nil,
        take: @escaping (SampleDelivery) -> Void = { _ in }
    ) {
        let delivery = SampleDelivery(streams: source.streams, capacity: capacity)
        self.init(source, settings: settings, indicator: indicator) {
            delivery.removeAll()
            let answer = source.fill(delivery)
            take(delivery)
            return answer
        }
    }

    private init(
        _ source: any SampleLoopSource, settings: Settings, indicator: ProgressIndicator?,
        turn: @escaping () -> SampleAnswer
    ) {
        self.source = source
        self.settings = settings
        self.indicator = indicator
        self.turn = turn
    }

    package var isOver: Bool { deadlineNanoseconds.map { settings.clock() >= $0 } ?? false }

    /// Runs turns until the session ends.
    package func run() {
        // Read once: each access of a weak reference is an atomic operation.
        let delegate = delegate
        indicator?.delegate = self
        indicator?.show()
        if settings.start == .immediately { begin() }
        while goesOn {
            let answer = turn()
            handle(answer)
            delegate?.session(self, didTurn: answer)
            if answer.isEnd { break }
            if beginNanoseconds == nil, isStart(answer) {
                begin()
                delegate?.sessionDidBegin(self)
            }
            for notice in source.takeNotices() { delegate?.session(self, didNotice: notice) }
            flush(after: answer, delegate)
            // Signals are checked again: the source may have consumed the wake-up that the wait needs.
            guard source.isDrained(after: answer), goesOn else { continue }
            delegate?.sessionWillWait(self)
            source.wait(until: nextDeadline(delegate))
        }
        // A signal may have ended the source: an interrupted read from a pipe looks like its end.
        if settings.interruption.isRequested { cancel() }
        indicator?.hide()
    }

    /// Ends the session after the current turn.
    package func end() { hasEnded = true }

    /// Ends the session after the current turn, with a failure.
    package func end(_ failure: StationError) {
        add(failure)
        end()
    }

    /// Records a failure; the session continues with the other streams.
    ///
    /// Streams of one file fail one by one for the same reason, which is recorded once.
    package func add(_ reason: any Error) {
        let failure = StationError(sourceFailure: reason)
        if !failures.contains(where: { $0.description == failure.description }) { failures.append(failure) }
    }

    package var showsProgress: Bool { indicator?.isVisible ?? false }

    /// Updates the progress indicator, from 0 to 1; `nil` for unknown progress.
    package func showProgress(_ fraction: Double?, detail: @autoclosure () -> String = "") {
        indicator?.update(fraction: fraction, detail: detail)
    }

    /// Writes lines to a terminal on which progress is shown.
    package func flush(_ writer: LineWriter) {
        guard !writer.isEmpty else { return }
        indicator?.hide()
        writer.flush()
        indicator?.show()
    }

    private var goesOn: Bool {
        if settings.interruption.isRequested { cancel() }
        return !isCancelled && !hasEnded && !isOver
    }

    private func cancel() {
        isCancelled = true
        indicator?.cancel()
    }

    private func handle(_ answer: SampleAnswer) {
        switch answer {
        case .samples: hasSamples = true
        case .failed(let streams, let reason):
            if !hasSamples, let sensor = streams.first?.sensor { refusals.add(sensor.name, reason) }
        case .pending, .ended: break
        }
    }

    private func isStart(_ answer: SampleAnswer) -> Bool {
        switch settings.start {
        case .immediately: true
        case .firstSamples: hasSamples
        case .settled: hasSamples || source.isSettled
        }
    }

    private func begin() {
        guard beginNanoseconds == nil else { return }
        let now = settings.clock()
        beginNanoseconds = now
        if let duration = settings.duration { deadlineNanoseconds = Units.later(now, by: Units.nanoseconds(duration)) }
    }

    private func flush(after answer: SampleAnswer, _ delegate: (any SampleLoopDelegate)?) {
        guard settings.flushInterval > .zero else {
            delegate?.sessionShouldFlush(self)
            return
        }
        if case .samples = answer, unflushedNanoseconds == nil { unflushedNanoseconds = settings.clock() }
        guard let due = flushDeadline, settings.clock() >= due else { return }
        unflushedNanoseconds = nil
        delegate?.sessionShouldFlush(self)
    }

    private var flushDeadline: Int64? {
        unflushedNanoseconds.map { Units.later($0, by: Units.nanoseconds(settings.flushInterval)) }
    }

    private func nextDeadline(_ delegate: (any SampleLoopDelegate)?) -> Int64? {
        var next = deadlineNanoseconds ?? .max
        if let due = flushDeadline { next = min(next, due) }
        if let due = delegate?.sessionNextDeadline(self) { next = min(next, due) }
        return next == .max ? nil : next
    }
}

extension SampleLoop: ProgressIndicatorDelegate {
    /// Ends the session after the current turn; its results are kept.
    package func progressIndicatorDidCancel(_ indicator: ProgressIndicator) { isCancelled = true }
}

/// The sensors that failed before the first sample of any sensor, with the reasons.
package struct SensorRefusals {
    /// Each sensor and reason once.
    package private(set) var all: [(sensor: String, reason: any Error)] = []

    fileprivate mutating func add(_ sensor: String, _ reason: any Error) {
        guard !all.contains(where: { $0.sensor == sensor && "\($0.reason)" == "\(reason)" }) else { return }
        all.append((sensor, reason))
    }

    /// The sensors that failed for lack of permission.
    package var denied: [(sensor: String, reason: any Error)] {
        all.filter { ($0.reason as? SensorFailure)?.category == .permission }
    }

    /// Whether all refusals belong to the given categories.
    package func are(_ categories: Set<SensorFailure.Category>) -> Bool {
        all.allSatisfy { ($0.reason as? SensorFailure).map { categories.contains($0.category) } ?? false }
    }

    /// The error of a run that ended because of refusals, with a line for each one in `shown`.
    package func failure(_ shown: [(sensor: String, reason: any Error)]) -> StationError {
        let text = shown.map { "\($0.sensor.printable): \($0.reason)" }.joined(separator: "\n")
        return StationError(denied.isEmpty ? .unavailable : .noPermission, text)
    }
}
