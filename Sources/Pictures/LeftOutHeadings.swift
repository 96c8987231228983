/// What the lists of events in `watch` and `web` say about headings, of which a turn has one for each degree.
package enum LeftOutHeadings {
    /// How many headings a list leaves out, and how to see them; `nil` for none.
    package static func note(_ count: Int) -> String? {
        count == 0 ? nil : "\(count) heading\(count == 1 ? "" : "s") left out: see binnacle events --kind heading"
    }
}
