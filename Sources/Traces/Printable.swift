extension StringProtocol {
    /// The text without what a terminal would obey.
    ///
    /// Text from a file is shown in messages, and whoever wrote the file must not write to the reader's terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
                    default: scalar
                    }
                }))
    }
}
