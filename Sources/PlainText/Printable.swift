extension String {
    /// The text with escapes for everything that a terminal would interpret.
    ///
    /// Names and paths come from files, whose author must not be able to control the terminal of a message's reader. Control
    /// characters, line ends and invisible format characters, such as direction marks, become `\u{…}` in hexadecimal. A
    /// backslash is not escaped, so the original text cannot be recovered. Line ends are escaped too, so this is for
    /// the parts of a message, not for a text of several lines.
    package var printable: String {
        // Nearly all text is ASCII, and a character's category needs a table look-up.
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return self }
        guard unicodeScalars.contains(where: { $0.needsEscape }) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.needsEscape {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text as XML has it, in an element or an attribute; ``printable``, because XML does not allow every character.
    package var xml: String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")].reduce(printable) {
            $0.replacing($1.0, with: $1.1)
        }
    }
}

extension Substring {
    /// The text with escapes, as ``Swift/String/printable``.
    package var printable: String { String(self).printable }
}

extension Array<UInt8> {
    /// Replaces the bytes of a text by those of its ``Swift/String/printable`` form.
    package mutating func makePrintable() {
        if !isPlain { self = Array(String(decoding: self, as: UTF8.self).printable.utf8) }
    }

    /// Whether all is ASCII that can be printed, or a unit of figures: these are two bytes, of which the first is 0xC2.
    private var isPlain: Bool {
        var (isOdd, before): (Bool, UInt8) = (false, 0)
        // Without a branch, so that the compiler compares many bytes at a time.
        for byte in self {
            let isUnit = byte == 0xB0 || byte == 0xB2 || byte == 0xB5
            let isKnown = byte &- 0x20 < 0x5F || byte == 0xC2 || isUnit
            isOdd = isOdd || !isKnown || isUnit != (before == 0xC2)
            before = byte
        }
        return !isOdd && before != 0xC2
    }
}

extension UInt8 {
    package var isDigit: Bool { self &- 0x30 < 10 }
    /// Whether it is a letter or a digit of ASCII.
    package var isAlphanumeric: Bool { isDigit || (self | 0x20) &- 0x61 < 26 }
}

extension Unicode.Scalar {
    /// Whether a terminal would interpret it, or a reader could not see it.
    var needsEscape: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        // Noncharacters, which XML does not allow.
        if value == 0xFFFE || value == 0xFFFF { return true }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
