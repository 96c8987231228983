public import Binnacle
import Glibc
import LinuxSystem

/// Runs a program for each event, one after the other, and waits for each: the way of a replay, which has no clock
/// to miss.
///
/// There is no shell in between. The program gets the event as one JSON line on its standard input, a small
/// environment, and the standard error of this process as its output. It runs in a process group of its own, which is
/// killed as a whole when it takes too long.
public final class CommandHandler: EventHandler {
    private let name: String
    private let program: String
    private let arguments: (Event) -> [String]
    private let log: LineWriter
    private let timeout: Duration
    private let willRun: () -> Void
    private let isCancelled: () -> Bool

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - name: What messages call it.
    ///   - program: An absolute path.
    ///   - arguments: The arguments after the program's own name, for an event.
    ///   - log: Where it is said that a program could not run, failed, or took too long.
    ///   - timeout: The longest a program may take.
    ///   - willRun: Called before each run, so that what was written about the event can be seen by then.
    ///   - isCancelled: Asked while a program runs; `true` kills it, and runs no other.
    public init(
        name: String, program: String, arguments: @escaping (Event) -> [String], log: LineWriter,
        timeout: Duration = .seconds(10), willRun: @escaping () -> Void = {},
        isCancelled: @escaping () -> Bool = { false }
    ) {
        self.name = name
        self.program = program
        self.arguments = arguments
        self.log = log
        self.timeout = timeout
        self.willRun = willRun
        self.isCancelled = isCancelled
    }

    /// Runs the program and waits for its end.
    public func handle(_ event: Event) {
        guard !isCancelled() else { return }
        willRun()
        var input: [Int32] = [-1, -1]
        guard pipe(&input) == 0 else {
            complain("no pipe for its input: \(SystemError(code: errno, call: "pipe").reason)")
            return
        }
        // The program gets a copy of the reading end as its standard input, and neither of these two.
        for end in input { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let result = spawn([program] + arguments(event), input: input[0])
        close(input[0])
        guard case .success(let process) = result else {
            if case .failure(let error) = result { complain("cannot be run: \(error.reason)") }
            close(input[1])
            return
        }
        // An event is far smaller than a pipe's buffer, so this never waits for the program to read.
        let line = Array((event.json + "\n").utf8)
        _ = write(input[1], line, line.count)
        close(input[1])
        wait(for: process)
    }

    private func spawn(_ words: [String], input: Int32) -> Result<pid_t, SystemError> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program starts with the signals as everybody expects them, whatever this process ignores.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGINT, SIGTERM] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        let environment = ["PATH", "HOME", "LANG"].compactMap { (name: String) -> String? in
            getenv(name).map { name + "=" + String(cString: $0) }
        }
        let code = Self.withCStrings(words) { arguments in
            Self.withCStrings(environment) { environment in
                posix_spawn(&process, program, &actions, &attributes, arguments, environment)
            }
        }
        return code == 0 ? .success(process) : .failure(SystemError(code: code, call: "posix_spawn"))
    }

    private func wait(for process: pid_t) {
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var status: Int32 = 0
        var pause: Int = 200_000
        while true {
            let ended = waitpid(process, &status, WNOHANG)
            if ended == process { break }
            guard ended == 0 || errno == EINTR else {
                // Whoever started this process has its children's ends thrown away.
                complain("its end is not known: \(SystemError(code: errno, call: "waitpid").reason)")
                return
            }
            if isCancelled() || clock.now >= deadline {
                kill(-process, SIGKILL)
                waitpid(process, &status, 0)
                complain(isCancelled() ? "killed, because the replay was cancelled" : "killed after \(timeout)")
                return
            }
            var time = timespec(tv_sec: 0, tv_nsec: pause)
            nanosleep(&time, nil)
            pause = min(pause * 2, 20_000_000)
        }
        let signal = status & 0x7F
        if signal != 0 {
            complain("ended by signal \(signal)")
        } else if status >> 8 & 0xFF != 0 {
            complain("exit status \(status >> 8 & 0xFF)")
        }
    }

    private func complain(_ text: String) {
        log.write("\(name): \(program): \(text)")
    }

    /// Calls a function with a NULL-terminated array of C strings, which live as long as the call.
    private static func withCStrings<Result>(
        _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
