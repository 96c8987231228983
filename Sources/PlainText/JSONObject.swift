/// A JSON object on one line, with its keys in the order of addition.
///
/// It formats every event that is kept or sent, so it collects bytes: concatenating strings takes five times as long.
package struct JSONObject {
    private var line = [UInt8(ascii: "{")]

    package init() {
        line.reserveCapacity(256)
    }

    /// The object as text.
    package var text: String { String(decoding: line, as: UTF8.self) + "}" }

    /// Adds a text, or null.
    package mutating func add(_ key: String, _ value: String?) {
        begin(key)
        if let value { Self.append(value, to: &line) } else { line += "null".utf8 }
    }

    /// Adds a text under a key that needs quoting.
    package mutating func add(name key: String, _ value: String) {
        if line.count > 1 { line.append(UInt8(ascii: ",")) }
        Self.append(key, to: &line)
        line.append(UInt8(ascii: ":"))
        Self.append(value, to: &line)
    }

    /// Adds a value that is already JSON.
    package mutating func add(_ key: String, raw value: String) {
        begin(key)
        line += value.utf8
    }

    /// Adds an array of values that are already JSON.
    package mutating func add(_ key: String, list values: [String]) {
        add(key, raw: Self.list(values))
    }

    /// An array of values that are already JSON.
    package static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

    private mutating func begin(_ key: String) {
        if line.count > 1 { line.append(UInt8(ascii: ",")) }
        line.append(UInt8(ascii: "\""))
        line += key.utf8
        line += "\":".utf8
    }

    /// A text as a JSON string.
    package static func quoted(_ text: String) -> String {
        var line: [UInt8] = []
        append(text, to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    private static func append(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        defer { line.append(UInt8(ascii: "\"")) }
        // Nearly every text needs no escapes and is copied.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        {
            line += text.utf8
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\"".utf8
            case "\\": line += "\\\\".utf8
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let hex = String(scalar.value, radix: 16)
                line += ("\\u" + String(repeating: "0", count: 4 - hex.count) + hex).utf8
            default: line += String(scalar).utf8
            }
        }
    }
}

/// Formats numbers without Foundation, the same on every machine.
package enum Decimal {
    /// Formats a number with 0 to 9 decimals, rounded half away from zero; `nil` when it is not finite or too large.
    package static func text(_ value: Double, decimals: Int) -> String? {
        let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
        let scaled = (value.magnitude * scales[decimals]).rounded(.toNearestOrAwayFromZero)
        guard scaled < 9e18 else { return nil }
        var rest = UInt64(scaled)
        let isNegative = value < 0 && rest > 0
        // From the last digit to the first; at least one precedes the point.
        var text: [UInt8] = []
        text.reserveCapacity(24)
        for place in 0... {
            if place > decimals && rest == 0 { break }
            if place == decimals && place > 0 { text.append(UInt8(ascii: ".")) }
            text.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        if isNegative { text.append(UInt8(ascii: "-")) }
        text.reverse()
        return String(decoding: text, as: UTF8.self)
    }
}
