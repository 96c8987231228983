package import Binnacle
import CLinux
import Glibc
package import LinuxSystem

/// Runs programs that take part in our own session: with our environment, directory, output and terminal.
package struct SessionProgram {
    /// How a program ended.
    package enum End: Sendable, Equatable {
        /// By itself, with an exit status.
        case exited(status: Int32)
        /// By a signal.
        case signalled(number: Int32)

        /// What a shell makes of it.
        package var shellStatus: Int32 {
            switch self {
            case .exited(let status): status
            case .signalled(let number): 128 + number
            }
        }

        /// What went wrong, in words; `nil` when nothing did.
        package var failure: String? {
            switch self {
            case .exited(0): nil
            case .exited(let status): "exit status \(status)"
            case .signalled(let number): "ended by signal \(number)"
            }
        }
    }

    /// What ends us, while a program runs.
    package struct Interrupt {
        /// Readable once a signal has come.
        package let descriptor: Int32
        /// The signal that has come; the program gets it, too.
        package let signal: () -> Int32

        /// Creates an interrupt.
        package init(descriptor: Int32, signal: @escaping () -> Int32) {
            self.descriptor = descriptor
            self.signal = signal
        }
    }

    private let interrupt: Interrupt

    /// Creates a runner.
    ///
    /// - Parameter interrupt: What ends us.
    package init(interrupt: Interrupt) {
        self.interrupt = interrupt
    }

    /// Finds a program as a shell does.
    ///
    /// - Parameter name: A path, or the name of a file in a folder of `PATH`.
    /// - Returns: Whether there is such a program that we may run.
    package static func exists(_ name: String) -> Bool {
        guard !name.contains("/") else { return isProgram(name) }
        let path = CommandEnvironment.ownValue("PATH") ?? CommandEnvironment.defaultPath
        return path.split(separator: ":", omittingEmptySubsequences: false).contains { folder in
            isProgram((folder.isEmpty ? "." : folder) + "/" + name)
        }
    }

    /// Runs a program for an event and waits for its end, also when a signal ends us meanwhile.
    ///
    /// - Parameters:
    ///   - words: The program, which is looked for in `PATH`, and its arguments.
    ///   - event: The event, which the program gets in variables.
    ///   - json: The event's line, which it gets on its standard input.
    /// - Returns: How it ended.
    /// - Throws: ``SystemError`` when the program cannot be run.
    package func run(_ words: [String], for event: Event, json: String) throws(SystemError) -> End {
        // The process that started us may have set SIGCHLD to be ignored, which discards the exit status of children.
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
        let signal = status & 0x7F
        return signal == 0 ? .exited(status: status >> 8 & 0xFF) : .signalled(number: signal)
    }

    /// Whether a file can be run: access(2) alone says so of folders, too.
    private static func isProgram(_ path: String) -> Bool {
        access(path, X_OK) == 0 && access(path + "/", F_OK) != 0
    }

    /// Waits until a child has ended, and hands on a signal that comes before.
    private func waitForEnd(of child: pid_t) {
        let raw = clinux_pidfd_open(child)
        guard raw >= 0 else { return }
        let end = Descriptor(owning: raw)
        var entries = [
            pollfd(fd: end.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interrupt.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while entries[0].revents == 0 {
            guard poll(&entries, 2, -1) > 0, entries[1].revents != 0 else { continue }
            let signal = interrupt.signal()
            if signal != SIGINT || !Self.hasTerminal { kill(child, signal) }
            // It stays readable.
            entries[1].fd = -1
            entries[1].revents = 0
        }
    }

    /// Whether Ctrl-C on our terminal reaches the program without us.
    private static var hasTerminal: Bool {
        guard let terminal = try? Descriptor(path: "/dev/tty", flags: O_RDWR | O_NOCTTY) else { return false }
        return tcgetpgrp(terminal.raw) == getpgrp()
    }

    /// A file in no folder, which is read from its beginning: no thread has to feed a pipe.
    private static func file(_ text: String) throws(SystemError) -> Descriptor {
        let file = Descriptor(owning: try systemCall("memfd_create") { clinux_memory_file("event") })
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = try systemCall("write") { bytes.withUnsafeBytes { write(file.raw, $0.baseAddress, $0.count) } }
            bytes.removeFirst(count)
        }
        try systemCall("lseek") { lseek(file.raw, 0, SEEK_SET) }
        return file
    }

    /// Our environment, with what the event says in place of what another event has said.
    private static func variables(for event: Event) -> [String] {
        var variables: [String] = []
        var place = clinux_environment()
        while let entry = place?.pointee {
            let variable = String(cString: entry)
            if !variable.hasPrefix("BINNACLE_") { variables.append(variable) }
            place = place?.successor()
        }
        for (name, value) in EventVariables.all(of: event)
        where value.utf8.count <= CommandEnvironment.longestValue {
            variables.append("\(name)=\(value)")
        }
        return variables
    }
}
