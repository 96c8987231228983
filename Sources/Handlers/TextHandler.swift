package import Binnacle
package import LinuxSystem
import PlainText

/// Writes each event as one line for people: the time, the kind, the detector or sensor, and the figures.
package final class TextHandler: EventHandler {
    private let writer: LineWriter
    private let prefix: String

    /// Creates a handler whose lines begin with a prefix; the owner of the writer flushes it.
    package init(writer: LineWriter, prefix: String = "") {
        self.writer = writer
        self.prefix = prefix
    }

    /// Writes the event.
    package func handle(_ event: Event) {
        writer.write(prefix + Self.text(event))
    }

    /// The line, without its end; the time is that of the wall clock where it is known, else that of the sample.
    static func text(_ event: Event) -> String {
        let seconds = Figure.Value.number(Double(event.timeNanoseconds) * 1e-9, decimals: 3).description
        let time = event.wallNanoseconds.map { WallTime.text($0) } ?? seconds.padded(before: 10) + " s"
        return time + "  " + words(event)
    }

    /// The line without the time.
    static func words(_ event: Event) -> String {
        var parts = [
            event.kind.rawValue.padded(after: 14), (event.detector ?? event.sensor ?? "").padded(after: 10),
        ]
        parts += event.figures.compactMap(text)
        if event.isSimulated { parts.append("(simulated)") }
        return parts.joined(separator: "  ").trimmingTrailingBlanks().printable
    }

    private static func text(_ figure: Figure) -> String? {
        let name = figure.name.rawValue
        switch figure.name.row.type {
        // The line has a time of its own.
        case .stamp: return nil
        case .number(let unit, decimals: _):
            return "\(name.dropLast(unit.rawValue.count)) \(figure.value)\(unit.symbol)"
        case .integer, .word, .text: return "\(name) \(figure.value)"
        }
    }
}

extension String {
    fileprivate func padded(before width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    fileprivate func padded(after width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    fileprivate func trimmingTrailingBlanks() -> String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}

/// Writes each event as one JSON object on one line.
package final class JSONLinesHandler: EventHandler {
    private let writer: LineWriter

    /// Creates a handler; the owner of the writer flushes it.
    package init(writer: LineWriter) {
        self.writer = writer
    }

    /// Writes the event.
    package func handle(_ event: Event) {
        writer.write(event.json)
    }
}
