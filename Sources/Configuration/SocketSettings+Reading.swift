import Binnacle
import EventSocket
import PlainText
import TableReading

extension SocketSettings {
    /// The section's keys.
    static let keys = ["path", "mode", "group", "users", "groups", "connections"]

    /// The most bytes that the system takes as a socket's path.
    private static let longestPath = 107

    /// Reads the section; `nil` when it cannot be used, which is then reported.
    ///
    /// - Parameters:
    ///   - table: Its keys.
    ///   - folder: What a path is relative to: nothing, or a path that ends with a slash.
    init?(reading table: TableReader, folder: String) {
        var path = table.string("path")
        guard path != nil || table.entry("path") == nil else { return nil }
        path = path.map { $0.hasPrefix("/") ? $0 : folder + $0 }
        if let path, path.utf8.count > Self.longestPath {
            table.refuse("path", "is longer than \(Self.longestPath) bytes, the longest a socket can have")
            return nil
        }
        self.init(path: path ?? SocketPath.forDaemon())
        if let node = table.entry("mode")?.node, let text = table.string("mode", node) {
            if let bits = UInt32(text, radix: 8), bits <= 0o777, text.utf8.count == 4, text.hasPrefix("0") {
                mode = bits
            } else {
                table.refuse(
                    "mode", at: node.position, "`mode` cannot be \(Spelling.quoted(text))",
                    hint: "four octal digits, such as \"0660\"")
            }
        }
        group = table.string("group")
        users = Self.names(table, "users")
        groups = Self.names(table, "groups")
        connectionLimit = table.integer("connections", in: 1...1000) ?? connectionLimit
    }

    private static func names(_ table: TableReader, _ key: String) -> [String]? {
        table.array(key, of: "strings")?.compactMap { table.string(key, $0) }
    }
}
