import Binnacle
import LinuxSystem

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
