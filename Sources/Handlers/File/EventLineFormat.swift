package import Binnacle
import PlainText

/// What a line of a file says of an event.
package enum EventLineFormat: String, Sendable, CaseIterable {
    case json
    /// A point of InfluxDB's line protocol: https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/
    case influx

    /// What each line begins with.
    package var lineStart: [UInt8] { Array((self == .json ? "{\"seq\":" : "\(Self.measurement),kind=").utf8) }

    package func line(_ event: Event) -> [UInt8] {
        self == .json ? Array(event.json.utf8) : Array(Self.point(event).utf8)
    }

    /// Whether a line that lacks its end is whole otherwise; a point is whose time stamp has all digits of the years from 2001 to 2286.
    func isWhole(_ line: [UInt8]) -> Bool {
        guard self == .influx else { return (try? JSONReader.value(of: line)) != nil }
        // The time stamp stands behind a space that is neither escaped nor in the quotes of a field.
        var (isQuoted, isEscaped, hasSpace) = (false, false, false)
        var stamp: ArraySlice<UInt8> = []
        for (index, byte) in line.enumerated() {
            if byte == UInt8(ascii: "\""), !isEscaped, hasSpace { isQuoted.toggle() }
            if byte == UInt8(ascii: " "), !isEscaped, !isQuoted { (hasSpace, stamp) = (true, line[(index + 1)...]) }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return hasSpace && !isQuoted && stamp.count == 19 && stamp.allSatisfy(\.isDigit)
    }

    private static let measurement = "binnacle"

    /// The figures that name what an event is about: points that differ in nothing but these stay two points.
    private static let tags: Set<Figure.Name> = [.sector, .channel, .handler]

    private static func point(_ event: Event) -> String {
        var point = measurement
        func tag(_ key: String, _ value: String?) {
            if let value, !value.isEmpty { point += ",\(key)=\(tagged(value))" }
        }
        tag("kind", event.kind.rawValue)
        tag("detector", event.detector)
        tag("sensor", event.sensor)
        for figure in event.figures where tags.contains(figure.name) { tag(figure.name.rawValue, "\(figure.value)") }
        point += " seq=\(event.sequence)i"
        if let identity = event.identity { point += ",identity=\(quoted(identity))" }
        if event.isSimulated { point += ",simulated=true" }
        for figure in event.figures where !tags.contains(figure.name) {
            let value: String
            switch figure.value {
            // The protocol has no numbers that are none.
            case .number(let number, let decimals):
                guard let text = Decimal.text(number, decimals: decimals) else { continue }
                value = text
            case .integer(let number):
                // A number without decimals is read from the store as a whole one.
                if case .number = figure.name.row.type { value = "\(number)" } else { value = "\(number)i" }
            case .word, .text: value = quoted("\(figure.value)")
            }
            point += ",\(figure.name.rawValue)=\(value)"
        }
        // The time of the event's JSON, which the store keeps: a point that is written again replaces the first in the database.
        let wall = event.wallNanoseconds.map { WallTime.nanoseconds(WallTime.text($0)) ?? $0 }
        return point + " \(wall ?? event.timeNanoseconds)"
    }

    /// A tag's value: a comma, an equals sign and a space have a backslash before them.
    ///
    /// A line break cannot stand in one, and becomes a space; behind a backslash at the end stands one, which would else be before
    /// the comma.
    private static func tagged(_ text: String) -> String {
        let value = replacing(text) { isControl($0) ? "\\ " : [",", "=", " "].contains($0) ? "\\\($0)" : nil }
        return text.hasSuffix("\\") ? value + "\\ " : value
    }

    /// A field's text in double quotes; a line break is `\n` in it, because a point is one line of the file.
    private static func quoted(_ text: String) -> String {
        let value = replacing(text) { scalar in
            if ["\"", "\\"].contains(scalar) { return "\\\(scalar)" }
            return scalar == "\n" ? "\\\\n" : isControl(scalar) ? " " : nil
        }
        return "\"\(value)\""
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7f }

    private static func replacing(_ text: String, by other: (Unicode.Scalar) -> String?) -> String {
        text.unicodeScalars.reduce(into: "") { $0 += other($1) ?? String($1) }
    }
}
