package import Binnacle
import PlainText
package import LinuxSystem
import Station

/// A progress view with an instruction and a picture.
package protocol GuidanceView: ProgressView {
    /// Sets the contents of the next drawing.
    func guide(picture: [String], advice: String)
}

/// Draws a picture, a bar and an instruction in place on a terminal.
package final class TerminalGuidanceView: GuidanceView {
    private let descriptor: Int32
    private var picture: [String] = []
    private var advice = ""
    private var drawn = ""
    private var drawnCount = 0

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    package func guide(picture: [String], advice: String) {
        self.picture = picture
        self.advice = advice
    }

    /// Redraws everything if it has changed.
    package func draw(fraction: Double?) {
        let width = max(20, (Terminal.columns(of: descriptor) ?? 80) - 1)
        let lines = picture + [TerminalBar.text(fraction ?? 0)] + WrappedText.lines(advice, width: width)
        // Disables wrapping, because a wrapped line would count as two when the cursor moves up.
        let text = "\u{1B}[?7l" + lines.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[?7h"
        guard text != drawn else { return }
        TerminalBar.put(back + text, on: descriptor)
        drawn = text
        drawnCount = lines.count
    }

    package func clear() {
        TerminalBar.put(back, on: descriptor)
        drawn = ""
        drawnCount = 0
    }

    private var back: String { drawnCount == 0 ? "" : "\r\u{1B}[\(drawnCount)A\u{1B}[J" }
}

/// Writes each new instruction as a line, for output that is not a terminal.
package final class LineGuidanceView: GuidanceView {
    private let writer: LineWriter
    private var advice = ""
    private var written = ""

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
