import CLinux
import Glibc
package import LinuxSystem

/// A program of our own session whose standard input ends when this process does.
package final class HeldProgram {
    private let input: Descriptor

    /// Starts a program, which is searched in `PATH`, and has our terminal.
    ///
    /// - Parameter words: The program and its arguments.
    /// - Throws: ``SystemError`` when it cannot be started.
    package init(_ words: [String]) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try systemCall("pipe2") { clinux_pipe(&ends) }
        let output = Descriptor(owning: ends[0])
        input = Descriptor(owning: ends[1])
        var identifier: pid_t = 0
        let code = CommandProcess.withCStrings(words) { words in
            clinux_spawn(&identifier, words[0], words, UnsafePointer(clinux_environment()), output.raw, -1)
        }
        guard code == 0 else { throw SystemError(code: code, call: "posix_spawn", path: words.first) }
    }

    /// Writes a text to the program's standard input; what it does not take is lost.
    package func send(_ text: String) {
        try? writeAll(Array(text.utf8), to: input.raw)
    }
}
