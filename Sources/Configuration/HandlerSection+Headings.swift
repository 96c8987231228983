import Binnacle
import PlainText
import TableReading

/// What is different in the section of a handler that takes the headings of one detector.
extension HandlerSection {
    /// The one detector whose headings are meant; `nil` when there is none, or several, which is then reported.
    ///
    /// - Parameters:
    ///   - table: The section.
    ///   - key: The key of the action.
    ///   - chosen: The detectors that the section names.
    ///   - norths: The names of the detectors that find headings.
    /// - Returns: Its name.
    static func headingDetector(
        _ table: TableReader, _ key: String, _ chosen: [String]?, among norths: [String]
    ) -> String? {
        refuse("on", "it gets the headings, and hears when there is none any more", table, key)
        refuse("decorate", "`interval_s` says how often it sends", table, key)
        let entry = table.entry("detector")
        // What is wrong with the names was told already.
        if entry != nil, chosen == nil { return nil }
        let candidates = chosen ?? norths
        let place = entry?.node.position ?? table.entry(key)?.keyPosition ?? table.position
        if let other = candidates.first(where: { !norths.contains($0) }) {
            table.refuse(
                "detector", at: place, with: [key],
                "`\(key)` is for headings, which \(Spelling.quoted(other)) does not find",
                hint: norths.isEmpty ? "add a section [north.NAME]" : Spelling.hint(for: other, among: norths))
            return nil
        }
        guard let first = candidates.first else {
            if entry == nil {
                table.refuse(
                    key, at: place, "`\(key)` is for headings, which nothing finds", hint: "add a section [north.NAME]")
            }
            return nil
        }
        guard candidates.count == 1 else {
            let names = candidates.map(Spelling.quoted).joined(separator: ", ")
            table.refuse(
                entry == nil ? key : "detector", at: place, with: [key],
                "`\(key)` is for the headings of one detector, and there are \(names)",
                hint: "name one, such as detector = [\"\(first)\"]")
            return nil
        }
        return first
    }

    private static func refuse(_ key: String, _ reason: String, _ table: TableReader, _ action: String) {
        guard let entry = table.entry(key) else { return }
        table.refuse(
            key, at: entry.keyPosition, with: [action], "`\(key)` has no meaning for `\(action)`", hint: reason)
    }
}
