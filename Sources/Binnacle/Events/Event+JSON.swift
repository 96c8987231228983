extension Event {
    /// The event as one JSON object on one line, without the line's end.
    ///
    /// The keys stand in a fixed order: `seq`, `kind`, `detector`, `sensor`, `time_ns`, then the figures in theirs.
    /// The same event always gives the same bytes.
    public var json: String {
        var line = "{\"seq\":\(sequence),\"kind\":\"\(kind.rawValue)\",\"detector\":"
        Event.append(detector, to: &line)
        line += ",\"sensor\":"
        Event.append(sensor, to: &line)
        line += ",\"time_ns\":\(timeNanoseconds)"
        for figure in figures {
            line += ",\"\(figure.name.rawValue)\":"
            if case .text(let text) = figure.value {
                Event.append(text, to: &line)
            } else {
                line += figure.value.description
            }
        }
        line += "}"
        return line
    }

    private static func append(_ text: String?, to line: inout String) {
        guard let text else {
            line += "null"
            return
        }
        line += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let hex = String(scalar.value, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: line.unicodeScalars.append(scalar)
            }
        }
        line += "\""
    }
}
