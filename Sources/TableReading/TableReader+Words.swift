import PlainText

extension TableReader {
    /// One of a type's words.
    package func choice<Word>(_ key: String, as type: Word.Type) -> Word?
    where Word: RawRepresentable<String> & CaseIterable {
        entry(key).flatMap { choice(key, $0.node, as: type) }
    }

    /// One of a type's words, from a value under a key.
    package func choice<Word>(_ key: String, _ node: TOMLNode, as type: Word.Type) -> Word?
    where Word: RawRepresentable<String> & CaseIterable {
        let words = type.allCases.map(\.rawValue)
        guard let text = word(key, node, among: words) else { return nil }
        return type.init(rawValue: text)
    }

    /// Several of a type's words, each once, in the order of the file.
    package func choices<Word>(_ key: String, _ nodes: [TOMLNode], as type: Word.Type) -> [Word]
    where Word: RawRepresentable<String> & CaseIterable & Equatable {
        distinct(key, nodes) { choice(key, $0, as: type) }
    }

    /// One of the names that are defined elsewhere in the configuration.
    package func reference(_ key: String, _ node: TOMLNode, to what: String, among names: [String]) -> String? {
        guard let name = string(key, node) else { return nil }
        guard names.contains(name) else {
            refuse(
                key, at: node.position, "no \(what) \(Spelling.quoted(name))",
                hint: Spelling.hint(for: name, among: names))
            return nil
        }
        return name
    }

    /// Several names that are defined elsewhere, each once.
    package func references(_ key: String, _ nodes: [TOMLNode], to what: String, among names: [String]) -> [String] {
        distinct(key, nodes) { reference(key, $0, to: what, among: names) }
    }

    /// A word among those allowed.
    package func word(_ key: String, _ node: TOMLNode, among words: [String]) -> String? {
        guard case .string(let text) = node.value else {
            refuse(key, node, expected: "a string")
            return nil
        }
        guard words.contains(text) else {
            refuse(
                key, at: node.position, "`\(key)` cannot be \(Spelling.quoted(text))",
                hint: Spelling.hint(for: text, among: words))
            return nil
        }
        return text
    }

    private func distinct<Element: Equatable>(
        _ key: String, _ nodes: [TOMLNode], read: (TOMLNode) -> Element?
    ) -> [Element] {
        var elements: [Element] = []
        for node in nodes {
            guard let element = read(node) else { continue }
            if elements.contains(element) {
                refuse(key, at: node.position, "`\(key)` names this twice")
            } else {
                elements.append(element)
            }
        }
        return elements
    }
}
