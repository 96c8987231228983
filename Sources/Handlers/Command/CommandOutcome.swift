import Binnacle
import LinuxSystem

/// What became of a program.
struct CommandOutcome: Sendable, Equatable {
    /// How it ended.
    enum End: Sendable, Equatable {
        /// By itself, with an exit status.
        case exited(status: Int32)
        /// By a signal.
        case signalled(number: Int32)
        /// In a way that the kernel did not keep.
        case unknown
        /// Not at all, because it never began; the reason is the system's.
        case notStarted(reason: String)
    }

    /// Why it was not left to end by itself.
    enum Interruption: Sendable, Equatable {
        /// It took longer than it may.
        case timeout(Duration)
        /// The handler stops, for this reason.
        case stop(reason: String)
    }

    /// How it ended.
    var end: End
    /// Why it was made to end, when it was.
    var interruption: Interruption?
    /// From its start to its end.
    var durationNanoseconds: Int64 = 0
    /// The end of what it wrote, fit for a terminal; it begins with `…` when there was more.
    var output = ""
    /// How many bytes it wrote.
    var outputByteCount: Int64 = 0

    /// Whether it did what it should.
    var isSuccess: Bool { interruption == nil && end == .exited(status: 0) }

    /// Whether its outcome is unknown, because it was not left to end by itself.
    var isCutShort: Bool {
        if case .stop = interruption { return true }
        return end == .unknown
    }

    /// What went wrong, in words.
    var reason: String {
        switch (interruption, end) {
        case (.timeout(let limit), _): "killed after \(limit)"
        case (.stop(let reason), _): "killed, because \(reason)"
        case (nil, .exited(let status)): "exit status \(status)"
        case (nil, .signalled(let number)): "ended by signal \(number)"
        case (nil, .unknown): "its end is not known"
        case (nil, .notStarted(let reason)): "cannot be run: \(reason)"
        }
    }
}

/// Makes the events that tell of commands.
///
/// Their time is that of the telling, on the monotonic clock; they have a wall time when the event they are about has
/// one, and are simulated when it is. They belong to no detector and no sensor, and have no number yet.
enum CommandReport {
    /// Tells what became of a program.
    ///
    /// - Parameters:
    ///   - handler: The handler's name.
    ///   - job: What was run.
    ///   - outcome: What became of it.
    ///   - retryDelay: How long until it is tried again, when it is.
    /// - Returns: `command.finished`, or `command.failed`.
    static func event(
        handler: String, job: CommandJob, outcome: CommandOutcome, retryDelay: Duration? = nil
    ) -> Event {
        var event = Self.event(
            outcome.isSuccess ? .commandFinished : .commandFailed, handler: handler,
            isLive: job.event.wallNanoseconds != nil, isSimulated: job.event.isSimulated)
        event.set(.program, .text(job.program))
        event.set(.trigger, .integer(Int64(clamping: job.event.sequence)))
        switch outcome.end {
        case .exited(let status): event.set(.status, .integer(Int64(status)))
        case .signalled(let number): event.set(.signal, .integer(Int64(number)))
        case .unknown, .notStarted: break
        }
        event.set(.duration, .number(Double(outcome.durationNanoseconds) * 1e-9, decimals: 3))
        event.set(.attempt, .integer(Int64(job.attempt)))
        if !outcome.isSuccess { event.set(.reason, .text(outcome.reason)) }
        if let retryDelay { event.set(.retry, .number(retryDelay / .seconds(1), decimals: 3)) }
        if !outcome.output.isEmpty { event.set(.output, .text(outcome.output)) }
        return event
    }

    /// Tells of events that no program was run for.
    static func dropped(_ count: Int, isSimulated: Bool, isLive: Bool, handler: String, reason: String) -> Event {
        var event = event(.eventsDropped, handler: handler, isLive: isLive, isSimulated: isSimulated)
        event.set(.count, .integer(Int64(count)))
        event.set(.reason, .text(reason))
        return event
    }

    private static func event(_ kind: EventKind, handler: String, isLive: Bool, isSimulated: Bool) -> Event {
        var event = Event(
            kind: kind, timeNanoseconds: SystemClock.monotonic(), figures: [Figure(.handler, .text(handler))])
        event.wallNanoseconds = isLive ? SystemClock.realtime() : nil
        event.isSimulated = isSimulated
        return event
    }
}
