import Binnacle
import PlainText
import Station

/// The kinds of event in a command line.
enum KindWords {
    /// Parses names of kinds, or `any`.
    ///
    /// - Parameters:
    ///   - words: The names.
    ///   - option: Their place, for messages.
    /// - Returns: The kinds; `nil` for all but those that repeat a state.
    /// - Throws: `StationError` for an unknown kind.
    static func kinds(_ words: [String], of option: String) throws(StationError) -> Set<EventKind>? {
        var kinds: Set<EventKind> = []
        var isAny = false
        for word in words {
            if word == "any" {
                isAny = true
            } else if let kind = EventKind(rawValue: word) {
                kinds.insert(kind)
            } else {
                let hint = Spelling.hint(for: word, among: EventKind.allCases.map(\.rawValue) + ["any"])
                throw StationError(.usage, "\(option) \(word): no such kind of event (\(hint))")
            }
        }
        guard isAny else { return kinds }
        // `any` with a named repeated kind is all kinds and that one.
        let repeated = kinds.intersection(EventKind.repeated)
        return repeated.isEmpty ? nil : Set(EventKind.allCases).subtracting(EventKind.repeated).union(repeated)
    }
}
