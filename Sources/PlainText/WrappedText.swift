/// Text in lines of a limited width, for terminals.
package enum WrappedText {
    /// Breaks words into lines.
    ///
    /// - Parameters:
    ///   - text: Words with single blanks; a longer word than a line gets a line of its own.
    ///   - width: The most characters of a line.
    ///   - first: What the first line begins with.
    ///   - indent: The number of blanks that the further lines begin with.
    /// - Returns: The lines, at least one.
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

    /// Breaks paragraphs, which empty lines separate, into lines.
    ///
    /// Lines that begin with two blanks stay lines of their own: a term, two blanks or more, and what it means.
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
