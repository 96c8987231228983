import Binnacle
import Glibc
import LinuxSystem

/// Told by a worker when its program is over.
protocol CommandWorkerDelegate: AnyObject {
    /// Tells the delegate what became of the program.
    ///
    /// Called once for each worker, on the supervisor's thread: from within `start(in:)` when the program cannot be run,
    /// otherwise when its leader was reaped and its group was killed. Nothing of the worker is open by then.
    func commandWorker(_ worker: CommandWorker, didFinish outcome: CommandOutcome)
}

/// Runs one program from its start to its end, and tells its delegate.
///
/// It never waits: its owner waits for its descriptors and its deadline, and calls it. The program is over when its
/// leader is over. What the leader leaves in its group is killed then; only a program that was asked to end may have its
/// group tidy up behind it, for the rest of the time it was given and while somebody holds its output.
///
/// What leaves the group, with `setsid` for instance, is out of reach. Under systemd it stays in the service's own group
/// and ends with it; what is meant to live on is started with `systemd-run`.
final class CommandWorker {
    /// Told of the end; held weakly.
    weak var delegate: (any CommandWorkerDelegate)?
    /// What is run.
    let job: CommandJob
    /// When ``checkDeadline(now:)`` wants to be called, on the monotonic clock; `nil` when there is nothing to do but
    /// wait for the descriptors.
    private(set) var deadline: Int64?

    private enum Phase {
        case running
        /// SIGTERM was sent.
        case asked
        /// SIGKILL was sent.
        case killed
    }

    private let settings: CommandSettings
    private var process: CommandProcess?
    private var phase = Phase.running
    private var hasLeaderEnded = false
    private var interruption: CommandOutcome.Interruption?
    private var startTime: Int64 = 0
    private var pendingInput: ArraySlice<UInt8> = []
    private var tail: OutputTail

    /// How much is read at a time, so that a flood does not delay the others.
    private static let readSize = 65_536
    /// The most that is read of what a pipe still holds at the end: as much as the kernel lets a user's pipe hold.
    ///
    /// A process that got out of the group may write for ever.
    private static let longestRest = 1 << 20
    /// How long to wait for a debugger to let go of an end.
    private static let reapDelay: Int64 = 10_000_000

    /// Creates a worker that has not started yet.
    init(job: CommandJob, settings: CommandSettings) {
        self.job = job
        self.settings = settings
        tail = OutputTail(limit: settings.outputLimit)
    }

    /// Starts the program; when it cannot be run, the delegate is told before this returns.
    func start(in environment: CommandEnvironment) {
        startTime = SystemClock.monotonic()
        do throws(SystemError) {
            process = try CommandProcess(
                [job.program] + job.arguments, variables: environment.variables(for: job.event))
        } catch {
            finish(.notStarted(reason: Self.reason(error)))
            return
        }
        deadline = Units.later(startTime, by: Units.nanoseconds(settings.timeout))
        pendingInput = Array((job.event.json + "\n").utf8)[...]
        write()
    }

    /// The number of entries of ``appendPollEntries(to:)``.
    static let pollEntryCount = 3

    /// Adds what it waits for: its leader's end, output, and room for its input.
    func appendPollEntries(to entries: inout [pollfd]) {
        // poll(2) passes over what is negative.
        let end = hasLeaderEnded ? -1 : process?.end.raw ?? -1
        entries.append(pollfd(fd: end, events: Int16(POLLIN), revents: 0))
        entries.append(pollfd(fd: process?.output?.raw ?? -1, events: Int16(POLLIN), revents: 0))
        entries.append(pollfd(fd: process?.input?.raw ?? -1, events: Int16(POLLOUT), revents: 0))
    }

