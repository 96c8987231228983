import CLinux
import Glibc
package import LinuxSystem

/// A program of our own session whose standard input ends when this process does.
package final class HeldProgram {
    private let input: Descriptor

    /// Starts a program with its arguments; it is searched in `PATH`, and has our terminal.
    package init(_ words: [String]) throws(SystemError) {
        let output: Descriptor
        (output, input) = try CommandProcess.pipe()
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
