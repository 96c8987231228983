/// Parses an untrusted JSON text (RFC 8259) strictly, with a limited nesting depth.
///
/// Beyond the RFC, a duplicate key in an object is an error, because parsers differ in which value they use.
package struct JSONReader {
    /// Why a text is not JSON.
    package struct SyntaxError: Error, Equatable, CustomStringConvertible {
        package let message: String
        /// The position of the error in bytes, from 1.
        package let column: Int

        package init(message: String, column: Int) {
            self.message = message
            self.column = column
        }

        package var description: String { "column \(column): \(message)" }
    }

    /// The maximum nesting depth.
    package static let deepest = 8

    private let bytes: [UInt8]
    private var index = 0
    /// The positions of keys and values, from 1; `nil` when they are not needed.
    private var columns: [Int]?

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses a whole text in UTF-8.
    package static func value(of bytes: some Sequence<UInt8>) throws(SyntaxError) -> JSONValue {
        var reader = JSONReader(Array(bytes))
        return try reader.wholeText()
    }

    /// A JSON text without characters that a terminal would interpret, although JSON allows them: in strings they become
    /// equivalent escapes, between values blanks.
    package static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.needsEscape) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 {
                result += " "
            } else if scalar.needsEscape {
                for unit in String(scalar).utf16 { result += "\\u" + unit.hexadecimal }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Parses a whole text in UTF-8, with the position of every value for messages.
    package static func locatedValue(of bytes: some Sequence<UInt8>) throws(SyntaxError) -> LocatedJSONValue {
        var reader = JSONReader(Array(bytes))
        reader.columns = []
        let value = try reader.wholeText()
        return LocatedJSONValue(value, columns: reader.columns ?? [])
    }

    private mutating func wholeText() throws(SyntaxError) -> JSONValue {
        skipBlanks()
        let value = try value(depth: 0)
        skipBlanks()
        guard index == bytes.count else { throw error("something follows the value") }
        return value
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(SyntaxError) -> JSONValue {
        guard let byte = next else { throw error("the text ends where a value should be") }
        columns?.append(index + 1)
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.deepest else { throw error("nested deeper than \(Self.deepest) levels") }
            return byte == UInt8(ascii: "{") ? try object(depth: depth + 1) : try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw error("no value begins like this")
        }
    }

    private mutating func object(depth: Int) throws(SyntaxError) -> JSONValue {
        var members: [JSONValue.Member] = []
        var keys: Set<String> = []
        while try hasElement(before: "}", isFirst: members.isEmpty) {
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotes is missing") }
            let place = index
            columns?.append(place + 1)
            let key = try string()
            guard keys.insert(key).inserted else {
                throw SyntaxError(message: "the key stands twice", column: place + 1)
            }
            skipBlanks()
            guard consume(UInt8(ascii: ":")) else { throw error("a colon is missing after the key") }
            skipBlanks()
            members.append(JSONValue.Member(key: key, value: try value(depth: depth)))
        }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(SyntaxError) -> JSONValue {
        var values: [JSONValue] = []
        while try hasElement(before: "]", isFirst: values.isEmpty) { values.append(try value(depth: depth)) }
        return .array(values)
    }

    /// Parses the token before an element, the opening bracket or a comma, or the closing bracket instead; returns whether an
    /// element follows.
    private mutating func hasElement(before closing: Unicode.Scalar, isFirst: Bool) throws(SyntaxError) -> Bool {
        if isFirst { index += 1 }
        skipBlanks()
        if consume(UInt8(ascii: closing)) { return false }
        guard isFirst || consume(UInt8(ascii: ",")) else { throw error("a comma or \(closing) is missing") }
        skipBlanks()
        return true
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(SyntaxError) -> JSONValue {
        let text = Array(word.description.utf8)
        guard bytes[index...].starts(with: text) else { throw error("no value begins like this") }
        index += text.count
        return value
    }

    // MARK: - Numbers

    private mutating func number() throws(SyntaxError) -> String {
        let start = index
        _ = consume(UInt8(ascii: "-"))
        if !consume(UInt8(ascii: "0")) { try digits() }
        if consume(UInt8(ascii: ".")) { try digits() }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            try digits()
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func digits() throws(SyntaxError) {
        let start = index
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { index += 1 }
        guard index > start else { throw error("a digit is missing") }
    }

    // MARK: - Strings

    private mutating func string() throws(SyntaxError) -> String {
        index += 1
        var text: [UInt8] = []
        let start = index
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw SyntaxError(message: "the string is not UTF-8", column: start + 1)
                }
                return string
            case UInt8(ascii: "\\"): text.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20: throw SyntaxError(message: "a control character stands in a string", column: index)
            default: text.append(byte)
            }
        }
        throw error("the string has no end")
    }

    private mutating func escape() throws(SyntaxError) -> Character {
        guard let byte = next else { throw error("the string has no end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try escapedScalar()
        default: throw SyntaxError(message: "no such escape", column: index)
        }
    }

    private mutating func escapedScalar() throws(SyntaxError) -> Character {
        let place = index - 1
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        // The first half of a surrogate pair.
        guard (0xD800..<0xDC00).contains(first), consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) else {
            throw SyntaxError(message: "half of a surrogate pair", column: place)
        }
        let second = try fourDigits()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw SyntaxError(message: "half of a surrogate pair", column: place) }
        return Character(scalar)
    }

    private mutating func fourDigits() throws(SyntaxError) -> UInt16 {
        guard index + 4 <= bytes.count,
            let text = String(validating: bytes[index..<index + 4], as: UTF8.self),
            text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }), let value = UInt16(text, radix: 16)
        else { throw error("four hexadecimal digits are missing") }
        index += 4
        return value
    }

    // MARK: - Bytes

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    private func error(_ message: String) -> SyntaxError {
        SyntaxError(message: message, column: index + 1)
    }
}
