import Binnacle
import Glibc

/// A progress bar on one line of a terminal.
package final class TerminalProgressView: ProgressView {
    private let descriptor: Int32
    private let label: String
    private var drawn = ""
    private static let width = 30

    /// Creates a view on a descriptor that is a terminal.
    package init(descriptor: Int32, label: String) {
        self.descriptor = descriptor
        self.label = label
    }

    /// Draws the bar over itself, when it looks different from before.
    package func draw(fraction: Double?) {
        let bar: String
        if let fraction {
            let filled = Int(fraction * Double(Self.width))
            bar =
                "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: Self.width - filled)
                + "] \(Int(fraction * 100)) %"
        } else {
            bar = "…"
        }
        let line = "\r\(label) \(bar)\u{1B}[K"
        guard line != drawn else { return }
        drawn = line
        put(line)
    }

    /// Clears the line.
    package func clear() {
        drawn = ""
        put("\r\u{1B}[K")
    }

    /// A terminal that takes no more text costs the picture, not the work.
    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
