import Foundation

/// A folder that lives as long as this object.
package final class TemporaryFolder: Sendable {
    package let path = NSTemporaryDirectory() + "binnacle-test-" + UUID().uuidString

    /// Makes a folder with files by their names; the folders in the names are made, too.
    package init(_ files: [String: String] = [:]) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try write(name, text) }
    }

    package func write(_ name: String, _ text: String) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
