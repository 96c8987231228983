package import Binnacle
import CLinux
import Glibc
import LinuxSystem
import PlainText

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
            // It was not reaped, so the number is still its own, even if it has ended by now.
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

    /// Sends a signal to everything in the group; the leader must not have been reaped.
    func signalGroup(_ signal: Int32) {
        // It fails when nothing in the group is ours to signal, and then there is nothing that could be done.
        _ = kill(-identifier, signal)
    }

    /// Reaps the leader; its number means nothing afterwards.
    ///
    /// - Returns: How it ended; `nil` when a debugger still keeps its end to itself.
    func reap() -> CommandOutcome.End? {
        var status: Int32 = 0
        let result = waitpid(identifier, &status, WNOHANG)
        guard result != 0 else { return nil }
        // The process that started us may have set SIGCHLD to be ignored, which discards the exit status of children.
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

/// The variables that a command gets: few of our own, those of its configuration, and what its event says.
///
/// Nothing else is handed on. What a service manager tells this process (`NOTIFY_SOCKET`, `WATCHDOG_USEC`, `LISTEN_FDS`,
/// `CREDENTIALS_DIRECTORY`, `INVOCATION_ID`, `JOURNAL_STREAM`) is about this process, and a command that believed it
/// would speak in its name.
package struct CommandEnvironment: Sendable, Equatable {
    /// The variables of our own that a command gets when they are set.
    package static let inheritedNames = [
        "PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
    ]
    /// Where programs are looked for when we do not know: systemd's own default.
    package static let defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    /// The longest value of a variable that tells of the event.
    ///
    /// A longer one is left out, and is on the standard input alone: the kernel starts no program with a variable of
    /// 128 KiB.
    package static let longestValue = 4096

    private let common: [String: String]

    /// Creates the part that is the same for each event.
    ///
    /// - Parameters:
    ///   - own: What is inherited from, by name.
    ///   - further: The variables of the configuration, which go before those inherited.
    package init(inheriting own: (String) -> String? = Self.ownValue, further: [String: String] = [:]) {
        var common = ["PATH": Self.defaultPath]
        for name in Self.inheritedNames { common[name] = own(name) ?? common[name] }
        common.merge(further) { $1 }
        self.common = common
    }

    /// The variables for an event, each as `NAME=value`, in the order of their names.
    ///
    /// Those of the event go before all others. There is none for what the event does not have.
    package func variables(for event: Event) -> [String] {
        var variables = common
        for (name, value) in EventVariables.all(of: event) where value.utf8.count <= Self.longestValue {
            variables[name] = value
        }
        return variables.map { "\($0.key)=\($0.value)" }.sorted()
    }

    /// A variable of this process.
    package static func ownValue(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// What an event says, as variables: the journal has them as fields, commands in their environment.
package enum EventVariables {
    /// The variables that an event has a value for, in the order of its JSON.
    ///
    /// - Returns: Names in capitals that begin with `BINNACLE_`, such as `BINNACLE_PEAK_G`; the rest of a name is the key
    ///   that the value has in JSON.
    package static func all(of event: Event) -> [(name: String, value: String)] {
        var variables = [("seq", String(event.sequence)), ("kind", event.kind.rawValue)]
        if let detector = event.detector { variables.append(("detector", detector)) }
        if let sensor = event.sensor { variables.append(("sensor", sensor)) }
        variables.append(("time_ns", String(event.timeNanoseconds)))
        if let wall = event.wallNanoseconds { variables.append(("wall_time", WallTime.text(wall))) }
        if event.isSimulated { variables.append(("simulated", "1")) }
        variables += event.figures.map { ($0.name.rawValue, $0.value.description) }
        return variables.map { ("BINNACLE_" + $0.0.uppercased(), $0.1) }
    }
}
