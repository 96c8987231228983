import Binnacle
import PlainText
import Station

enum KindWords {
    /// Parses kinds, groups such as `motion.*`, and `any`; `nil` means all but repeated states.
    ///
    /// `otherwise` is the hint for a word that resembles none.
    static func kinds(_ words: [String], of option: String, otherwise: String? = nil) throws(StationError) -> Set<
        EventKind
    >? {
        var kinds: Set<EventKind> = []
        for word in words {
            guard let named = EventKind.named(word) else {
                let hint = Spelling.nearest(to: word, among: EventKind.words).map { "did you mean `\($0)`?" }
                throw .usage(
                    "\(option) \(word): no such kind of event (\(hint ?? otherwise ?? "'binnacle events --kinds' lists them"))"
                )
            }
            kinds.formUnion(named)
        }
        guard words.contains("any") else { return kinds }
        // `any` and a repeated kind together mean all kinds and that one.
        let repeated = kinds.intersection(EventKind.repeated)
        return repeated.isEmpty ? nil : Set(EventKind.allCases).subtracting(EventKind.repeated).union(repeated)
    }
}
