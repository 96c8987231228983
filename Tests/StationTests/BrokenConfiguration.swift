import Configuration
import Station
import TableReading
import TestSupport
import Testing

/// A faulty configuration, and all that has to be said about it, to the letter.
struct BrokenConfiguration: Sendable, CustomTestStringConvertible {
    let name: String
    /// The files of a folder by their names, or only `t.toml`.
    let files: [String: String]
    /// The messages, with `DIR` in place of the folder.
    let messages: [String]

    var testDescription: String { name }

    /// A single file.
    init(_ name: String, _ text: String, _ messages: String...) {
        (self.name, files, self.messages) = (name, ["t.toml": text], messages)
    }

    /// A single file.
    init(_ name: String, text: String, _ messages: [String]) {
        (self.name, files, self.messages) = (name, ["t.toml": text], messages)
    }

    /// A file and one drop-in.
    init(_ name: String, main: String, dropIn: String, _ messages: String...) {
        self.name = name
        files = ["binnacle.toml": main, "conf.d/50.toml": dropIn]
        self.messages = messages
    }

    /// What is said about it.
    func said() throws -> [String] {
        let folder = try TemporaryFolder(files)
        let isSingle = files["t.toml"] != nil
        do throws(ConfigurationError) {
            _ = try Configuration.read(path: folder.path + (isSingle ? "/t.toml" : ""))
            return []
        } catch {
            return error.description.replacing(folder.path, with: "DIR").split(separator: "\n").map(String.init)
        }
    }
}
