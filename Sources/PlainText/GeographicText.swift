/// Parses geographic positions.
package enum GeographicText {
    /// Parses latitude and longitude: `54.32,10.14`, `54.32N 10.14E`, `54°19'N 10°8'E` or `54°19'12"N, 10°8'24"E`.
    ///
    /// With letters the order is free, without them the latitude is first. Returns degrees north and east, whose range is not
    /// checked; `nil` for other texts.
    package static func position(_ text: String) -> (latitude: Double, longitude: Double)? {
        // Blanks may also occur within an angle.
        let parts = text.split { $0 == "," || $0 == ";" || $0.isWhitespace }.map(String.init)
        for split in parts.indices.dropFirst() {
            let first = parts[..<split].joined(separator: " "), second = parts[split...].joined(separator: " ")
            guard let a = angle(first), let b = angle(second) else { continue }
            switch (a.axis, b.axis) {
            case (nil, nil), (.latitude, .longitude): return (a.degrees, b.degrees)
            case (.longitude, .latitude): return (b.degrees, a.degrees)
            default: continue
            }
        }
        return nil
    }

    /// The coordinate of an angle.
    package enum Axis: Sendable {
        case latitude, longitude
    }

    /// Parses an angle: degrees, minutes and seconds, with a sign or a letter for the direction.
    package static func angle(_ text: String) -> (degrees: Double, axis: Axis?)? {
        var rest = text[...]
        var axis: Axis?
        var sign = 1.0
        func consume(_ letter: Character?) -> Bool {
            switch letter {
            case "N", "n": axis = .latitude
            case "S", "s": (axis, sign) = (.latitude, -1)
            case "E", "e": axis = .longitude
            case "W", "w": (axis, sign) = (.longitude, -1)
            default: return false
            }
            return true
        }
        if consume(rest.first) { rest.removeFirst() } else if consume(rest.last) { rest.removeLast() }
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        if rest.first == "-" || rest.first == "−" || rest.first == "+" {
            // A sign and a letter would be two directions.
            guard axis == nil else { return nil }
            if rest.removeFirst() != "+" { sign = -1 }
        }
        guard let degrees = number(&rest) else { return nil }
        var value = degrees.value
        if let mark = rest.first {
            guard "°ºd".contains(mark) else { return nil }
            rest = rest.dropFirst().drop { $0 == " " }
            var scale = 60.0
            for marks in ["'′’m", "\"″”s"] where !rest.isEmpty {
                guard degrees.isWhole, let part = number(&rest), part.value < 60, let mark = rest.popFirst(),
                    marks.contains(mark), part.isWhole || rest.isEmpty
                else { return nil }
                rest = rest.drop { $0 == " " }
                value += part.value / scale
                scale *= 60
            }
        }
        return rest.isEmpty ? (sign * value, axis) : nil
    }

    private static func number(_ text: inout Substring) -> (value: Double, isWhole: Bool)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
        guard let first = digits.first, first.isNumber, let value = Double(digits) else { return nil }
        text = text[digits.endIndex...]
        return (value, !digits.contains("."))
    }
}
