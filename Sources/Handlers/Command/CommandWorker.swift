import Binnacle
import Glibc
import LinuxSystem

protocol CommandWorkerDelegate: AnyObject {
    /// Receives the outcome of the program.
    ///
    /// Called once per worker, on the supervisor's thread: from within ``CommandWorker/start(_:in:)`` when the program cannot be
    /// run, otherwise after its group was killed, its leader was reaped and all descriptors were closed.
    func commandWorker(_ worker: CommandWorker, didFinish outcome: CommandOutcome)

    /// Receives that the program goes on after SIGKILL; its end follows when it ends.
    func commandWorker(_ worker: CommandWorker, isStuck reason: String)
}

/// Runs one program from its start to its end.
///
/// It never waits: its owner waits for its descriptors and its deadline. The program ends with its leader; processes that remain
/// in the group are killed then. Only after SIGTERM may the group finish its work, for the rest of the time and while one of its
/// processes keeps the output open.
///
/// A process that leaves the group, for instance by `setsid`, cannot be reached. Under systemd it stays in the service's cgroup
/// and ends with it; use `systemd-run` for a process that should outlive the service.
final class CommandWorker {
    weak var delegate: (any CommandWorkerDelegate)?
    let job: CommandJob
    /// The time of the next ``checkDeadline(now:)``, on CLOCK_MONOTONIC; `nil` for none.
    private(set) var deadline: Int64?
    /// Why the program goes on after SIGKILL, once that was reported.
    private(set) var stuckReason: String?
    var isStuck: Bool { stuckReason != nil }

    private enum Phase {
        case running
        case terminating
        case killed
    }

    private let settings: CommandSettings
    private let groups: CommandGroups
    private var process: CommandProcess?
    private var phase = Phase.running
    private var hasLeaderEnded = false
    private var interruption: CommandOutcome.Interruption?
    private var startTime: Int64 = 0
    private var pendingInput: ArraySlice<UInt8> = []
    private var tail: OutputTail

    /// The size of one read, limited so that a flood of output does not delay other programs.
    private static let readSize = 65_536
    /// The maximum that is read after the end: the size of the largest pipe, because a process outside the group may write
    /// without end.
    private static let longestRest = 1 << 20
    /// The interval of waitpid(2) while a debugger delays the end.
    private static let reapDelay: Int64 = 10_000_000
    /// The time from SIGKILL to the report that the program goes on.
    private static let endDelay: Int64 = 5_000_000_000

    init(_ job: CommandJob, _ settings: CommandSettings, in groups: CommandGroups) {
        self.job = job
        self.settings = settings
        self.groups = groups
        tail = OutputTail(limit: settings.outputLimit)
    }

    /// Starts the program with its arguments; calls the delegate at once when it cannot be run.
    func start(_ words: [String], in environment: CommandEnvironment) {
        startTime = SystemClock.monotonic()
        do throws(SystemError) {
            process = try CommandProcess(words, variables: environment.variables(for: job.event), in: groups)
        } catch {
            let passing = [EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY, EIO, EINTR]
            finish(.notStarted(reason: Self.reason(error), isFinal: !passing.contains(error.code)))
            return
        }
        deadline = Units.later(startTime, by: Units.nanoseconds(settings.timeout))
        pendingInput = Array((job.event.json + "\n").utf8)[...]
        write()
    }

    static let pollEntryCount = 3

    /// Adds ``pollEntryCount`` entries: the leader's end, the output, and the input if it is writable.
    func appendPollEntries(to entries: inout [pollfd]) {
        // poll(2) ignores negative descriptors.
        let end = hasLeaderEnded ? -1 : process?.end.raw ?? -1
        entries.append(pollfd(fd: end, events: Int16(POLLIN), revents: 0))
        entries.append(pollfd(fd: process?.output?.raw ?? -1, events: Int16(POLLIN), revents: 0))
        entries.append(pollfd(fd: process?.input?.raw ?? -1, events: Int16(POLLOUT), revents: 0))
    }

    func respond(to entries: ArraySlice<pollfd>) {
        let first = entries.startIndex
        if entries[first + 2].revents != 0 { write() }
        if entries[first + 1].revents != 0 { _ = read() }
        if entries[first].revents != 0 { hasLeaderEnded = true }
        guard hasLeaderEnded else { return }
        // The leader has ended, and another process of the group still holds the output.
        if phase == .terminating, process?.output != nil { return }
        conclude()
    }

    func checkDeadline(now: Int64) {
        guard let deadline, deadline <= now else { return }
        guard !hasLeaderEnded else { return conclude() }
        switch phase {
        case .running: terminate(.timeout(settings.timeout), now: now)
        case .terminating: kill()
        case .killed: reportStuck()
        }
    }

