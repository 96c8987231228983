import Binnacle
import LinuxSystem

package enum ProgramEnd: Sendable, Equatable {
    /// By itself, with an exit status.
    case exited(status: Int32)
    case signalled(number: Int32)

    init(waitStatus status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status: status >> 8 & 0xFF) : .signalled(number: signal)
    }

    /// The exit status that a shell would report.
    package var shellStatus: Int32 {
        switch self {
        case .exited(let status): status
        case .signalled(let number): 128 + number
        }
    }

    /// The failure as text; `nil` for success.
    package var failure: String? {
        switch self {
        case .exited(0): nil
        case .exited(let status): "exit status \(status)"
        case .signalled(let number): "ended by signal \(number)"
        }
    }
}

struct CommandOutcome {
    enum End {
        case ended(ProgramEnd)
        /// The kernel did not keep the exit status.
        case unknown
        /// The program goes on after SIGKILL: another account's, or stuck in the kernel.
        case stuck(reason: String)
        /// The program could not be started; `isFinal` if the reason is the program and not temporary.
        case notStarted(reason: String, isFinal: Bool)
    }

    /// Why a program was terminated.
    enum Interruption {
        /// It exceeded its timeout.
        case timeout(Duration)
        /// The handler stops.
        case stop(reason: String)
    }

    let end: End
    /// `nil` for a program that ended by itself.
    let interruption: Interruption?
    let durationNanoseconds: Int64
    /// The end of the output as one line for a terminal; it begins with `…` when there was more.
    let output: String

    var isSuccess: Bool {
        if interruption == nil, case .ended(.exited(0)) = end { return true }
        return false
    }

    /// Whether the program cannot be started until it is changed.
    var isFinal: Bool {
        if case .notStarted(_, isFinal: true) = end { true } else { false }
    }

    var isStuck: Bool {
        if case .stuck = end { true } else { false }
    }

    /// Whether a stop interrupted the program, or its end is unknown.
    var isCutShort: Bool {
        switch (interruption, end) {
        case (.stop, _), (_, .unknown), (_, .stuck): true
        default: false
        }
    }

    var reason: String {
        switch (interruption, end) {
        case (_, .stuck(let reason)): reason
        case (.timeout(let limit), _): "killed after \(limit)"
        case (.stop(let reason), _): "killed, because \(reason)"
        case (nil, .ended(let end)): end.failure ?? ""
        case (nil, .unknown): "its end is not known"
        case (nil, .notStarted(let reason, _)): "cannot be run: \(reason)"
        }
    }
}

/// Makes the events about commands.
///
/// Their time is that of the report, on CLOCK_MONOTONIC; they have a wall time if the event in question has one, and are
/// simulated if it is. They have no detector, no sensor and no number yet.
enum CommandReport {
    /// `command.finished` or `command.failed`, with the pause before a retry.
    static func event(
        handler: String, _ program: String, _ job: CommandJob, _ outcome: CommandOutcome, retryDelay: Duration?
    ) -> Event {
        var event = Self.event(
            outcome.isSuccess ? .commandFinished : .commandFailed, handler: handler,
            isLive: job.event.wallNanoseconds != nil, isSimulated: job.event.isSimulated)
        event.set(.program, .text(program))
        event.set(.trigger, .integer(Int64(clamping: job.event.sequence)))
        switch outcome.end {
        case .ended(.exited(let status)): event.set(.status, .integer(Int64(status)))
        case .ended(.signalled(let number)): event.set(.signal, .integer(Int64(number)))
        case .unknown, .stuck, .notStarted: break
        }
        event.set(.duration, .number(Double(outcome.durationNanoseconds) * 1e-9, decimals: 3))
        event.set(.attempt, .integer(Int64(job.attempt)))
        if !outcome.isSuccess { event.set(.reason, .text(outcome.reason)) }
        if let retryDelay { event.set(.retry, .number(retryDelay / .seconds(1), decimals: 3)) }
        if !outcome.output.isEmpty { event.set(.output, .text(outcome.output)) }
        return event
    }

    /// `events.dropped`, for events without a program.
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
