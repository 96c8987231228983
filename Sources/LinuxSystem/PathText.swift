extension String {
    /// The path without `.`, `..` and repeated slashes; links are not resolved, so that it need not exist.
    package var plainPath: String {
        var parts: [Substring] = []
        for part in split(separator: "/") where part != "." {
            if part == "..", parts.last.map({ $0 != ".." }) ?? hasPrefix("/") {
                _ = parts.popLast()
            } else {
                parts.append(part)
            }
        }
        return (hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }

    /// Whether another path leads to the same file, by its words or, where both exist, by what they lead to.
    package func isSamePath(as other: String) -> Bool {
        if plainPath == other.plainPath { return true }
        guard let own = try? fileStatus(self) else { return false }
        return (try? fileStatus(other))?.isSameFile(as: own) ?? false
    }
}
