import Binnacle
import Glibc
import LinuxSystem

/// Gives jobs to workers, is told when each is done, and tells what became of them.
///
/// It lives on a thread of its own, with its workers: it is created there, and nobody else ever sees it. What others
/// want of it they leave in its ``CommandQueue``. While nothing runs and nothing waits, it sleeps without end.
final class CommandSupervisor {
    private struct Retry {
        let job: CommandJob
        let dueTime: Int64
    }

    private let name: String
    private let settings: CommandSettings
    private let environment: CommandEnvironment
    private let queue: CommandQueue
    private let report: @Sendable (Event) -> Void
    private let acknowledge: @Sendable (_ ticket: Int64) -> Void
    private var workers: [CommandWorker] = []
    /// The next one is the last.
    private var retries: [Retry] = []
    private var nextDropReport: Int64 = .min
    private var entries: [pollfd] = []

    /// The least time between two reports of dropped events.
    private static let dropReportInterval: Int64 = 1_000_000_000

    /// Creates a supervisor without work.
    ///
    /// - Parameters:
    ///   - name: The handler's name, for the reports.
    ///   - settings: The limits.
    ///   - environment: What the programs get as their environment.
    ///   - queue: Where jobs come from.
    ///   - report: Told of every end and of dropped events, on the supervisor's thread; nothing goes on before it returns.
    ///   - acknowledge: Told of each delivery whose program has ended for good.
    init(
        name: String, settings: CommandSettings, environment: CommandEnvironment, queue: CommandQueue,
        report: @escaping @Sendable (Event) -> Void, acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) {
        self.name = name
        self.settings = settings
        self.environment = environment
        self.queue = queue
        self.report = report
        self.acknowledge = acknowledge
    }

    /// The most jobs that wait or run: a job on its way to a program that is free does not wait.
    static func capacity(_ settings: CommandSettings) -> Int {
        settings.queueLimit + settings.concurrentLimit
    }

    /// Works until it is told to stop.
    func run() {
        while true {
            let now = SystemClock.monotonic()
            for worker in workers { worker.checkDeadline(now: now) }
            tellDrops(now)
            let stop = queue.stop
            if let stop, isAtEnd(stop, now) { break }
            startJobs(now)
            wait(until: deadline(stop, now), now)
        }
        for worker in workers { worker.abandon() }
        tellDrops(.max)
        let unrun = queue.abandonJobs()
        if unrun.count > 0 {
            report(CommandReport.dropped(unrun, handler: name, reason: queue.stop?.reason ?? ""))
        }
        queue.end()
    }

    /// Does what is due of a stop.
    ///
    /// - Returns: Whether nothing is left, or no time.
    private func isAtEnd(_ stop: CommandStop, _ now: Int64) -> Bool {
        // Another attempt would come too late.
        queue.abandonTaken(retries.map(\.job))
        retries.removeAll()
        if now >= stop.askTime {
            queue.abandonJobs()
            for worker in workers { worker.ask(.stop(reason: stop.reason), now: now) }
        }
        if now >= stop.killTime {
            for worker in workers { worker.kill() }
        }
        return now >= stop.endTime || (workers.isEmpty && !queue.hasJobs)
    }

    private var hasFreeWorker: Bool { workers.count < max(1, settings.concurrentLimit) }

    /// Starts what can be started: first what was tried before.
    private func startJobs(_ now: Int64) {
        // Not more at a time than can run, so that programs that cannot be started keep nobody waiting.
        for _ in 0..<max(1, settings.concurrentLimit) where hasFreeWorker {
            if let retry = retries.last, retry.dueTime <= now {
                retries.removeLast()
                start(retry.job)
            } else if let job = queue.take() {
                start(job)
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
    private func deadline(_ stop: CommandStop?, _ now: Int64) -> Int64? {
        if hasFreeWorker, queue.hasJobs { return now }
        var times = workers.compactMap(\.deadline)
        if hasFreeWorker, let retry = retries.last { times.append(retry.dueTime) }
        if queue.hasDrops { times.append(nextDropReport) }
        if let time = stop?.nextTime(after: now) { times.append(time) }
        return times.min()
    }

    private func wait(until deadline: Int64?, _ now: Int64) {
        entries.removeAll(keepingCapacity: true)
        entries.append(pollfd(fd: queue.waker.descriptor, events: Int16(POLLIN), revents: 0))
        let waited = workers
        for worker in waited { worker.appendPollEntries(to: &entries) }
        let milliseconds = deadline.map { SystemClock.milliseconds(until: $0, from: now) }
        guard poll(&entries, nfds_t(entries.count), milliseconds ?? -1) > 0 else { return }
        if entries[0].revents != 0 { queue.waker.clear() }
        for (index, worker) in waited.enumerated() {
            let first = 1 + index * CommandWorker.pollEntryCount
            worker.respond(to: entries[first..<first + CommandWorker.pollEntryCount])
        }
    }

    /// Tells of dropped events: at once, and then not more often than once a second.
    private func tellDrops(_ now: Int64) {
        guard now >= nextDropReport, queue.hasDrops else { return }
        nextDropReport = Units.later(now, by: Self.dropReportInterval)
        report(
            CommandReport.dropped(
                queue.takeDrops(), handler: name, reason: "\(settings.queueLimit) events wait for the command already"))
    }
}

extension CommandSupervisor: CommandWorkerDelegate {
    /// Tells what became of a program, and has it tried again when it failed and may be.
    func commandWorker(_ worker: CommandWorker, didFinish outcome: CommandOutcome) {
        workers.removeAll { $0 === worker }
        let nextDelay = outcome.isSuccess ? nil : settings.retryDelay(after: worker.job.attempt)
        let delay = queue.stop == nil ? nextDelay : nil
        report(CommandReport.event(handler: name, job: worker.job, outcome: outcome, retryDelay: delay))
        guard let delay else {
            queue.giveBack()
            // What a stop has cut short is begun again by whoever comes after it. Told last, because another delivery may
            // follow at once, and has to find room.
            if let ticket = worker.job.ticket, nextDelay == nil, !outcome.isCutShort { acknowledge(ticket) }
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
