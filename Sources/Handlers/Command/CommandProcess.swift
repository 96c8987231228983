package import Binnacle
import CLinux
import Glibc
import LinuxSystem
import PlainText

/// A running program, with its pipes: the leader of its own session and process group.
///
/// The leader is reaped last: only until then is its process ID sure to mean this group.
struct CommandProcess {
    /// The ID of the leader, its session and its group.
    let identifier: pid_t
    private let groups: CommandGroups
    /// A pidfd: readable once the leader has ended.
    let end: Descriptor
    /// The pipe to standard input, non-blocking; `nil` closes it.
    var input: Descriptor?
    /// The pipe from standard output and standard error, non-blocking; `nil` closes it.
    var output: Descriptor?

    /// Starts a program: its absolute path and arguments, and its whole environment as `NAME=value`.
    init(_ words: [String], variables: [String], in groups: CommandGroups) throws(SystemError) {
        let (inputEnd, input) = try Self.pipe()
        let (output, outputEnd) = try Self.pipe()
        // Only our ends: a program does not expect O_NONBLOCK on its standard streams.
        for own in [input, output] {
            try systemCall("fcntl") { fcntl(own.raw, F_SETFL, O_NONBLOCK) }
        }
        var identifier: pid_t = 0
        let program = words.first ?? ""
        // The program's ends are closed after the call.
        let code = withExtendedLifetime((inputEnd, outputEnd)) {
            Self.withCStrings(words) { words in
                Self.withCStrings(variables) { variables in
                    clinux_spawn(&identifier, program, words, variables, inputEnd.raw, outputEnd.raw)
                }
            }
        }
        guard code == 0 else { throw SystemError(code: code, call: "posix_spawn", path: program) }
        self.identifier = identifier
        self.groups = groups
        groups.add(identifier)
        self.input = input
        self.output = output
        let leader = identifier
        do {
            // The leader was not reaped, so its ID is still valid.
            end = Descriptor(owning: try systemCall("pidfd_open") { clinux_pidfd_open(leader) })
        } catch {
            // Without a pidfd the end would not be reported.
            kill(-identifier, SIGKILL)
            var status: Int32 = 0
            _ = groups.reap(leader) { waitpid(leader, &status, 0) }
            throw error
        }
    }

    /// Sends a signal to everything in the group; the leader must not have been reaped.
    ///
    /// Returns 0, or the error number when the group has no process that we may signal.
    @discardableResult func signalGroup(_ signal: Int32) -> Int32 {
        let (result, code) = withErrno { kill(-identifier, signal) }
        return result == 0 ? 0 : code
    }

    /// Reaps the leader, after which its ID is invalid; `nil` while a debugger delays its end.
    func reap() -> CommandOutcome.End? {
        var status: Int32 = 0
        let result = groups.reap(identifier) { waitpid(identifier, &status, WNOHANG) }
        guard result != 0 else { return nil }
        // Our parent may have set SIGCHLD to be ignored, which discards the exit status of children.
        guard result == identifier else { return .unknown }
        return .ended(ProgramEnd(waitStatus: status))
    }

    static func pipe() throws(SystemError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        try systemCall("pipe2") { clinux_pipe(&ends) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// Calls a function with a NULL-terminated array of C strings, which are valid during the call.
    static func withCStrings<Result>(
        _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        // A C string ends at its first NUL; a text with one must not be truncated silently.
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { word in
            strdup(word.utf8.contains(0) ? String(word.map { $0 == "\0" ? "\u{FFFD}" : $0 }) : word)
        }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}

/// The variables of a command: a few of this process, those of its configuration, and the event's values.
///
/// Nothing else is inherited: the service manager's variables (`NOTIFY_SOCKET`, `WATCHDOG_USEC`, `LISTEN_FDS`,
/// `CREDENTIALS_DIRECTORY`, `INVOCATION_ID`, `JOURNAL_STREAM`) are for this process, and a command could act in its name with
/// them.
package struct CommandEnvironment {
    private static let inheritedNames = [
        "PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
    ]
    /// The default of `PATH`, that of systemd.
    static let defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    private let common: [String: String]

    /// Creates the part that is the same for all events; the configuration's variables replace inherited ones.
    package init(inheriting own: (String) -> String? = Self.ownValue, further: [String: String] = [:]) {
        var common = ["PATH": Self.defaultPath]
        for name in Self.inheritedNames { common[name] = own(name) ?? common[name] }
        common.merge(further) { $1 }
        self.common = common
    }

    /// The variables for an event as `NAME=value`, sorted; those of the event replace all others.
    package func variables(for event: Event) -> [String] {
        let variables = common.merging(EventVariables.short(of: event)) { $1 }
        return variables.map { "\($0.key)=\($0.value)" }.sorted()
    }

    package static func ownValue(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

/// An event's values as variables: fields in the journal, the environment of commands.
enum EventVariables {
    /// The maximum size of a value in the environment, in bytes; longer values are only on standard input.
    ///
    /// The kernel starts no program with a variable of 128 KiB.
    private static let longestValue = 4096

    /// The variables that fit into the environment.
    static func short(of event: Event) -> [(name: String, value: String)] {
        all(of: event).filter { $0.value.utf8.count <= longestValue }
    }

    /// All values in the order of the event's JSON, with names such as `BINNACLE_PEAK_G` for the key `peak_g`.
    static func all(of event: Event) -> [(name: String, value: String)] {
        var variables = [("seq", String(event.sequence)), ("kind", event.kind.rawValue)]
        if let detector = event.detector { variables.append(("detector", detector)) }
        if let sensor = event.sensor { variables.append(("sensor", sensor)) }
        variables.append(("time_ns", String(event.timeNanoseconds)))
        if let wall = event.wallNanoseconds { variables.append(("wall_time", WallTime.text(wall))) }
        if event.isSimulated { variables.append(("simulated", "1")) }
        if let identity = event.identity { variables.append(("identity", identity)) }
        variables += event.figures.map { ($0.name.rawValue, $0.value.description) }
        return variables.map { ("BINNACLE_" + $0.0.uppercased(), $0.1) }
    }
}