    /// Sends SIGTERM, once.
    func terminate(_ interruption: CommandOutcome.Interruption, now: Int64) {
        guard phase == .running else { return }
        phase = .terminating
        self.interruption = interruption
        deadline = Units.later(now, by: Units.nanoseconds(settings.killDelay))
        process?.signalGroup(SIGTERM)
        // A stopped process handles SIGTERM only after SIGCONT.
        process?.signalGroup(SIGCONT)
    }

    /// Sends SIGKILL after ``terminate(_:now:)``, once.
    func kill() {
        guard phase == .terminating else { return }
        phase = .killed
        deadline = nil
        guard !hasLeaderEnded, let process else { return conclude() }
        // What we may not signal, such as a program of sudo, need not be waited for; it may have ended just now.
        let delay = process.signalGroup(SIGKILL) == 0 ? Self.endDelay : Self.reapDelay
        deadline = Units.later(SystemClock.monotonic(), by: delay)
    }

    private func reportStuck() {
        deadline = nil
        guard let process else { return }
        let reason = Self.reason(process, "could not be ended")
        stuckReason = reason
        delegate?.commandWorker(self, isStuck: reason)
    }

    /// Why a program goes on after SIGKILL.
    private static func reason(_ process: CommandProcess, _ verb: String) -> String {
        let code = process.signalGroup(SIGKILL)
        let reason = code == 0 ? "it does not end after SIGKILL" : SystemError(code: code, call: "kill").reason
        return "process \(process.identifier) \(verb): \(reason)"
    }

    /// Kills the program and finishes, also if it goes on: one that is not known to do so is waited for no longer than a second.
    func abandon() {
        guard let process else { return }
        process.signalGroup(SIGKILL)
        var end = [pollfd(fd: process.end.raw, events: Int16(POLLIN), revents: 0)]
        _ = waitOnce(for: &end, milliseconds: isStuck ? 0 : 1000)
        conclude()
        if self.process != nil { finish(.stuck(reason: Self.reason(process, "is left behind"))) }
    }

    /// Kills the rest of the leader's group, and reaps the leader.
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
        delegate?.commandWorker(self, didFinish: outcome(end))
    }

    private func outcome(_ end: CommandOutcome.End) -> CommandOutcome {
        let duration = SystemClock.monotonic() - startTime
        return CommandOutcome(
            end: end, interruption: interruption, durationNanoseconds: duration, output: tail.text)
    }

    /// Writes as much as the input accepts, and closes it after the last byte, or when the program has closed its end.
    private func write() {
        guard let input = process?.input else { return }
        // EPIPE comes without SIGPIPE: this thread blocks all signals.
        do throws(SystemError) {
            let count = try systemCallOnce("write") {
                pendingInput.withUnsafeBytes { Glibc.write(input.raw, $0.baseAddress, $0.count) }
            }
            pendingInput.removeFirst(count ?? 0)
        } catch {
            pendingInput = []
        }
        if pendingInput.isEmpty {
            process?.input = nil
            pendingInput = []
        }
    }

    /// Reads a piece of the output; returns its size, or `nil` without data or at the end.
    private func read() -> Int? {
        guard let output = process?.output else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 1) { buffer in
            do throws(SystemError) {
                guard
                    let count = try systemCallOnce(
                        "read", { Glibc.read(output.raw, buffer.baseAddress, buffer.count) })
                else { return nil }
                guard count > 0 else { throw SystemError(code: 0, call: "read") }
                tail.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return count
            } catch {
                process?.output = nil
                return nil
            }
        }
    }

    /// The system's error, with the likely cause.
    private static func reason(_ error: SystemError) -> String {
        guard let program = error.path else { return "\(error)" }
        switch error.code {
        case ENOEXEC: return "\(error.reason): neither a program nor a script that begins with #!"
        case ENOENT where access(program, F_OK) == 0:
            return "\(error.reason): the interpreter that it names is missing"
        case EACCES where access(program + "/", F_OK) == 0: return "\(error.reason): it is a directory"
        case E2BIG: return "\(error.reason): an argument is longer than the system allows"
        case ENOENT, EACCES:
            let hidden = ["/home", "/root", "/run/user"].first { program.hasPrefix($0 + "/") && access($0, X_OK) != 0 }
            guard let hidden else { return error.reason }
            return error.reason
                + ": this process cannot look into \(hidden), as a service may not; /usr/local/bin is for such programs"
        default: return error.reason
        }
    }
}
