import EventSocket
import Glibc
import LinuxSystem
import PlainText
import TableReading

extension SocketSettings {
    init?(reading table: TableReader) {
        let path = table.path("path")
        guard path != nil || table.entry("path") == nil else { return nil }
        let longest = UnixAddress.longestPath
        if let path, path.utf8.count > longest {
            table.refuse("path", "is longer than \(longest) bytes, the longest a socket can have")
            return nil
        }
        if let path, let node = table.entry("path")?.node {
            table.warnIfUnusable(path, node, type: (S_IFSOCK, "socket"), makesFolder: true)
        }
        self.init(path: path ?? SocketPath.forDaemon())
        table.read(Self.rows, into: &self)
        if let group, AccountDatabase.group(group) == nil {
            Self.warnOfMissing("group", group, table.entry("group")?.node, table)
        }
        Self.warnOfMissing("account", in: "users", table) { AccountDatabase.user($0) != nil }
        Self.warnOfMissing("group", in: "groups", table) { AccountDatabase.group($0) != nil }
    }

    /// Warns of users or groups that this machine does not have, because the socket would not be opened.
    private static func warnOfMissing(_ what: String, in key: String, _ table: TableReader, exists: (String) -> Bool) {
        for node in table.entry(key)?.node.items ?? [] {
            if let name = node.string, !exists(name) { warnOfMissing(what, name, node, table) }
        }
    }

    private static func warnOfMissing(_ what: String, _ name: String, _ node: TOMLNode?, _ table: TableReader) {
        table.warn(
            at: node?.position ?? table.position, "this machine has no \(what) \(Spelling.quoted(name))",
            hint: "without it the socket is not opened")
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
        SettingRow(
            "connections_per_user", \.accountConnectionLimit, .integer(in: 1...1000),
            """
            The most connections of one account at a time, so that one cannot take the places of all others. Root and the \
            daemon's own account are free of it.
            """),
    ]

    static let row = SectionRow(
        "socket", shown: "socket",
        """
        Where other programs ask for events: "binnacle on", "binnacle events", "binnacle status", and your own programs.
        """,
        keys: [
            Key(
                "path", .usual("\"/run/binnacle/binnacle.sock\""),
                usual: "binnacle.sock in the service's own folder, /run/binnacle",
                "The Unix socket. A path that does not begin with / is relative to the folder of the file that has it.")
        ] + rows.map { $0.key(SocketSettings(path: "")) } + [SectionSwitch.enabled])

    private static func names(_ table: TableReader, _ key: String) -> [String]? {
        table.array(key, of: "strings")?.compactMap { table.string(key, $0) }
    }
}
