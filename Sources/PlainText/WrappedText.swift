/// Text in lines of a limited width, for terminals.
package enum WrappedText {
    /// Breaks words, separated by single blanks, into lines of at most `width` characters; a longer word gets a line of its own.
    ///
    /// The first line begins with `first`, the others with `indent` blanks; there is at least one line.
    package static func lines(_ text: String, width: Int, first: String = "", indent: Int = 0) -> [String] {
        var lines: [String] = []
        var line = first
        var isEmpty = true
        for word in text.split(separator: " ") {
            if !isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = String(repeating: " ", count: indent)
                isEmpty = true
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines + [line]
    }

    /// Breaks paragraphs, separated by empty lines, into lines.
    ///
    /// Lines that begin with two blanks are kept: a term, two blanks or more, and its meaning.
    package static func paragraphs(_ text: String, width: Int, indent: Int = 0) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var words = ""
        func close() {
            guard !words.isEmpty else { return }
            lines += Self.lines(words, width: width, first: margin, indent: indent)
            words = ""
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                close()
                lines.append("")
            } else if line.hasPrefix("  ") {
                close()
                let term = line.drop { $0 == " " }
                let end = term.firstRange(of: "  ")?.lowerBound ?? term.endIndex
                let meaning = term[end...].drop { $0 == " " }
                let first = margin + line[..<meaning.startIndex]
                lines += Self.lines(String(meaning), width: width, first: first, indent: first.count)
            } else {
                words += (words.isEmpty ? "" : " ") + line
            }
        }
        close()
        return lines
    }
}
