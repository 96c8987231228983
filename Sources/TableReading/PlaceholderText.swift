import PlainText

/// The first error in a text value.
package struct TextSyntaxError: Error, CustomStringConvertible {
    let message: String
    let hint: String?

    /// The message, followed by the hint in parentheses.
    package var description: String { message + (hint.map { " (\($0))" } ?? "") }

    /// Creates an error; the hint is the remedy.
    package init(_ message: String, hint: String?) {
        self.message = message
        self.hint = hint
    }
}

extension TableReader {
    /// Parses a text value; `nil` on an error, which is reported at the value with a prefix.
    package func parsed<Value>(
        _ key: String, at position: SourcePosition, prefix: String = "", _ parse: () throws(TextSyntaxError) -> Value
    ) -> Value? {
        do throws(TextSyntaxError) {
            return try parse()
        } catch {
            refuse(key, at: position, prefix + error.message, hint: error.hint)
            return nil
        }
    }
}

/// Texts with placeholders for event values: `{name}` is a placeholder, `{{` and `}}` are literal braces.
package enum PlaceholderText {
    /// Splits a text into pieces; adjacent literal text is one piece.
    ///
    /// `names` lists the valid placeholders for messages. `makePlaceholder` returns `nil` for an unknown one, which
    /// throws ``TextSyntaxError``.
    package static func pieces<Piece>(
        of text: String, names: [String], text makeText: (String) -> Piece,
        placeholder makePlaceholder: (String) -> Piece?
    ) throws(TextSyntaxError) -> [Piece] {
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
                throw TextSyntaxError("`}` closes nothing", hint: "write `}}` for a brace")
            }
            guard let end = rest.firstIndex(of: "}") else {
                throw TextSyntaxError("`{` is not closed", hint: "write `{{` for a brace")
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

    private static func unknown(_ name: String, _ names: [String]) -> TextSyntaxError {
        TextSyntaxError(
            "unknown placeholder \(Spelling.quoted("{\(name)}"))",
            hint: Spelling.hint(for: name, among: names) + "; write `{{` and `}}` for braces")
    }
}
