package import Binnacle
import PlainText

/// Reads the keys of one table and reports errors in them.
///
/// A wrong type, an unknown word and an unknown key are reported at their own position, a number out of range at its
/// key, and a missing key at the table.
package final class TableReader {
    /// The name in messages, such as `[motion.moved]`.
    package let title: String
    package let position: SourcePosition
    package let diagnostics: DiagnosticCollector
    private let entries: [TOMLEntry]
    /// Keys whose values were refused; their absence is not reported.
    private var refused: Set<String> = []

    /// Creates a reader, and reports unknown keys.
    package init(
        title: String, position: SourcePosition, entries: [TOMLEntry], allowed: [String],
        diagnostics: DiagnosticCollector
    ) {
        self.title = title
        self.position = position
        self.entries = entries
        self.diagnostics = diagnostics
        for entry in entries where !allowed.contains(entry.key) {
            diagnostics.report(
                at: entry.keyPosition, "unknown key \(Spelling.quoted(entry.key)) in \(title)",
                hint: Spelling.hint(for: entry.key, among: allowed))
        }
    }

    package func entry(_ key: String) -> TOMLEntry? {
        entries.first { $0.key == key }
    }

    /// Includes unknown keys.
    package var keyCount: Int { entries.count }

    package var hasOnlyEmptyTables: Bool {
        entries.allSatisfy { $0.node.entries?.isEmpty ?? false }
    }

    package func required(_ key: String, _ purpose: String) -> TOMLNode? {
        if let node = entry(key)?.node { return node }
        report(missing: key, purpose)
        return nil
    }

    /// Reports a missing key, which another key may require.
    package func report(missing key: String, _ purpose: String, for other: String? = nil) {
        diagnostics.report(
            at: place(position, with: other.map { [$0] } ?? []), "\(title) has no `\(key)`", hint: purpose)
    }

    /// Reports a key that is missing although another one requires it.
    package func require(_ key: String, _ purpose: String, for other: String) {
        if entry(key) == nil { report(missing: key, purpose, for: other) }
    }

    /// Reports an error in a key's value; `hint` is the remedy.
    ///
    /// `others` are keys that conflict with it; the error is reported at the one in the latest file, which has to be
    /// changed.
    package func refuse(
        _ key: String, at position: SourcePosition, with others: [String] = [], _ message: String, hint: String? = nil
    ) {
        refused.insert(key)
        report(key, at: position, with: others, message, hint: hint)
    }

    /// Reports a key, if it is there, that has no meaning for what other keys say.
    package func refuse(_ key: String, meaninglessFor what: String, with others: [String], hint: String) {
        guard let entry = entry(key) else { return }
        refuse(key, at: entry.keyPosition, with: others, "`\(key)` has no meaning for \(what)", hint: hint)
    }

    private func report(
        _ key: String, at position: SourcePosition, with others: [String], _ message: String, hint: String?
    ) {
        let place = place(position, with: others)
        guard place.file != position.file, entry(key) != nil else {
            return diagnostics.report(at: place, message, hint: hint)
        }
        let other = "`\(key)` is " + diagnostics.words(for: position, from: place)
        diagnostics.report(at: place, message, hint: hint.map { "\($0); \(other)" } ?? other)
    }

    /// The given position, or that of the last of some keys that a later file set.
    private func place(_ position: SourcePosition, with keys: [String]) -> SourcePosition {
        let later = keys.compactMap { entry($0)?.keyPosition }.filter { $0.file > position.file }
        return later.max() ?? position
    }

    /// Warns of a value that is valid and probably not intended.
    package func warn(at position: SourcePosition, _ message: String, hint: String? = nil) {
        diagnostics.report(.warning, at: position, message, hint: hint)
    }

    /// Warns of a key without effect, and why, as in "without running_g"; `text` is what of it has none, if that is not all.
    ///
    /// The reason may be a value that was refused, which is reported already.
    package func warn(idle key: String, as text: String? = nil, _ words: String) {
        guard refused.isEmpty, let entry = entry(key) else { return }
        warn(at: entry.keyPosition, "\(text ?? key) has no effect \(words)")
    }

    /// Reports a wrong type.
    package func refuse(_ key: String, _ node: TOMLNode, expected: String) {
        refuse(key, at: node.position, "`\(key)`: expected \(expected), found \(node.typeName)")
    }

    /// Reports an unusable number at its key.
    package func refuse(_ key: String, _ message: String, hint: String? = nil) {
        refuse(key, at: entry(key)?.keyPosition ?? position, "\(key) \(message)", hint: hint)
    }

    /// Reports invalid settings at their keys, or at the table if a default does not fit the other keys.
    package func report<Settings: Sendable>(_ problems: [SettingsProblem<Settings>], of rows: [SettingRow<Settings>]) {
        func key(_ property: SettingsProblem<Settings>.Property) -> String {
            rows.first { $0.property == property }?.name ?? "\(property)"
        }
        let faulty = refused.union(problems.map { key($0.property) })
        var told = refused
        for problem in problems {
            let name = key(problem.property)
            let others = problem.others.map(key)
            // The default depends on another key, which is reported.
            if entry(name) == nil, others.contains(where: faulty.contains) { continue }
            // Compared with the default of a key whose value was refused.
            if others.contains(where: refused.contains) { continue }
            guard told.insert(name).inserted else { continue }
            report(
                name, at: entry(name)?.keyPosition ?? position, with: others, problem.sentence(naming: key), hint: nil)
        }
    }
}
