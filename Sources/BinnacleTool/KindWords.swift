import Binnacle
import PlainText
import Station

/// The kinds of event in a command line.
enum KindWords {
    /// Parses names of kinds, groups such as `motion.*`, and `any`; `nil` for all but those that repeat a state.
    static func kinds(_ words: [String], of option: String) throws(StationError) -> Set<EventKind>? {
        var kinds: Set<EventKind> = []
        for word in words {
            guard let named = EventKind.named(word) else {
                let hint = Spelling.nearest(to: word, among: EventKind.words).map { "did you mean `\($0)`?" }
                throw StationError(
                    .usage,
                    "\(option) \(word): no such kind of event (\(hint ?? "'binnacle events --kinds' lists them"))")
            }
            kinds.formUnion(named)
        }
        guard words.contains("any") else { return kinds }
        // `any` with a named repeated kind is all kinds and that one.
        let repeated = kinds.intersection(EventKind.repeated)
        return repeated.isEmpty ? nil : Set(EventKind.allCases).subtracting(EventKind.repeated).union(repeated)
    }
}
