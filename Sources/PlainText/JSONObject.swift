/// A JSON object on one line, with its keys in the order of addition.
///
/// It formats every event that is kept or sent, so it collects bytes: concatenating strings takes five times as long.
package struct JSONObject {
    private var line = [UInt8(ascii: "{")]

    package init() {
        line.reserveCapacity(256)
    }

    /// Begins an object in the memory of a buffer, which gets it back by ``end(in:)``.
    package init(in buffer: inout [UInt8]) {
        swap(&line, &buffer)
        line.removeAll(keepingCapacity: true)
        line.append(UInt8(ascii: "{"))
    }

    /// The object as text.
    package var text: String {
        String(unsafeUninitializedCapacity: line.count + 1) { room in
            _ = room.initialize(from: line)
            room[line.count] = UInt8(ascii: "}")
            return line.count + 1
        }
    }

    /// Ends the object as the bytes of a buffer.
    package consuming func end(in buffer: inout [UInt8]) {
        line.append(UInt8(ascii: "}"))
        swap(&line, &buffer)
    }

    /// Adds a text, or null.
    package mutating func add(_ key: String, _ value: String?) {
        begin(key)
        if let value { Self.append(value, to: &line) } else { line.append("null") }
    }

    /// Adds a text under a key that needs quoting.
    package mutating func add(name key: String, _ value: String) { add(name: key, raw: Self.quoted(value)) }

    /// Adds a value that is already JSON under a key that needs quoting.
    package mutating func add(name key: String, raw value: String) {
        if line.count > 1 { line.append(UInt8(ascii: ",")) }
        Self.append(key, to: &line)
        line.append(UInt8(ascii: ":"))
        line += value.utf8
    }

    /// Adds a value that is already JSON.
    package mutating func add(_ key: String, raw value: String) {
        begin(key)
        line.append(value)
    }

    /// Adds a whole number.
    package mutating func add(_ key: String, integer value: Int64) {
        begin(key)
        Decimal.append(value, to: &line)
    }

    /// Adds a number with decimals; null when it is not finite or too large.
    package mutating func add(_ key: String, _ value: Double, decimals: Int) {
        begin(key)
        if !Decimal.append(value, decimals: decimals, to: &line) { line.append("null") }
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
        line.append(key)
        line.append(UInt8(ascii: "\""))
        line.append(UInt8(ascii: ":"))
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
        var plain = text
        let isPlain = plain.withUTF8 { bytes in
            let isPlain = bytes.allSatisfy {
                (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
            if isPlain { line.append(contentsOf: bytes) }
            return isPlain
        }
        if isPlain { return }
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

extension [UInt8] {
    /// Appends the UTF-8 of a text as one piece of memory; `+=` copies it by way of a buffer that it allocates room for.
    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(contentsOf: $0) }
    }
}