    /// Does what its entries say that can be done.
    func respond(to entries: ArraySlice<pollfd>) {
        let first = entries.startIndex
        if entries[first + 2].revents != 0 { write() }
        if entries[first + 1].revents != 0 { _ = read() }
        if entries[first].revents != 0 { hasLeaderEnded = true }
        guard hasLeaderEnded else { return }
        // The leader has obeyed; somebody else is still about it.
        if phase == .asked, process?.output != nil { return }
        conclude()
    }

    /// Does what has come due.
    func checkDeadline(now: Int64) {
        guard let deadline, deadline <= now else { return }
        if hasLeaderEnded {
            conclude()
        } else if phase == .running {
            ask(.timeout(settings.timeout), now: now)
        } else {
            kill()
        }
    }

    /// Asks the program to end, unless that was done before.
    func ask(_ interruption: CommandOutcome.Interruption, now: Int64) {
        guard phase == .running else { return }
        phase = .asked
        self.interruption = interruption
        deadline = Units.later(now, by: Units.nanoseconds(settings.killDelay))
        process?.signalGroup(SIGTERM)
        // A stopped process takes no note of the first signal before it goes on.
        process?.signalGroup(SIGCONT)
    }

    /// Ends the program and all of its group, unless that was done before; it must have been asked.
    func kill() {
        guard phase == .asked else { return }
        phase = .killed
        deadline = nil
        if hasLeaderEnded { conclude() } else { process?.signalGroup(SIGKILL) }
    }

    /// Gives up waiting for a program that the kernel cannot end; the delegate is told.
    func abandon() {
        finish(.unknown)
    }

    /// Ends what the leader left behind, and takes note of the leader's end.
    private func conclude() {
        guard let process else { return }
        process.signalGroup(SIGKILL)
        var rest = Self.longestRest
        while rest > 0, let count = read() { rest -= count }
        guard let end = process.reap() else {
            deadline = Units.later(SystemClock.monotonic(), by: Self.reapDelay)
            return
        }
        finish(end)
    }

    private func finish(_ end: CommandOutcome.End) {
        process = nil
        deadline = nil
        let duration = SystemClock.monotonic() - startTime
        delegate?.commandWorker(
            self,
            didFinish: CommandOutcome(
                end: end, interruption: interruption, durationNanoseconds: duration, output: tail.text,
                outputByteCount: tail.byteCount))
    }

    /// Writes what its input takes at once, and closes it behind the last byte, or when the program has closed its end.
    private func write() {
        guard let input = process?.input else { return }
        // A reader that is gone is an error here, and no signal: this thread has all signals blocked.
        let count = pendingInput.withUnsafeBytes { Glibc.write(input.raw, $0.baseAddress, $0.count) }
        if count >= 0 {
            pendingInput.removeFirst(count)
        } else if errno == EAGAIN || errno == EINTR {
            return
        } else {
            pendingInput = []
        }
        if pendingInput.isEmpty {
            process?.input = nil
            pendingInput = []
        }
    }

    /// Reads a piece of its output.
    ///
    /// - Returns: Its size; `nil` when there is nothing, for now or for ever.
    private func read() -> Int? {
        guard let output = process?.output else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 1) { buffer in
            let count = Glibc.read(output.raw, buffer.baseAddress, buffer.count)
            guard count > 0 else {
                if count == 0 || (errno != EAGAIN && errno != EINTR) { process?.output = nil }
                return nil
            }
            tail.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return count
        }
    }

    /// What a person can do something with: the system's words leave out what it looked for in vain.
    private static func reason(_ error: SystemError) -> String {
        guard let program = error.path else { return "\(error)" }
        switch error.code {
        case ENOEXEC: return "\(error.reason): neither a program nor a script that begins with #!"
        case ENOENT where access(program, F_OK) == 0:
            return "\(error.reason): the interpreter that it names is missing"
        case EACCES where access(program + "/", F_OK) == 0: return "\(error.reason): it is a directory"
        case E2BIG: return "\(error.reason): an argument is longer than the system allows"
        default: return error.reason
        }
    }
}
