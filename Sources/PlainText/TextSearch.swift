// In place of the standard library's, which belong to its regular expressions: a megabyte of the program, relocated at every start.
// These compare bytes, so that no accent behind a sign hides it; inlinable, because many texts are short.
extension Collection<UInt8> {
    @inlinable package func firstRange(of part: some Collection<UInt8>) -> Range<Index>? {
        let start = indices.first { self[$0...].starts(with: part) }
        return start.map { $0..<index($0, offsetBy: part.count) }
    }

    @inlinable package func contains(_ part: some Collection<UInt8>) -> Bool { firstRange(of: part) != nil }

    /// What stands before, between and after the places of some bytes.
    @inlinable package func pieces(between part: some Collection<UInt8>) -> [SubSequence] {
        var (pieces, rest): ([SubSequence], SubSequence) = ([], self[...])
        while !part.isEmpty, let found = rest.firstRange(of: part) {
            pieces.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        return pieces + [rest]
    }
}

extension StringProtocol {
    @inlinable package func firstRange(of part: String) -> Range<Index>? { utf8.firstRange(of: part.utf8) }

    @inlinable package func contains(_ part: String) -> Bool { utf8.contains(part.utf8) }

    @inlinable package func replacing(_ part: String, with other: String) -> String {
        String(self).utf8.pieces(between: part.utf8).map { Substring($0) }.joined(separator: other)
    }
}
