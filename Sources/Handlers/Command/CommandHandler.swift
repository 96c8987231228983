package import Binnacle
import CLinux
import LinuxSystem
import Synchronization

/// Runs a program for each event: the face of a ``CommandSupervisor``, which works on a thread of its own.
///
/// There is no shell in between. The program gets the event as one JSON line on its standard input and as variables in
/// a small environment (``CommandEnvironment``). It starts in `/`, in a session and process group of its own, with
/// default signals and without a descriptor of ours. What it writes is captured, and its end goes into the report. It is
/// over when it has ended: what it leaves behind in its group is killed.
///
/// The first event starts the supervisor's thread; it ends with the handler, or with ``stop(within:because:)``.
package final class CommandHandler: EventHandler, Sendable {
    private struct State {
        var queue: CommandQueue?
        var isStopped = false
    }

    private let name: String
    private let program: String
    private let arguments: @Sendable (Event) -> [String]
    let settings: CommandSettings
    private let environment: CommandEnvironment
    private let report: @Sendable (Event) -> Void
    private let acknowledge: @Sendable (_ ticket: Int64) -> Void
    private let state = Mutex(State())

    /// The queue of the supervisor; `nil` before the first event.
    var queue: CommandQueue? { state.withLock { $0.queue } }

    /// Creates a handler that runs nothing yet.
    ///
    /// - Parameters:
    ///   - name: What reports call it.
    ///   - program: An absolute path.
    ///   - arguments: The arguments after the program's own name, for an event.
    ///   - settings: The limits.
    ///   - report: Told what became of each program, with `command.finished` and `command.failed`, and of events that no
    ///     program was run for, with `events.dropped`. It is called on the supervisor's thread, which goes on when it
    ///     returns, or within ``handle(_:)`` when there is no thread to be had. It must not wait for the thread of the
    ///     events.
    ///   - acknowledge: Told of each delivery whose program has ended for good, after `report`, on the same threads.
    package init(
        name: String, program: String, arguments: @escaping @Sendable (Event) -> [String],
        settings: CommandSettings = CommandSettings(), report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void = { _ in }
    ) {
        self.name = name
        self.program = program
        self.arguments = arguments
        self.settings = settings
        environment = CommandEnvironment(further: settings.environment)
        self.report = report
        self.acknowledge = acknowledge
    }

    deinit {
        requestStop(within: .zero, because: "its handler is gone")
    }

    /// Has the program run, and does not wait for it.
    ///
    /// What the queue has no room for is dropped and reported.
    package func handle(_ event: Event) {
        run(event, ticket: nil)
    }

    /// Has the program run for an event, and does not wait for it.
    func run(_ event: Event, ticket: Int64?) {
        let job = CommandJob(program: program, arguments: arguments(event), event: event, ticket: ticket)
        do throws(SystemError) {
            try startedQueue()?.submit(job)
        } catch {
            let outcome = CommandOutcome(end: .notStarted(reason: "\(error)"))
            report(CommandReport.event(handler: name, job: job, outcome: outcome))
            if let ticket { acknowledge(ticket) }
        }
    }

    /// Waits until no program runs or waits for its turn.
    package func finish() {
        waitUntilIdle()
    }

    /// Waits until no program runs, waits for its turn, or is to be tried again, and until all of that was reported.
    ///
    /// - Parameters:
    ///   - reason: Why what is left is killed, when it is cancelled, as a part of a sentence.
    ///   - isCancelled: Asked when a signal comes, and several times a second; `true` kills what runs, and runs no other.
    /// - Returns: Whether everything was run; a cancelled handler runs nothing any more.
    @discardableResult
    package func waitUntilIdle(
        because reason: String = "it was cancelled", isCancelled: () -> Bool = { false }
    ) -> Bool {
        while let queue, !queue.isIdle {
            if isCancelled() {
                stop(within: .zero, because: reason)
                return false
            }
            queue.waitForChange(timeoutMilliseconds: 100)
        }
        return true
    }

    /// Tells the supervisor to stop, and does not wait for it; so several handlers share one time.
    ///
    /// For half of the time, what runs and what waits goes on; then what still runs gets SIGTERM, and near the end of the
    /// time SIGKILL. No time at all kills at once. Events that come later are passed over.
    ///
    /// - Parameters:
    ///   - duration: How long it may take in all.
    ///   - reason: Why, for the reports, as a part of a sentence.
    package func requestStop(within duration: Duration, because reason: String = "Binnacle stops") {
        let queue = state.withLock { state in
            state.isStopped = true
            return state.queue
        }
        let time = Units.nanoseconds(duration)
        queue?.requestStop(CommandStop(now: SystemClock.monotonic(), within: time, reason: reason))
    }

    /// Waits for the end of a supervisor that was told to stop.
    ///
    /// - Returns: How many events no program was run for, or not the last time; they were reported, too.
    @discardableResult
    package func waitUntilStopped() -> Int {
        state.withLock { $0.isStopped } ? waitForEnd(until: .max) : 0
    }

    /// Stops, and waits for it.
    ///
    /// - Parameters:
    ///   - duration: How long it may take in all; see ``requestStop(within:because:)``.
    ///   - reason: Why, for the reports, as a part of a sentence.
    /// - Returns: How many events no program was run for, or not the last time; they were reported, too.
    @discardableResult
    package func stop(within duration: Duration, because reason: String = "Binnacle stops") -> Int {
        requestStop(within: duration, because: reason)
        return waitUntilStopped()
    }

    /// The queue of the supervisor, which is started when there is none; `nil` when it was told to stop.
    private func startedQueue() throws(SystemError) -> CommandQueue? {
        try state.withLock { state throws(SystemError) in
            guard !state.isStopped else { return nil }
            if let queue = state.queue { return queue }
            let queue = try CommandQueue(limit: CommandSupervisor.capacity(settings))
            clinux_keep_ends()
            try WorkerThread.start { [name, settings, environment, report, acknowledge] in
                let supervisor = CommandSupervisor(
                    name: name, settings: settings, environment: environment, queue: queue, report: report,
                    acknowledge: acknowledge)
                // Its workers hold it weakly, and nobody else holds it.
                withExtendedLifetime(supervisor) { supervisor.run() }
            }
            state.queue = queue
            return queue
        }
    }
}
