import CLinux
import Glibc
package import LinuxSystem

/// A program of our session whose standard input is closed when this process ends.
package final class HeldProgram {
    private let input: Descriptor

    /// Starts a program with its arguments; it is searched in `PATH` and inherits the terminal.
    package init(_ words: [String]) throws(SystemError) {
        let output: Descriptor
        (output, input) = try CommandProcess.pipe()
        var identifier: pid_t = 0
        let code = CommandProcess.withCStrings(words) { words in
            clinux_spawn(&identifier, words[0], words, UnsafePointer(clinux_environment()), output.raw, -1)
        }
        guard code == 0 else { throw SystemError(code: code, call: "posix_spawn", path: words.first) }
    }

    /// Writes a text to the program's standard input; data that it does not accept is lost.
    package func send(_ text: String) {
        try? writeAll(Array(text.utf8), to: input.raw)
    }
}
