import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// The kinds of event, with a line for each.
enum KindList {
    private static let column = 22

    static func write(_ output: LineWriter) {
        // A line for each kind where there is no terminal: for other programs.
        let width = Terminal.columns(of: STDOUT_FILENO) ?? .max
        for kind in EventKind.allCases {
            let name = kind.rawValue
            let first = name + String(repeating: " ", count: max(1, column - name.count))
            for line in WrappedText.lines(kind.text, width: width, first: first, indent: column) {
                output.write(line)
            }
        }
    }
}
