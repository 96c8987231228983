import Binnacle

extension CommandTemplate.Argument {
    /// An argument that is not written as it has to be.
    package struct SyntaxError: Error, Sendable, Equatable {
        /// What is wrong with it.
        package let message: String
        /// What would be right.
        package let hint: String
    }

    /// Parses an argument: `{name}` is a placeholder, `{{` and `}}` are single braces.
    package init(parsing text: String) throws(SyntaxError) {
        var pieces: [CommandTemplate.Piece] = []
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
            guard let placeholder = CommandPlaceholder(name: name) else {
                throw Self.unknown(name)
            }
            if !words.isEmpty { pieces.append(.text(words)) }
            words = ""
            pieces.append(.placeholder(placeholder))
        }
        if !words.isEmpty { pieces.append(.text(words)) }
        self.init(pieces)
    }

    private static func unknown(_ name: String) -> SyntaxError {
        let names = CommandPlaceholder.all.map(\.name)
        return SyntaxError(
            message: "unknown placeholder \(Spelling.quoted("{\(name)}"))",
            hint: Spelling.hint(for: name, among: names) + "; write `{{` and `}}` for braces")
    }
}
