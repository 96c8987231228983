package import Binnacle
import CLinux
import Glibc
package import LinuxSystem

/// Runs programs in our own session: with our environment, working directory, output and terminal.
package struct SessionCommand {
    private let interruptDescriptor: Int32
    private let signal: () -> Int32

    /// Creates a runner; `descriptor` is readable after this process got a terminating signal, which is forwarded to the program.
    package init(interruptDescriptor descriptor: Int32, signal: @escaping () -> Int32) {
        interruptDescriptor = descriptor
        self.signal = signal
    }

    /// Whether a program exists that we may run, by path or by the name of a file in a folder of `PATH`.
    package static func exists(_ name: String) -> Bool {
        guard !name.contains("/") else { return isProgram(name) }
        let path = CommandEnvironment.ownValue("PATH") ?? CommandEnvironment.defaultPath
        return path.split(separator: ":", omittingEmptySubsequences: false).contains { folder in
            isProgram((folder.isEmpty ? "." : folder) + "/" + name)
        }
    }

    /// Runs a program with its arguments and waits for its end, also after a signal.
    ///
    /// It is searched in `PATH`, and gets the event's values as variables and `json` on its standard input.
    package func run(_ words: [String], for event: Event, json: String) throws(SystemError) -> ProgramEnd {
        // Our parent may have set SIGCHLD to be ignored, which discards the exit status of children.
        clinux_keep_ends()
        let input = try Self.file(json + "\n")
        var identifier: pid_t = 0
        let code = CommandProcess.withCStrings(words) { words in
            CommandProcess.withCStrings(Self.variables(for: event)) { variables in
                clinux_spawn(&identifier, words[0], words, variables, input.raw, -1)
            }
        }
        guard code == 0 else { throw SystemError(code: code, call: "posix_spawn", path: words.first) }
        waitForEnd(of: identifier)
        var status: Int32 = 0
        try systemCall("waitpid", path: words.first) { waitpid(identifier, &status, 0) }
        return ProgramEnd(waitStatus: status)
    }

    /// Whether a file is executable; X_OK alone also holds for folders.
    private static func isProgram(_ path: String) -> Bool {
        access(path, X_OK) == 0 && access(path + "/", F_OK) != 0
    }

    /// Waits for the end of a child, and forwards a signal that arrives before.
    private func waitForEnd(of child: pid_t) {
        let raw = clinux_pidfd_open(child)
        guard raw >= 0 else { return }
        let end = Descriptor(owning: raw)
        var entries = [
            pollfd(fd: end.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruptDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        while entries[0].revents == 0 {
            guard waitOnce(for: &entries, milliseconds: -1), entries[1].revents != 0 else { continue }
            let signal = signal()
            if signal != SIGINT || !Self.hasTerminal { kill(child, signal) }
            // The descriptor stays readable.
            entries[1].fd = -1
            entries[1].revents = 0
        }
    }

    /// Whether Ctrl-C on the terminal reaches the program directly.
    private static var hasTerminal: Bool {
        guard let terminal = try? Descriptor(path: "/dev/tty", flags: O_RDWR | O_NOCTTY) else { return false }
        return tcgetpgrp(terminal.raw) == getpgrp()
    }

    /// An anonymous file: unlike a pipe, it needs no thread that writes.
    private static func file(_ text: String) throws(SystemError) -> Descriptor {
        let file = Descriptor(owning: try systemCall("memfd_create") { clinux_memory_file("event") })
        try writeAll(Array(text.utf8), to: file.raw)
        try systemCall("lseek") { lseek(file.raw, 0, SEEK_SET) }
        return file
    }

    /// Our environment, with the event's variables in place of those of an outer event.
    private static func variables(for event: Event) -> [String] {
        var variables: [String] = []
        var place = clinux_environment()
        while let entry = place?.pointee {
            let variable = String(cString: entry)
            if !variable.hasPrefix("BINNACLE_") { variables.append(variable) }
            place = place?.successor()
        }
        return variables + EventVariables.short(of: event).map { "\($0.name)=\($0.value)" }
    }
}
