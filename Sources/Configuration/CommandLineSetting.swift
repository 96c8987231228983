import PlainText
import TableReading

/// A key set by `--set KEY=VALUE`, read like a drop-in after all files.
package struct CommandLineSetting: Sendable, Equatable {
    /// The key with its section, and its value in TOML or as a bare word.
    package let text: String

    /// Creates a setting; `nil` unless the text is `KEY=VALUE` on one line.
    package init?(_ text: String) {
        guard text.contains("="), !text.unicodeScalars.contains(where: { $0 == "\n" || $0 == "\r" }),
            let first = text.prefix(while: { $0 != "=" }).trimmed.first, first != "[", first != "#"
        else { return nil }
        self.text = text
    }

    package var name: String { "--set \(text.printable)" }

    /// The parts of the key: the section, and the key in it.
    package var keys: [String] {
        text.prefix { $0 != "=" }.split(separator: ".", omittingEmptySubsequences: false).map {
            $0.trimmed.filter { $0 != "\"" && $0 != "'" }
        }
    }

    /// Parses the text; a value that is not TOML, such as a bare word, is a string, so that a shell needs no second
    /// quotes.
    func document(file: Int) throws(TOMLDocument.SyntaxError) -> TOMLDocument {
        do throws(TOMLDocument.SyntaxError) {
            return try TOMLDocument(parsing: Array(text.utf8), file: file)
        } catch {
            guard let quoted, let document = try? TOMLDocument(parsing: Array(quoted.utf8), file: file) else {
                throw error
            }
            return document
        }
    }

    /// The text with its value quoted; `nil` when the value is empty or begins as an array, a table or a string.
    private var quoted: String? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        let value = text[text.index(after: equals)...].trimmed
        guard let first = value.first, !"[{\"'".contains(first) else { return nil }
        // Columns before the value stay the same, for messages.
        return text[..<value.startIndex] + JSONObject.quoted(String(value))
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start }
        return start[...last]
    }
}
