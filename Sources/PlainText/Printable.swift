extension StringProtocol {
    /// The text with escapes for everything that a terminal would interpret.
    ///
    /// Names and paths come from files, whose author must not be able to control the terminal of a message's reader. Control
    /// characters, line ends and invisible format characters, such as direction marks, become `\u{…}` in hexadecimal. A
    /// backslash is not escaped, so the original text cannot be recovered. Line ends are escaped too, so this is for
    /// the parts of a message, not for a text of several lines.
    package var printable: String {
        guard unicodeScalars.contains(where: \.needsEscape) else { return String(self) }
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
}

extension Unicode.Scalar {
    fileprivate var needsEscape: Bool {
        // Nearly all text is ASCII, and a character's category needs a table look-up.
        if isASCII { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
