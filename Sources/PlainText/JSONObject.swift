/// A JSON object on one line, its keys in the order in which they were added.
package struct JSONObject {
    private var line = "{"

    package init() {}

    /// The object as text.
    package var text: String { line + "}" }

    /// Adds a text, or null.
    package mutating func add(_ key: String, _ value: String?) {
        begin(key)
        line += value.map(Self.quoted) ?? "null"
    }

    /// Adds a text under a key that may hold anything.
    package mutating func add(name key: String, _ value: String) {
        if line.utf8.count > 1 { line += "," }
        line += Self.quoted(key) + ":" + Self.quoted(value)
    }

    /// Adds what is JSON already.
    package mutating func add(_ key: String, raw value: String) {
        begin(key)
        line += value
    }

    /// Adds an array of what is JSON already.
    package mutating func add(_ key: String, list values: [String]) {
        add(key, raw: "[" + values.joined(separator: ",") + "]")
    }

    private mutating func begin(_ key: String) {
        if line.utf8.count > 1 { line += "," }
        line += "\"\(key)\":"
    }

    /// A text as a JSON string.
    package static func quoted(_ text: String) -> String {
        // Nearly every text is of this kind, and is taken as it is.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        {
            return "\"\(text)\""
        }
        var line = "\""
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
        return line + "\""
    }
}

/// Numbers as text, without Foundation and the same on every machine.
package enum Decimal {
    /// Writes a number with a fixed count of decimals.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - decimals: From 0 to 9.
    /// - Returns: Rounded half away from zero; `nil` when the number is not finite, or too large.
    package static func text(_ value: Double, decimals: Int) -> String? {
        let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
        let scaled = (value.magnitude * scales[decimals]).rounded(.toNearestOrAwayFromZero)
        guard scaled < 9e18 else { return nil }
        let whole = UInt64(scaled)
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(whole) }
        let digits = String(whole)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return "\(sign)\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    }
}
