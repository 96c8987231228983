package import Binnacle
import Handlers
package import LinuxSystem
import Station

/// A view of a progress that a person can do something about.
package protocol GuidanceView: ProgressView {
    /// Takes note of what is drawn next.
    ///
    /// - Parameters:
    ///   - picture: Lines that show what has been reached.
    ///   - advice: What a person is to do.
    func guide(picture: [String], advice: String)
}

/// A picture, a bar and a line of advice, drawn over themselves on a terminal.
package final class TerminalGuidanceView: GuidanceView {
    private let descriptor: Int32
    private var picture: [String] = []
    private var advice = ""
    private var drawn = ""
    private var drawnCount = 0

    /// Creates a view on a descriptor that is a terminal.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    package func guide(picture: [String], advice: String) {
        self.picture = picture
        self.advice = advice
    }

    /// Draws everything over itself, when it looks different from before.
    package func draw(fraction: Double?) {
        let lines = picture + [TerminalBar.text(fraction ?? 0), advice]
        // A line that wraps would be two when the cursor goes back up, so the terminal is told to cut it.
        let text = "\u{1B}[?7l" + lines.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[?7h"
        guard text != drawn else { return }
        TerminalBar.put(back + text, on: descriptor)
        drawn = text
        drawnCount = lines.count
    }

    /// Clears all its lines.
    package func clear() {
        TerminalBar.put(back, on: descriptor)
        drawn = ""
        drawnCount = 0
    }

    private var back: String { drawnCount == 0 ? "" : "\r\u{1B}[\(drawnCount)A\u{1B}[J" }
}

/// Advice as lines of text, where there is no terminal: a line when there is something else to do.
package final class LineGuidanceView: GuidanceView {
    private let writer: LineWriter
    private var advice = ""
    private var written = ""

    /// Creates a view that writes lines.
    package init(writer: LineWriter) {
        self.writer = writer
    }

    package func guide(picture: [String], advice: String) {
        self.advice = advice
    }

    package func draw(fraction: Double?) {
        guard advice != written else { return }
        written = advice
        writer.write("binnacle: \(advice)")
        writer.flush()
    }

    package func clear() {}
}
