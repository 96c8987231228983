package import Binnacle
package import LinuxSystem
import PlainText

/// Writes each event as a line of text: the time, the kind, the detector or sensor, and the figures.
package final class TextHandler: EventHandler {
    /// The style of lines.
    package struct Style: Sendable {
        /// Whether times are local instead of UTC.
        package var isLocal = false
        /// The width of the terminal, at which lines are broken; `nil` never breaks them.
        package var columns: Int?

        /// Times in UTC, in lines of any length.
        package init() {}
    }

    private let writer: LineWriter
    private let prefix: String
    private let style: Style

    /// Creates a handler whose lines begin with a prefix; the owner of the writer flushes it.
    package init(writer: LineWriter, prefix: String = "", style: Style = Style()) {
        self.writer = writer
        self.prefix = prefix
        self.style = style
    }

    /// Writes the event.
    package func handle(_ event: Event) {
        let parts = [prefix + Self.time(of: event, isLocal: style.isLocal)] + Self.parts(event)
        let line = Self.line(parts)
        guard let columns = style.columns, line.count > columns else { return writer.write(line) }
        for line in Self.lines(parts, columns) { writer.write(line) }
    }

    /// The wall clock time, or else the time of the sample.
    private static func time(of event: Event, isLocal: Bool) -> String {
        if let time = event.wallNanoseconds { return isLocal ? LocalTime.text(time) : WallTime.text(time) }
        let seconds = Figure.Value.number(Double(event.timeNanoseconds) * 1e-9, decimals: 3).description
        return seconds.padded(before: 10) + " s"
    }

    /// The line without the time; the kind and the origin are in columns when `isTable` is true.
    package static func words(_ event: Event, isTable: Bool = true) -> String { line(parts(event, isTable: isTable)) }

    /// Kind, detector or sensor, and figures.
    private static func parts(_ event: Event, isTable: Bool = true) -> [String] {
        let origin = event.detector ?? event.sensor ?? ""
        var parts = [event.kind.rawValue, origin]
        if isTable {
            parts = [event.kind.rawValue.padded(after: 14), origin.padded(after: 10)]
        } else if origin.isEmpty {
            parts.removeLast()
        }
        parts += event.figures.compactMap(\.text)
        if event.isSimulated { parts.append("(simulated)") }
        return parts
    }

    private static func line(_ parts: [String]) -> String {
        parts.joined(separator: "  ").trimmingTrailingBlanks().printable
    }

    /// The parts as lines, broken only between parts.
    private static func lines(_ parts: [String], _ columns: Int) -> [String] {
        var lines: [[String]] = [[]]
        for part in parts {
            let line = line(lines[lines.count - 1] + [part])
            if line.count > columns, lines[lines.count - 1].count > 1 { lines.append(["  "]) }
            lines[lines.count - 1].append(part)
        }
        return lines.map(line)
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
    /// The text before the event's own keys.
    private let start: String?

    /// Creates a handler whose lines name the recording, if given; the owner of the writer flushes it.
    package init(writer: LineWriter, recording: String? = nil) {
        self.writer = writer
        start = recording.map { "{\"recording\":\(JSONObject.quoted($0))," }
    }

    /// Writes the event.
    package func handle(_ event: Event) {
        writer.write(start.map { $0 + event.json.dropFirst() } ?? event.json)
    }
}
