package import Binnacle
import CLinux
import Glibc
import LinuxSystem

/// An attempt to run the program for an event.
struct CommandJob {
    let item: Delivery
    /// The attempt number, starting at 1.
    var attempt = 1
    /// The time of the attempt on CLOCK_MONOTONIC; the first is due at once.
    var dueTime = Int64.min

    var event: Event { item.event }
}

/// Runs a program for each event: assigns jobs to workers, and reports their outcomes.
///
/// There is no shell. The program gets the event as one JSON line on standard input and as variables in a small environment
/// (``CommandEnvironment``). It starts in `/`, in its own session and process group, with default signals and without our
/// descriptors. The report contains the end of its output. Processes of its group that remain when it ends are killed.
///
/// After a request to stop, programs run and start for half of the time; then running ones get SIGTERM, and near the end of the
/// time SIGKILL, at the latest from the thread that waits for the end.
package final class CommandSupervisor {
    private let program: String
    private let arguments: @Sendable (Event) -> [String]
    private let settings: CommandSettings
    private let environment: CommandEnvironment
    private let port: HandlerPort
    private let groups: CommandGroups
    private var workers: [CommandWorker] = []
    /// Sorted by time; the next one is the last element.
    private var retries: [CommandJob] = []
    private var entries: [pollfd] = []

    /// The plan of a handler that runs a program, by its absolute path, for each event.
    package static func plan(
        program: String, arguments: @escaping @Sendable (Event) -> [String], settings: CommandSettings
    ) -> HandlerPlan {
        let groups = CommandGroups()
        var plan = HandlerPlan { port in
            // The workers have a weak reference to it.
            let supervisor = CommandSupervisor(program, arguments, settings, port, groups)
            withExtendedLifetime(supervisor) { supervisor.run() }
        }
        plan.startsWithEvent = true
        plan.abandon = { groups.kill() }
        // An event whose program runs does not count as waiting.
        plan.capacity = settings.queueLimit + settings.concurrentLimit
        plan.dropReason = "\(settings.queueLimit) events wait for the command already"
        plan.deliveryLimit = plan.capacity
        plan.pace = .eachEvent
        plan.label = "\(program): "
        return plan
    }

    private init(
        _ program: String, _ arguments: @escaping @Sendable (Event) -> [String], _ settings: CommandSettings,
        _ port: HandlerPort, _ groups: CommandGroups
    ) {
        self.program = program
        self.arguments = arguments
        self.settings = settings
        self.port = port
        self.groups = groups
        environment = CommandEnvironment(further: settings.environment)
    }

    private func run() {
        clinux_keep_ends()
        while true {
            let now = SystemClock.monotonic()
            for worker in workers { worker.checkDeadline(now: now) }
            let stop = port.stop
            if let stop, isAtEnd(stop, now) { break }
            leaveOutRetries()
            startJobs(now)
            wait(until: deadline(stop, now), now)
        }
        for worker in workers { worker.abandon() }
        port.drops.reportRest()
        giveUp(port.removeFirst(atMost: .max))
        if unrun.count > 0 {
            port.report(
                CommandReport.dropped(
                    unrun.count, isSimulated: unrun.isSimulated, isLive: unrun.isLive, handler: port.name,
                    reason: port.stop?.reason ?? ""))
        }
    }

    private func isAtEnd(_ stop: StopPlan, _ now: Int64) -> Bool {
        // There is no time for another attempt.
        giveUp(retries.map(\.item))
        retries.removeAll()
        if now >= stop.time(after: 50) {
            giveUp(port.removeFirst(atMost: .max))
            for worker in workers { worker.terminate(.stop(reason: stop.reason), now: now) }
        }
        if now >= stop.time(after: 90) {
            for worker in workers { worker.kill() }
        }
        return now >= Self.endTime(stop) || (workers.allSatisfy(\.isStuck) && port.isEmpty)
    }

    /// The end of the wait for killed programs: one second in an immediate stop.
    private static func endTime(_ stop: StopPlan) -> Int64 {
        stop.isImmediate ? Units.later(stop.endTime, by: 1_000_000_000) : stop.endTime
    }

    private var unrun = (count: 0, isSimulated: false, isLive: false)

    /// Finishes events without running a program; those that no store keeps are counted as lost.
    private func giveUp(_ items: [Delivery]) {
        let lost = items.filter { !$0.isKept }
        unrun.count += lost.count
        unrun.isSimulated = unrun.isSimulated || lost.contains(where: \.event.isSimulated)
        unrun.isLive = unrun.isLive || lost.contains { $0.event.wallNanoseconds != nil }
        port.abandon(lost)
        for item in items { port.finish(item, isAcknowledged: false) }
    }

    private var hasFreeWorker: Bool { workers.count < max(1, settings.concurrentLimit) }

    /// Gives up what a disarmed handler would try again.
    private func leaveOutRetries() {
        retries.removeAll { job in
            guard port.leavesOut(job.item) else { return false }
            port.finish(job.item)
            return true
        }
    }

    /// Starts programs up to the limit, retries first.
    private func startJobs(_ now: Int64) {
        // A limited number, so that programs that cannot be started do not delay running ones.
        for _ in 0..<max(1, settings.concurrentLimit) where hasFreeWorker {
            if let retry = retries.last, retry.dueTime <= now {
                retries.removeLast()
                start(retry)
            } else if let item = port.removeFirst(atMost: 1).first {
                start(CommandJob(item: item))
            } else {
                return
            }
        }
    }

    private func start(_ job: CommandJob) {
        let worker = CommandWorker(job, settings, in: groups)
        worker.delegate = self
        workers.append(worker)
        worker.start([program] + arguments(job.event), in: environment)
    }

    private func deadline(_ stop: StopPlan?, _ now: Int64) -> Int64? {
        if hasFreeWorker, !port.isEmpty { return now }
        var times = workers.compactMap(\.deadline)
        if hasFreeWorker, let retry = retries.last { times.append(retry.dueTime) }
        let pause = port.reportDrops()
        if pause >= 0 { times.append(Units.later(now, by: Int64(pause) * 1_000_000)) }
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
        guard waitOnce(for: &entries, milliseconds: milliseconds ?? -1) else { return }
        if entries[0].revents != 0 { port.courier.waker.clear() }
        for (index, worker) in waited.enumerated() {
            let first = 1 + index * CommandWorker.pollEntryCount
            worker.respond(to: entries[first..<first + CommandWorker.pollEntryCount])
        }
    }
}

