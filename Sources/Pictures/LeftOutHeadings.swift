/// What the lists of events in `watch` and `web` say about headings and attitudes, of which a turn has one for each degree.
package enum LeftOutHeadings {
    /// How many of them a list leaves out, and how to see them; `nil` for none.
    package static func note(_ count: Int) -> String? {
        let ending = count == 1 ? "" : "s"
        return count == 0
            ? nil : "\(count) heading\(ending) or attitude\(ending) left out: see binnacle events"
    }
}
