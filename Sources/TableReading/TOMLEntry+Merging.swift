extension [TOMLEntry] {
    /// Adds the entries of a later file, as systemd's drop-ins are added: tables are completed, down to a section's
    /// keys, and a key's value is replaced.
    ///
    /// What should be a table and is not stands beside what it would replace, so that it is told of by itself.
    ///
    /// - Parameters:
    ///   - later: The entries of the later file.
    ///   - levels: How many levels of tables are completed: two at the top, of which one are the kinds of section.
    package mutating func complete(with later: [TOMLEntry], levels: Int = 2) {
        for entry in later {
            guard levels > 0 else {
                if let index = firstIndex(where: { $0.key == entry.key }) {
                    self[index] = entry
                } else {
                    append(entry)
                }
                continue
            }
            guard case .table(let additions) = entry.node.value,
                let index = firstIndex(where: { $0.key == entry.key && $0.node.isTable }),
                case .table(var entries) = self[index].node.value
            else {
                append(entry)
                continue
            }
            entries.complete(with: additions, levels: levels - 1)
            self[index] = TOMLEntry(
                key: entry.key, keyPosition: self[index].keyPosition,
                node: TOMLNode(value: .table(entries), position: self[index].node.position))
        }
    }
}
