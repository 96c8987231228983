/// Finds the name that was probably meant, and formats names from a file for messages.
package enum Spelling {
    /// The hint for an unknown name: the nearest allowed one, those with the same word before a dot, or all of them.
    package static func hint(for name: String, among names: [String]) -> String {
        let allowed = names.indices.filter { !names[..<$0].contains(names[$0]) }.map { names[$0] }
        if let meant = nearest(to: name, among: allowed) { return "did you mean `\(meant.printable)`?" }
        if allowed.isEmpty { return "none is defined" }
        let group = allowed.filter { candidate in
            candidate.lastIndex(of: ".").map { name.hasPrefix(candidate[...$0]) } ?? false
        }
        return "one of " + (group.isEmpty ? allowed : group).map { "`\($0.printable)`" }.joined(separator: ", ")
    }

    /// Joins alternatives: `a, b or c`.
    package static func alternatives(_ texts: [String]) -> String { joined(texts, by: "or") }

    /// Joins items: `a, b and c`.
    package static func list(_ texts: [String]) -> String { joined(texts, by: "and") }

    private static func joined(_ texts: [String], by word: String) -> String {
        guard texts.count > 1, let last = texts.last else { return texts.first ?? "" }
        return "\(texts.dropLast().joined(separator: ", ")) \(word) \(last)"
    }

    /// The allowed name most similar to a name; `nil` when none is similar.
    package static func nearest(to name: String, among allowed: [String]) -> String? {
        if let same = allowed.first(where: { $0.lowercased() == name.lowercased() }) { return same }
        var best: (name: String, distance: Int)?
        for candidate in allowed {
            let limit = candidate.utf8.count <= 4 ? 1 : 2
            guard let distance = distance(name, candidate, limit: limit), distance < candidate.utf8.count else {
                continue
            }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        // The next most frequent error is an omitted unit.
        return best?.name ?? allowed.first { !name.isEmpty && $0.hasPrefix(name + "_") }
            ?? extended(name, among: allowed)
    }

    /// The only allowed name that extends a name, or that it extends, such as `warning` for `warn`.
    private static func extended(_ name: String, among allowed: [String]) -> String? {
        let found = allowed.filter {
            min($0.utf8.count, name.utf8.count) >= 3 && ($0.hasPrefix(name) || name.hasPrefix($0))
        }
        return found.count == 1 ? found[0] : nil
    }

    /// The number of changed, added, removed or swapped letters; `nil` above the limit.
    package static func distance(_ left: String, _ right: String, limit: Int) -> Int? {
        // A hostile name may be long; the difference in length alone may exceed the limit.
        guard abs(left.utf8.count - right.utf8.count) <= limit else { return nil }
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for i in left.indices {
            var current = [i + 1]
            for j in right.indices {
                var cost = min(previous[j + 1] + 1, current[j] + 1, previous[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, beforePrevious[j - 1] + 1)
                }
                current.append(cost)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[right.count] <= limit ? previous[right.count] : nil
    }

    /// A text from a file in backticks, printable, truncated to a number of characters.
    package static func quoted(_ text: String, limit: Int = 64) -> String {
        let shown = text.unicodeScalars.prefix(limit)
        let rest = shown.endIndex == text.unicodeScalars.endIndex ? "" : "…"
        return "`\(String(shown).printable)\(rest)`"
    }

    /// A path in backticks, printable and whole, because its end distinguishes it; Linux has no longer one.
    package static func quoted(path: String) -> String { quoted(path, limit: 4096) }
}
