package import Binnacle
import CLinux
import Glibc
import LinuxSystem

/// A program to be run for an event.
struct CommandJob: Sendable {
    /// The program's absolute path.
    let program: String
    /// The arguments after the program's own name.
    let arguments: [String]
    /// What it is run for.
    let item: QueuedEvent
    /// The attempt number, starting at 1.
    var attempt = 1

    /// The event.
    var event: Event { item.event }
}

/// Runs a program for each event: gives jobs to workers, is told when each is done, and reports what became of them.
///
/// There is no shell in between. The program gets the event as one JSON line on its standard input and as variables in
/// a small environment (``CommandEnvironment``). It starts in `/`, in a session and process group of its own, with
/// default signals and without a descriptor of ours. Its output is captured, and its end is in the report. It is over when
/// it has ended: what it leaves behind in its group is killed.
///
/// After a request to stop, what runs and what waits goes on for half of the time; then what still runs gets SIGTERM, and
/// near the end of the time SIGKILL. While nothing runs and nothing waits, the thread sleeps without end.
package final class CommandSupervisor {
    private struct Retry {
        let job: CommandJob
        let dueTime: Int64
    }

    private let program: String
    private let arguments: @Sendable (Event) -> [String]
    private let settings: CommandSettings
    private let environment: CommandEnvironment
    private let port: HandlerPort
    private var workers: [CommandWorker] = []
    /// The next one is the last.
    private var retries: [Retry] = []
    private var entries: [pollfd] = []

    /// What a handler needs to run a program for each event.
    ///
    /// - Parameters:
    ///   - program: An absolute path.
    ///   - arguments: The arguments after the program's own name, for an event.
    ///   - settings: The limits.
    /// - Returns: The plan.
    package static func plan(
        program: String, arguments: @escaping @Sendable (Event) -> [String], settings: CommandSettings
    ) -> HandlerPlan {
        var plan = HandlerPlan { port in
            // Its workers hold it weakly.
            let supervisor = CommandSupervisor(program, arguments, settings, port)
            withExtendedLifetime(supervisor) { supervisor.run() }
        }
        plan.startsWithEvent = true
        // A job on its way to a program that is free does not wait.
        plan.capacity = settings.queueLimit + settings.concurrentLimit
        plan.dropReason = "\(settings.queueLimit) events wait for the command already"
        plan.deliveryLimit = plan.capacity
        plan.pace = .eachEvent
        plan.label = "\(program): "
        return plan
    }

    private init(
        _ program: String, _ arguments: @escaping @Sendable (Event) -> [String], _ settings: CommandSettings,
        _ port: HandlerPort
    ) {
        self.program = program
        self.arguments = arguments
        self.settings = settings
        self.port = port
        environment = CommandEnvironment(further: settings.environment)
    }

    private func run() {
        clinux_keep_ends()
        while true {
            let now = SystemClock.monotonic()
            for worker in workers { worker.checkDeadline(now: now) }
            let stop = port.stop
            if let stop, isAtEnd(stop, now) { break }
            startJobs(now)
            wait(until: deadline(stop, now), now)
        }
        for worker in workers { worker.abandon() }
        port.drops.tellRest()
        giveUp(port.take(atMost: .max))
        if unrun.count > 0 {
            port.report(
                CommandReport.dropped(
                    unrun.count, isSimulated: unrun.isSimulated, isLive: unrun.isLive, handler: port.name,
                    reason: port.stop?.reason ?? ""))
        }
    }

    /// Does what is due of a stop.
    ///
    /// - Returns: Whether nothing is left, or no time.
    private func isAtEnd(_ stop: StopPlan, _ now: Int64) -> Bool {
        // Another attempt would come too late.
        giveUp(retries.map(\.job.item))
        retries.removeAll()
        if now >= stop.time(after: 50) {
            giveUp(port.take(atMost: .max))
            for worker in workers { worker.ask(.stop(reason: stop.reason), now: now) }
        }
        if now >= stop.time(after: 90) {
            for worker in workers { worker.kill() }
        }
        return now >= Self.endTime(stop) || (workers.isEmpty && port.isEmpty)
    }

    /// When a program is no longer waited for that is out of a signal's reach.
    ///
    /// Without time programs are killed at once, and a second is left for them to be gone.
    private static func endTime(_ stop: StopPlan) -> Int64 {
        stop.isImmediate ? Units.later(stop.endTime, by: 1_000_000_000) : stop.endTime
    }

    /// The events that a stop left no time for.
    private var unrun = (count: 0, isSimulated: false, isLive: false)

    /// Counts events as not run, unless a store keeps them for another time.
    private func giveUp(_ items: [QueuedEvent]) {
        let lost = items.filter { $0.ticket == nil }
        unrun.count += lost.count
        unrun.isSimulated = unrun.isSimulated || lost.contains(where: \.event.isSimulated)
        unrun.isLive = unrun.isLive || lost.contains { $0.event.wallNanoseconds != nil }
        port.abandon(lost)
        for item in items { port.finish(item, isAcknowledged: false) }
    }

    private var hasFreeWorker: Bool { workers.count < max(1, settings.concurrentLimit) }

    /// Starts what can be started: first what was tried before.
    private func startJobs(_ now: Int64) {
        // Not more at a time than can run, so that programs that cannot be started do not delay the others.
        for _ in 0..<max(1, settings.concurrentLimit) where hasFreeWorker {
            if let retry = retries.last, retry.dueTime <= now {
                retries.removeLast()
                start(retry.job)
            } else if let item = port.take(atMost: 1).first {
                start(CommandJob(program: program, arguments: arguments(item.event), item: item))
            } else {
                return
            }
        }
    }

    private func start(_ job: CommandJob) {
        let worker = CommandWorker(job: job, settings: settings)
        worker.delegate = self
        workers.append(worker)
        worker.start(in: environment)
    }

    /// When there is something to do without anybody saying so; `nil` when there is not.
    private func deadline(_ stop: StopPlan?, _ now: Int64) -> Int64? {
        if hasFreeWorker, !port.isEmpty { return now }
        var times = workers.compactMap(\.deadline)
        if hasFreeWorker, let retry = retries.last { times.append(retry.dueTime) }
        if let pause = port.drops.tellDue() { times.append(Units.later(now, by: Units.nanoseconds(pause))) }
        if let stop {
            times += [stop.time(after: 50), stop.time(after: 90), Self.endTime(stop)].filter { $0 > now }
        }
        return times.min()
    }

    private func wait(until deadline: Int64?, _ now: Int64) {
        entries.removeAll(keepingCapacity: true)
        entries.append(pollfd(fd: port.courier.waker.descriptor, events: Int16(POLLIN), revents: 0))
        let waited = workers
        for worker in waited { worker.appendPollEntries(to: &entries) }
        let milliseconds = deadline.map { SystemClock.milliseconds(until: $0, from: now) }
        guard poll(&entries, nfds_t(entries.count), milliseconds ?? -1) > 0 else { return }
        if entries[0].revents != 0 { port.courier.waker.clear() }
        for (index, worker) in waited.enumerated() {
            let first = 1 + index * CommandWorker.pollEntryCount
            worker.respond(to: entries[first..<first + CommandWorker.pollEntryCount])
        }
    }
}

extension CommandSupervisor: CommandWorkerDelegate {
    /// Tells what became of a program, and has it tried again when it failed and may be.
    func commandWorker(_ worker: CommandWorker, didFinish outcome: CommandOutcome) {
        workers.removeAll { $0 === worker }
        let nextDelay = outcome.isSuccess ? nil : settings.retryDelay(after: worker.job.attempt)
        let delay = port.stop == nil ? nextDelay : nil
        port.report(CommandReport.event(handler: port.name, job: worker.job, outcome: outcome, retryDelay: delay))
        guard let delay else {
            // What a stop has cut short is begun again by the next handler of the name.
            port.finish(worker.job.item, isAcknowledged: nextDelay == nil && !outcome.isCutShort)
            return
        }
        var job = worker.job
        job.attempt += 1
        let dueTime = Units.later(SystemClock.monotonic(), by: Units.nanoseconds(delay))
        // Behind those that are due later; among equals the first to come is the first to go.
        let place = retries.lastIndex { $0.dueTime > dueTime }.map { $0 + 1 } ?? 0
        retries.insert(Retry(job: job, dueTime: dueTime), at: place)
    }
}
