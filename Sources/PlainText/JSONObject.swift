/// A JSON object on one line, with its keys in the order of addition.
///
/// It formats every event that is kept or sent, so it collects bytes: concatenating strings takes five times as long.
package struct JSONObject {
    /// The bytes, and room for more behind them.
    private var line: [UInt8]
    private var count = 0

    package init() {
        line = Array(repeating: 0, count: 256)
        write(atMost: 1) { $0.write("{") }
    }

    /// Makes it empty again, so that its memory serves the next one.
    package mutating func removeAll() { count = 1 }

    package var bytes: ArraySlice<UInt8> {
        mutating get {
            write(atMost: 1) { $0.write("}") }
            count -= 1
            return line[...count]
        }
    }

    package var text: String {
        String(unsafeUninitializedCapacity: count + 1) { room in
            _ = room.initialize(from: line[..<count])
            room[count] = UInt8(ascii: "}")
            return count + 1
        }
    }

    /// An object of members whose values are JSON already.
    package static func text(_ members: KeyValuePairs<String, String>) -> String {
        var object = JSONObject()
        for (key, value) in members { object.add(key, raw: value) }
        return object.text
    }

    /// Writes behind what is there.
    @inline(__always)
    private mutating func write(atMost room: Int, _ write: (inout ByteCursor) -> Void) {
        if line.count - count < room { line += repeatElement(0, count: line.count + room) }
        line.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            var cursor = ByteCursor(next: start + count)
            write(&cursor)
            count = cursor.next - start
        }
    }

    package mutating func add(_ key: String, _ value: String?) {
        guard let value else { return add(key, raw: "null") }
        if Self.isPlain(value) { add(key, plain: value) } else { add(key, raw: Self.quoted(value)) }
    }

    /// Adds a text that needs no escapes.
    package mutating func add(_ key: String, plain value: String) {
        add(key, room: value.utf8.count + 2) {
            $0.write("\"")
            $0.write(text: value)
            $0.write("\"")
        }
    }

    /// Adds a text under a key that needs quoting.
    package mutating func add(name key: String, _ value: String) { add(name: key, raw: Self.quoted(value)) }

    /// Adds a value that is already JSON under a key that needs quoting.
    package mutating func add(name key: String, raw value: String) {
        let key = Self.quoted(key)
        let isFirst = count == 1
        write(atMost: key.utf8.count + value.utf8.count + 2) {
            if !isFirst { $0.write(",") }
            $0.write(text: key)
            $0.write(":")
            $0.write(text: value)
        }
    }

    /// Adds a value that is already JSON.
    package mutating func add(_ key: String, raw value: String) {
        add(key, room: value.utf8.count) { $0.write(text: value) }
    }

    package mutating func add(_ key: String, integer value: Int64) {
        add(key, room: Decimal.mostBytes) { $0.write(value.magnitude, decimals: 0, isNegative: value < 0) }
    }

    /// Adds a whole number that is not negative.
    package mutating func add(_ key: String, count value: UInt64) {
        add(key, room: Decimal.mostBytes) { $0.write(value, decimals: 0, isNegative: false) }
    }

    /// Adds a number with decimals; null when it is not finite or too large.
    package mutating func add(_ key: String, _ value: Double, decimals: Int) {
        add(key, room: Decimal.mostBytes) { if !$0.write(value, decimals: decimals) { $0.write(text: "null") } }
    }

    /// Adds an array of values that are already JSON.
    package mutating func add(_ key: String, list values: [String]) {
        add(key, raw: Self.list(values))
    }

    /// An array of values that are already JSON.
    package static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

    /// An array of texts.
    package static func texts(_ texts: [String]) -> String { list(texts.map(quoted)) }

    /// Adds a key, and its value as a closure writes it into at least so much room.
    ///
    /// There is room for all of it at once, so that nothing is asked of the array between two bytes.
    @inline(__always)
    private mutating func add(_ key: String, room: Int, _ write: (inout ByteCursor) -> Void) {
        let isFirst = count == 1
        self.write(atMost: key.utf8.count + 4 + room) {
            if !isFirst { $0.write(",") }
            $0.write("\"")
            $0.write(text: key)
            $0.write("\"")
            $0.write(":")
            write(&$0)
        }
    }

    package static func quoted(_ text: String) -> String {
        if isPlain(text) { return "\"\(text)\"" }
        var line = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                line += "\\u" + UInt16(scalar.value).hexadecimal
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line + "\""
    }

    /// Whether a text needs no escapes, as nearly every one.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            for byte in bytes {
                if byte &- 0x20 >= 0x5F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
            }
            return true
        } ?? false
    }
}

extension [UInt8] {
    /// Appends the UTF-8 of a text as one piece of memory; `+=` copies it by way of a buffer that it allocates room for.
    package mutating func append(_ text: String) {
        text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) } ?? append(contentsOf: text.utf8)
    }
}
