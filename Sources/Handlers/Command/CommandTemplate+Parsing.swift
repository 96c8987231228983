import Binnacle
package import TableReading

extension CommandTemplate.Argument {
    /// An argument that is not written as it has to be.
    package typealias SyntaxError = PlaceholderText.SyntaxError

    /// Parses an argument: `{name}` is a placeholder, `{{` and `}}` are single braces.
    package init(parsing text: String) throws(SyntaxError) {
        let names = CommandPlaceholder.all.map(\.name)
        self.init(
            try PlaceholderText.pieces(of: text, names: names, text: CommandTemplate.Piece.text) { name in
                CommandPlaceholder(name: name).map(CommandTemplate.Piece.placeholder)
            })
    }
}
