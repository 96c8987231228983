import Binnacle
import LinuxSystem
import Synchronization

/// What the thread of the events and the thread of a supervisor share: the jobs that wait, and the word to stop.
final class CommandQueue: Sendable {
    /// Events that there was no room for, and that nobody has been told of.
    struct Drops: Sendable, Equatable {
        /// How many.
        var count = 0
        /// Whether one of them is of a simulated sensor.
        var isSimulated = false
        /// Whether their wall time is known.
        var isLive = false

        fileprivate mutating func add(_ event: Event) {
            count += 1
            isSimulated = isSimulated || event.isSimulated
            isLive = isLive || event.wallNanoseconds != nil
        }
    }

    private struct State {
        var jobs = JobList()
        /// Jobs that were taken and are not over: those that run, and those that wait for another attempt.
        var takenCount = 0
        var drops = Drops()
        var stop: CommandStop?
        /// Those that a stop left no time for.
        var unrun = Drops()
        var isEnded = false

        /// Counts a job as not run, unless its event is kept for another time.
        mutating func leave(_ job: CommandJob) {
            if job.ticket == nil { unrun.add(job.event) }
        }
    }

    /// Wakes the supervisor.
    let waker: Waker

    private let idleWaker: Waker
    private let limit: Int
    private let state = Mutex(State())

    /// Creates an empty queue.
    ///
    /// - Parameter limit: The most jobs that wait or run.
    /// - Throws: ``SystemError`` when the system has no descriptor left.
    init(limit: Int) throws(SystemError) {
        waker = try Waker()
        idleWaker = try Waker()
        self.limit = limit
    }

    // MARK: The thread of the events

    /// Adds a job, or drops and counts it when there is no room; it never waits.
    func submit(_ job: CommandJob) {
        let isNews = state.withLock { state in
            guard state.stop == nil, !state.isEnded else {
                state.leave(job)
                return false
            }
            guard state.jobs.count + state.takenCount < limit else {
                state.drops.add(job.event)
                // Of the others it knows, and when it has to tell of them.
                return state.drops.count == 1
            }
            state.jobs.append(job)
            return true
        }
        if isNews { waker.wake() }
    }

    /// Tells the supervisor to stop, or to stop earlier; jobs that come later are not run.
    func requestStop(_ stop: CommandStop) {
        state.withLock { state in
            if stop.killTime < state.stop?.killTime ?? .max { state.stop = stop }
        }
        waker.wake()
    }

    /// Whether no job waits or runs.
    var isIdle: Bool {
        state.withLock { $0.isEnded || ($0.jobs.isEmpty && $0.takenCount == 0) }
    }

    /// How many jobs wait, run, or are to be tried again.
    var unfinishedCount: Int {
        state.withLock { $0.jobs.count + $0.takenCount }
    }

    /// How many jobs a stop left no time for; `nil` before the supervisor's end.
    var unrunCount: Int? {
        state.withLock { $0.isEnded ? $0.unrun.count : nil }
    }

    /// Waits until the queue may be idle, or the supervisor at its end, or for the end of a time; for one thread.
    func waitForChange(timeoutMilliseconds: Int32) {
        idleWaker.wait(timeoutMilliseconds: timeoutMilliseconds)
    }

    // MARK: The supervisor's thread

    /// Whether a job waits.
    var hasJobs: Bool { state.withLock { !$0.jobs.isEmpty } }

    /// Takes the job that has waited longest; ``giveBack(_:)`` says when it is over.
    func take() -> CommandJob? {
        state.withLock { state in
            let job = state.jobs.popFirst()
            if job != nil { state.takenCount += 1 }
            return job
        }
    }

    /// Takes note that jobs are over.
    func giveBack(_ count: Int = 1) {
        let isIdle = state.withLock { state in
            state.takenCount -= count
            return state.takenCount == 0 && state.jobs.isEmpty
        }
        if isIdle { idleWaker.wake() }
    }

    /// The word to stop.
    var stop: CommandStop? { state.withLock { $0.stop } }

    /// Whether events were dropped that nobody was told of.
    var hasDrops: Bool { state.withLock { $0.drops.count > 0 } }

    /// Takes the count of the dropped events, which starts anew.
    func takeDrops() -> Drops {
        state.withLock { state in
            defer { state.drops = Drops() }
            return state.drops
        }
    }

    /// Counts the jobs that wait as not run.
    ///
    /// - Returns: All that were not run so far.
    @discardableResult
    func abandonJobs() -> Drops {
        state.withLock { state in
            while let job = state.jobs.popFirst() { state.leave(job) }
            return state.unrun
        }
    }

    /// Counts jobs that were taken as not run, and takes note that they are over.
    func abandonTaken(_ jobs: [CommandJob]) {
        guard !jobs.isEmpty else { return }
        state.withLock { state in
            for job in jobs { state.leave(job) }
        }
        giveBack(jobs.count)
    }

    /// Takes note that the supervisor has ended.
    func end() {
        state.withLock { $0.isEnded = true }
        idleWaker.wake()
    }
}
