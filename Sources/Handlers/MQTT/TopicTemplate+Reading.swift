import Binnacle
package import TableReading

extension TopicTemplate {
    private static let host = "host"
    /// No broker is known to take less.
    private static let longest = 1024
    private static let mostLevels = 64

    /// Parses a topic: `{host}` and `{name}` are placeholders, `{{` and `}}` are single braces.
    ///
    /// - Parameters:
    ///   - text: The topic.
    ///   - placeholders: Those of an event that it may have.
    /// - Throws: ``PlaceholderText/SyntaxError`` with the first thing that is wrong.
    package init(
        parsing text: String, among placeholders: [CommandPlaceholder] = CommandPlaceholder.all
    ) throws(PlaceholderText.SyntaxError) {
        let names = [Self.host] + placeholders.map(\.name)
        self.init(
            try PlaceholderText.pieces(of: text, names: names, text: Piece.text) { name in
                if name == Self.host { return .host }
                return placeholders.first { $0.name == name }.map(Piece.placeholder)
            })
        for case .text(let words) in pieces {
            guard let problem = MQTTTopic.problem(with: words) else { continue }
            throw PlaceholderText.SyntaxError(message: "the topic \(problem)", hint: "events go to topics without it")
        }
        if case .text(let words)? = pieces.first, words.hasPrefix("$") {
            throw PlaceholderText.SyntaxError(
                message: "the topic begins with `$`", hint: "such topics are the broker's own")
        }
        guard text.utf8.count <= Self.longest, text.utf8.count(where: { $0 == UInt8(ascii: "/") }) < Self.mostLevels
        else {
            throw PlaceholderText.SyntaxError(
                message: "the topic is too long", hint: "at most \(Self.longest) bytes and \(Self.mostLevels) levels")
        }
    }

    /// Reads a topic; `nil` when it cannot be used, which is then reported, or when it is empty.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - table: The section.
    ///   - usual: The topic of a section that names none.
    ///   - placeholders: Those of an event that it may have.
    ///   - mayBeEmpty: Whether an empty text switches it off.
    init?(
        _ key: String, of table: TableReader, usual: String, among placeholders: [CommandPlaceholder], mayBeEmpty: Bool
    ) {
        var text = usual
        if let node = table.entry(key)?.node {
            guard let own = table.string(key, node, mayBeEmpty: mayBeEmpty), !own.isEmpty else { return nil }
            text = own
        }
        do throws(PlaceholderText.SyntaxError) {
            try self.init(parsing: text, among: placeholders)
        } catch {
            table.refuse(key, at: table.entry(key)?.node.position ?? table.position, error.message, hint: error.hint)
            return nil
        }
    }
}
