extension StringProtocol {
    /// The text with everything written out that a terminal would obey.
    ///
    /// Names and paths come from files; whoever wrote a file must not write to the terminal of whoever reads a message
    /// about it. Control characters, line ends and marks of the writing direction become `\\u{…}`.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isCommand) else { return String(self) }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isCommand {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension Unicode.Scalar {
    fileprivate var isCommand: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
