package import Foundation
import Testing

/// A child process, started with posix_spawn and waited for with waitpid.
///
/// Foundation's own class waits in a run loop, and with many children on many threads it now and then misses the end
/// of one and waits for ever.
package final class Child {
    package enum Reason { case exit, signal }

    package let arguments: [String]
    package var environment: [String: String]?
    package var folder: String?
    /// Where its input comes from; nowhere without one.
    package var standardInput: FileHandle?
    /// Where its output goes; nowhere without one.
    package var standardOutput: FileHandle?
    /// Where its messages go; nowhere without one.
    package var standardError: FileHandle?

    package private(set) var processIdentifier: pid_t = 0
    package private(set) var terminationStatus: Int32 = 0
    package private(set) var terminationReason = Reason.exit
    private var isEnded = false

    /// - Parameter arguments: The program's path and its arguments.
    package init(_ arguments: [String]) {
        self.arguments = arguments
    }

    package func run() throws {
        // With a folder, env changes to it and becomes the program; the process stays the same.
        let words = (folder.map { ["/usr/bin/env", "-C", $0] } ?? []) + arguments
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (handle, place) in [(standardInput, Int32(0)), (standardOutput, 1), (standardError, 2)] {
            if let handle {
                posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, place)
            } else {
                posix_spawn_file_actions_addopen(&actions, place, "/dev/null", place == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        // The threads that tests run on have signals blocked, which a program would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // A pipe of another test that the child held would not end. The testing library opens its own without O_CLOEXEC.
        try Self.closeFrom(&actions, 3)
        var variables = ProcessInfo.processInfo.environment
        if let environment { variables.merge(environment) { $1 } }
        let program = words[0]
        let code = withCStrings(words) { words in
            withCStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawnp(&processIdentifier, program, &actions, &attributes, words, variables)
            }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
    }

    /// posix_spawn_file_actions_addclosefrom_np(3), which Swift does not see in glibc's header.
    private static func closeFrom(_ actions: inout posix_spawn_file_actions_t, _ descriptor: Int32) throws {
        typealias Function = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        let symbol = try #require(dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"))
        // Sound: glibc has declared it with these arguments since 2.34.
        #expect(unsafeBitCast(symbol, to: Function.self)(&actions, descriptor) == 0)
    }

    /// Whether a process, also a child of another process, has ended or is a zombie.
    package static func isGone(_ process: pid_t) -> Bool {
        do {
            try waitUntil("the end of process \(process)") { [nil, "Z"].contains(state("/proc/\(process)")) }
            return true
        } catch {
            return false
        }
    }

    /// The state of a process or a thread, as one letter; `nil` when there is none.
    private static func state(_ folder: String) -> Substring? {
        let text = try? String(contentsOfFile: folder + "/stat", encoding: .utf8)
        return text?.split(separator: ")").last?.split(separator: " ").first
    }

    /// Stops the process, and waits until all its threads have stopped; SIGCONT has it go on.
    package func freeze() throws {
        kill(processIdentifier, SIGSTOP)
        let folder = "/proc/\(processIdentifier)/task"
        try waitUntil("all threads to stop") {
            try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy {
                Self.state(folder + "/" + $0) == "T"
            }
        }
    }

    package var isRunning: Bool { !hasEnded(WNOHANG) }

    package func waitUntilExit() {
        _ = hasEnded(0)
    }

    /// Kills it when it still runs, and reaps it: a zombie would keep a caller busy that waits for any child.
    package func end() {
        guard processIdentifier > 0, isRunning else { return }
        kill(processIdentifier, SIGKILL)
        waitUntilExit()
    }

    private func hasEnded(_ options: Int32) -> Bool {
        guard !isEnded else { return true }
        var status: Int32 = 0
        while true {
            let result = waitpid(processIdentifier, &status, options)
            if result == 0 { return false }
            if result > 0 || errno != EINTR { break }
        }
        isEnded = true
        let signal = status & 0x7F
        terminationReason = signal == 0 ? .exit : .signal
        terminationStatus = signal == 0 ? status >> 8 & 0xFF : signal
        return true
    }
}

/// Calls a function with a NULL-terminated array of C strings, which live as long as the call.
private func withCStrings<Result>(
    _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(&pointers)
}
