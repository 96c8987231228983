import Binnacle

/// A progress bar on one line of a terminal.
package final class TerminalProgressView: ProgressView {
    private let descriptor: Int32
    private let label: String
    private var drawn = ""

    /// Creates a view on a descriptor that is a terminal.
    package init(descriptor: Int32, label: String) {
        self.descriptor = descriptor
        self.label = label
    }

    /// Draws the bar over itself, when it looks different from before.
    package func draw(fraction: Double?) {
        let line = "\r\(label) \(fraction.map(TerminalBar.text) ?? "…")\u{1B}[K"
        guard line != drawn else { return }
        drawn = line
        TerminalBar.put(line, on: descriptor)
    }

    /// Clears the line.
    package func clear() {
        drawn = ""
        TerminalBar.put("\r\u{1B}[K", on: descriptor)
    }
}
