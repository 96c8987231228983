import PlainText

/// Texts of the configuration with places for what an event says: `{name}` is a placeholder, `{{` and `}}` are single
/// braces.
package enum PlaceholderText {
    /// A text that is not written as it has to be.
    package struct SyntaxError: Error, Sendable, Equatable {
        /// What is wrong with it.
        package let message: String
        /// What would be right.
        package let hint: String

        /// Creates an error.
        package init(message: String, hint: String) {
            self.message = message
            self.hint = hint
        }
    }

    /// Takes a text apart.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - names: The names that there are, for messages.
    ///   - makeText: Makes a piece of words that stand for themselves.
    ///   - makePlaceholder: Makes a piece of a name; `nil` when there is none of that name.
    /// - Returns: The pieces, in their order; words that follow each other are one.
    /// - Throws: ``SyntaxError`` with the first thing that is wrong.
    package static func pieces<Piece>(
        of text: String, names: [String], text makeText: (String) -> Piece,
        placeholder makePlaceholder: (String) -> Piece?
    ) throws(SyntaxError) -> [Piece] {
        var pieces: [Piece] = []
        var words = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "{" || scalar == "}" else {
                words.unicodeScalars.append(scalar)
                continue
            }
            if rest.first == scalar {
                rest.removeFirst()
                words.unicodeScalars.append(scalar)
                continue
            }
            guard scalar == "{" else {
                throw SyntaxError(message: "`}` closes nothing", hint: "write `}}` for a brace")
            }
            guard let end = rest.firstIndex(of: "}") else {
                throw SyntaxError(message: "`{` is not closed", hint: "write `{{` for a brace")
            }
            let name = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            guard let placeholder = makePlaceholder(name) else { throw unknown(name, names) }
            if !words.isEmpty { pieces.append(makeText(words)) }
            words = ""
            pieces.append(placeholder)
        }
        if !words.isEmpty { pieces.append(makeText(words)) }
        return pieces
    }

    private static func unknown(_ name: String, _ names: [String]) -> SyntaxError {
        SyntaxError(
            message: "unknown placeholder \(Spelling.quoted("{\(name)}"))",
            hint: Spelling.hint(for: name, among: names) + "; write `{{` and `}}` for braces")
    }
}
