import Binnacle

/// A progress bar on one line of a terminal.
package final class TerminalProgressView: ProgressView {
    private let descriptor: Int32
    private let label: String
    private var drawn = ""
    private var detail = ""

    package init(descriptor: Int32, label: String) {
        self.descriptor = descriptor
        self.label = label
    }

    /// Redraws the line if it has changed.
    package func draw(fraction: Double?) {
        // Without detail and fraction, "…" shows activity.
        let words = [fraction.map(TerminalBar.text), detail.isEmpty ? nil : detail].compactMap { $0 }
        let line = "\r\(label) \(words.isEmpty ? "…" : words.joined(separator: "  "))\u{1B}[K"
        guard line != drawn else { return }
        drawn = line
        TerminalBar.put(line, on: descriptor)
    }

    package func describe(_ detail: () -> String) { self.detail = detail() }

    package func clear() {
        drawn = ""
        TerminalBar.put("\r\u{1B}[K", on: descriptor)
    }
}
