import CLinux
import Glibc
import LinuxSystem

/// A program that was started, with the ends of its pipes: the leader of a session and of a process group of its own.
///
/// The leader is not reaped before everything is done to its group, because until then, and no longer, its number is
/// sure to mean this group and no other.
struct CommandProcess {
    /// The number of the leader, of its session and of its group.
    let identifier: pid_t
    /// Readable once the leader has ended.
    let end: Descriptor
    /// Where its standard input is written, without ever waiting; `nil` closes it.
    var input: Descriptor?
    /// Where its standard output and standard error are read, without ever waiting; `nil` closes it.
    var output: Descriptor?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The program's absolute path and its arguments.
    ///   - variables: Its whole environment, each as `NAME=value`.
    /// - Throws: ``SystemError`` when the system does not let it start.
    init(_ words: [String], variables: [String]) throws(SystemError) {
        let (inputEnd, input) = try Self.pipe()
        let (output, outputEnd) = try Self.pipe()
        // Only our own ends: the flag belongs to the open file, and a program does not expect it.
        for own in [input, output] {
            try systemCall("fcntl") { fcntl(own.raw, F_SETFL, O_NONBLOCK) }
        }
        var identifier: pid_t = 0
        let program = words.first ?? ""
        // The program's ends are closed here behind the call, and not before it.
        let code = withExtendedLifetime((inputEnd, outputEnd)) {
            Self.withCStrings(words) { words in
                Self.withCStrings(variables) { variables in
                    clinux_spawn(&identifier, program, words, variables, inputEnd.raw, outputEnd.raw)
                }
            }
        }
        guard code == 0 else { throw SystemError(code: code, call: "posix_spawn", path: program) }
        self.identifier = identifier
        self.input = input
        self.output = output
        do {
            // Nobody has reaped it, so the number is still its own, even if it has ended by now.
            let leader = identifier
            end = Descriptor(owning: try systemCall("pidfd_open") { clinux_pidfd_open(leader) })
        } catch {
            // Without it nothing would tell of the end. A process that was killed ends by itself; it is waited for.
            kill(-identifier, SIGKILL)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            throw error
        }
    }

    /// Sends a signal to everything in the group; nobody may have reaped the leader.
    func signalGroup(_ signal: Int32) {
        // It fails when nothing in the group is ours to signal, and then there is nothing that could be done.
        _ = kill(-identifier, signal)
    }

    /// Takes note of the leader's end; its number means nothing afterwards.
    ///
    /// - Returns: How it ended; `nil` when a debugger still keeps its end to itself.
    func reap() -> CommandOutcome.End? {
        var status: Int32 = 0
        let result = waitpid(identifier, &status, WNOHANG)
        guard result != 0 else { return nil }
        // Whoever started us may have had the ends of children thrown away.
        guard result == identifier else { return .unknown }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status: status >> 8 & 0xFF) : .signalled(number: signal)
    }

    private static func pipe() throws(SystemError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        try systemCall("pipe2") { clinux_pipe(&ends) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// Calls a function with a NULL-terminated array of C strings, which live as long as the call.
    static func withCStrings<Result>(
        _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        // A C string ends at its first NUL: what comes behind it must not vanish without a trace.
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { word in
            strdup(word.utf8.contains(0) ? String(word.map { $0 == "\0" ? "\u{FFFD}" : $0 }) : word)
        }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