extension CommandSupervisor: CommandWorkerDelegate {
    /// Reports the outcome, and schedules a retry of a failed program.
    func commandWorker(_ worker: CommandWorker, didFinish outcome: CommandOutcome) {
        workers.removeAll { $0 === worker }
        // A replay waits for retries, and a missing program is seldom installed during it.
        let isOver = outcome.isSuccess || port.isReplay && outcome.isFinal
        let nextDelay = isOver ? nil : settings.retryDelay(after: worker.job.attempt)
        let delay = port.stop == nil ? nextDelay : nil
        var job = worker.job
        port.report(CommandReport.event(handler: port.name, program, job, outcome, retryDelay: delay))
        let hasEnded = worker.isStuck && !outcome.isStuck
        if let other = workers.compactMap(\.stuckReason).first {
            // The present failure is that of a program that goes on.
            if hasEnded { port.fail(other) }
        } else if hasEnded || outcome.isSuccess {
            port.succeed()
        }
        guard let delay else {
            // The handler's successor gets the event of an interrupted program again.
            port.finish(job.item, isAcknowledged: nextDelay == nil && !outcome.isCutShort)
            return
        }
        job.attempt += 1
        job.dueTime = Units.later(SystemClock.monotonic(), by: Units.nanoseconds(delay))
        // After retries that are due later; equal times keep their order.
        let place = retries.lastIndex { $0.dueTime > job.dueTime }.map { $0 + 1 } ?? 0
        retries.insert(job, at: place)
    }

    /// Reports a program that goes on; it keeps its place, because no more than the limit may run.
    func commandWorker(_ worker: CommandWorker, isStuck reason: String) {
        port.fail(reason)
    }
}
