import EventSocket
import LinuxSystem
import PlainText
import TableReading

extension SocketSettings {
    /// Reads the section; `nil` when it cannot be used, which is then reported.
    init?(reading table: TableReader) {
        let path = table.path("path")
        guard path != nil || table.entry("path") == nil else { return nil }
        let longest = UnixAddress.longestPath
        if let path, path.utf8.count > longest {
            table.refuse("path", "is longer than \(longest) bytes, the longest a socket can have")
            return nil
        }
        self.init(path: path ?? SocketPath.forDaemon())
        table.read(Self.rows, into: &self)
    }

    private static let rows: [SettingRow<SocketSettings>] = [
        SettingRow(
            "mode", \.mode, shown: .usual("\"0660\""),
            """
            The permissions of the socket, in octal. Who may write to it may connect: here the group binnacle.
            """
        ) { table, key, settings in
            guard let node = table.entry(key)?.node, let text = table.string(key, node) else { return }
            if let bits = UInt32(text, radix: 8), bits <= 0o777, text.utf8.count == 4, text.hasPrefix("0") {
                settings.mode = bits
            } else {
                table.refuse(
                    key, at: node.position, "`\(key)` cannot be \(Spelling.quoted(text))",
                    hint: "four octal digits, such as \"0660\"")
            }
        },
        SettingRow(
            "group", \.group, .text, usual: "the daemon's own, which is binnacle", shown: .example("\"plugdev\""),
            "The group that the socket is given to. The daemon has to be a member."),
        SettingRow(
            "users", \.users, shown: .example("[\"anna\"]"), usual: "every account that the permissions let in",
            """
            When users or groups is given, an account must be named, or be a member of a group that is. Root and the \
            daemon's own account always may.
            """
        ) { table, key, settings in settings.users = names(table, key) },
        SettingRow("groups", \.groups, shown: .example("[\"sailors\"]"), "See users.") { table, key, settings in
            settings.groups = names(table, key)
        },
        SettingRow(
            "connections", \.connectionLimit, .integer(in: 1...1000), "The most connections at a time."),
    ]

    /// The section's row.
    static let row = SectionRow(
        "socket", shown: "socket",
        """
        Where other programs ask for events: "binnacle on", "binnacle events", "binnacle status", and your own programs.
        """,
        keys: [
            Key(
                "path", .usual("\"/run/binnacle/binnacle.sock\""),
                usual: "binnacle.sock in the service's own folder, /run/binnacle", "The Unix socket.")
        ] + rows.map { $0.key(SocketSettings(path: "")) })

    private static func names(_ table: TableReader, _ key: String) -> [String]? {
        table.array(key, of: "strings")?.compactMap { table.string(key, $0) }
    }
}
