package import Binnacle
package import LinuxSystem
import PlainText

/// Writes each event as a line of text: the time, the kind, the detector or sensor, and the figures.
package final class TextHandler: EventHandler {
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
    private var text = EventText()

    /// Creates a handler whose lines begin with a prefix; the owner of the writer flushes it.
    package init(writer: LineWriter, prefix: String = "", style: Style = Style()) {
        self.writer = writer
        self.prefix = prefix
        self.style = style
    }

    package func handle(_ event: Event) {
        text.removeAll()
        text.add(prefix)
        text.addTime(of: event, isLocal: style.isLocal)
        text.endPart()
        text.add(event, isTable: true)
        // A line has no more characters than bytes.
        guard let columns = style.columns, text.line.count > columns,
            String(decoding: text.line, as: UTF8.self).count > columns
        else { return writer.write(text.line) }
        for line in text.lines(columns) { writer.write(line) }
    }

    /// The line without the time; the kind and the origin are in columns when `isTable` is true.
    package static func words(_ event: Event, isTable: Bool = true) -> String {
        var text = EventText()
        text.add(event, isTable: isTable)
        return String(decoding: text.line, as: UTF8.self)
    }
}

/// The parts of a line about an event, as bytes: formatting strings would take most of the time of a replay.
private struct EventText {
    /// Each part with two spaces behind it.
    private var bytes: [UInt8] = []
    /// The end of each part in ``bytes``.
    private var ends: [Int] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    mutating func add(_ text: String) { bytes.append(text) }

    mutating func endPart() {
        ends.append(bytes.count)
        bytes.append(Self.gap)
    }

    private static let gap = "  "

    /// The wall clock time, or else the time of the sample.
    mutating func addTime(of event: Event, isLocal: Bool) {
        if let time = event.wallNanoseconds {
            bytes.append(isLocal ? LocalTime.text(time) : WallTime.text(time))
            return
        }
        let start = bytes.count
        if !Decimal.append(Double(event.timeNanoseconds) * 1e-9, decimals: 3, to: &bytes) { bytes.append("null") }
        let missing = 10 - (bytes.count - start)
        if missing > 0 { bytes.insert(contentsOf: repeatElement(UInt8(ascii: " "), count: missing), at: start) }
        bytes.append(" s")
    }

    /// Adds the kind, the detector or sensor, and the figures.
    mutating func add(_ event: Event, isTable: Bool) {
        add(event.kind.rawValue, width: isTable ? 14 : 0)
        let origin = event.detector ?? event.sensor ?? ""
        if isTable || !origin.isEmpty { add(origin, width: isTable ? 10 : 0) }
        for figure in event.figures where figure.append(to: &bytes) { endPart() }
        if event.isSimulated { add("(simulated)", width: 0) }
    }

    private mutating func add(_ part: String, width: Int) {
        bytes.append(part)
        let count = width > 0 ? part.count : 0
        if count < width { bytes += repeatElement(UInt8(ascii: " "), count: width - count) }
        endPart()
    }

    /// All parts as one line.
    var line: [UInt8] { line(of: ends.indices) }

    private func line(of parts: Range<Int>, indented: Bool = false) -> [UInt8] {
        let start = parts.lowerBound == 0 ? 0 : ends[parts.lowerBound - 1] + Self.gap.utf8.count
        var end = ends[parts.upperBound - 1]
        while end > start, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        var line = indented ? Array((Self.gap + Self.gap).utf8) + bytes[start..<end] : Array(bytes[start..<end])
        line.makePrintable()
        return line
    }

    /// The parts as lines, broken only between parts.
    func lines(_ columns: Int) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var start = 0
        // The first line has at least the time and the kind.
        for part in ends.indices where part - start > (start == 0 ? 1 : 0) {
            let longer = line(of: start..<part + 1, indented: start > 0)
            guard String(decoding: longer, as: UTF8.self).count > columns else { continue }
            lines.append(line(of: start..<part, indented: start > 0))
            start = part
        }
        lines.append(line(of: start..<ends.count, indented: start > 0))
        return lines
    }
}

/// Writes each event as one JSON object on one line.
package final class JSONLinesHandler: EventHandler {
    private let writer: LineWriter
    /// The text before the event's own keys.
    private let start: ArraySlice<UInt8>?
    private var object = JSONObject()

    /// Creates a handler whose lines name the recording, if given; the owner of the writer flushes it.
    package init(writer: LineWriter, recording: String? = nil) {
        self.writer = writer
        start = recording.map { Array("{\"recording\":\(JSONObject.quoted($0)),".utf8)[...] }
    }

    package func handle(_ event: Event) {
        object.removeAll()
        event.add(to: &object)
        writer.write(start.map { $0 + object.bytes.dropFirst() } ?? object.bytes)
    }
}
