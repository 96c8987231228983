import Binnacle
import PlainText
import Station

/// Kinds of events as they are written on a command line.
enum KindWords {
    /// Finds the kinds of words.
    ///
    /// - Parameters:
    ///   - words: Names of kinds, or `any`.
    ///   - option: What messages call the place where they stand.
    /// - Returns: The kinds; `nil` for all but those that repeat a state.
    /// - Throws: `StationError` for a word that is no kind.
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
        // A repeated state that is named comes along with all the others.
        let repeated = kinds.intersection(EventKind.repeated)
        return repeated.isEmpty ? nil : Set(EventKind.allCases).subtracting(EventKind.repeated).union(repeated)
    }
}
