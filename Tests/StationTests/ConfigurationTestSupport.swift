import Configuration
import Station
import TableReading
import Testing

/// Parses a text as `t.toml`.
func parse(_ text: String) throws(ConfigurationError) -> Configuration {
    try Configuration.parse(Array(text.utf8), path: "t.toml")
}

/// What is wrong with a text; empty when nothing is.
func problems(_ text: String) -> [ConfigurationDiagnostic] {
    problems(Array(text.utf8))
}

/// What is wrong with bytes; empty when nothing is.
func problems(_ bytes: [UInt8]) -> [ConfigurationDiagnostic] {
    do throws(ConfigurationError) {
        _ = try Configuration.parse(bytes, path: "t.toml")
        return []
    } catch {
        return error.diagnostics
    }
}

extension ConfigurationError {
    /// The errors in the files; empty if a file could not be read.
    var diagnostics: [ConfigurationDiagnostic] {
        switch self {
        case .file: []
        case .contents(_, let diagnostics): diagnostics
        }
    }
}

/// A faulty text and the one message it has to give.
struct FaultyText: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let line: Int
    let column: Int
    let words: [String]

    /// `|` marks the place in the text where the message has to point, and is taken out of it.
    init(_ name: String, _ marked: String, _ words: String...) {
        let before = marked.prefix { $0 != "|" }
        let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
        self.name = name
        text = String(before + marked.dropFirst(before.count + 1))
        line = lines.count
        column = (lines.last?.count ?? 0) + 1
        self.words = words
    }

    var testDescription: String { name }
}
