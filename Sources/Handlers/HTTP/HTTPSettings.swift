import Binnacle
import PlainText
import TableReading

/// Where and how events are posted; the defaults are those of the configuration.
package struct HTTPSettings: Sendable, Equatable {
    package enum PathPiece: Sendable, Equatable {
        case text(String)
        /// The password, as it stands.
        case secret
    }

    /// A header and the template of its value.
    package struct Header: Sendable, Equatable {
        let name: String
        let value: CommandTemplate.Argument

        package init(name: String, value: CommandTemplate.Argument) {
            self.name = name
            self.value = value
        }
    }

    /// Scheme, host and port, such as `https://ntfy.example`.
    package var place = ""
    /// What follows.
    package var path: [PathPiece] = []
    /// Whether the connection is encrypted and the certificate verified.
    package var usesTLS = true
    /// Whether the host is this machine.
    package var isLocal = false
    /// Whether http:// may go to another machine.
    package var allowsPlain = false
    /// The name of a login (Basic); `nil` for none.
    package var user: String?
    /// The password of the user; without one a token (Bearer), or the secret of the path; `nil` for none.
    package var password: HandlerPassword?
    /// A file with the trusted authorities; `nil` for the system's.
    package var authorityFile: String?
    /// The text that is sent; `nil` for JSON.
    package var payload: CommandTemplate.Argument?
    /// The JSON that is sent; `nil` for that of the event.
    package var json: JSONTemplate?
    package var headers: [Header] = []
    /// How long a request may take.
    package var timeout: Duration = .seconds(30)
    /// The number of retries of a request that the service refuses because of its place or its login.
    package var retryLimit = 5

    /// Creates settings with the defaults.
    package init() {}

    var address: String { url(secret: "{secret}") }

    func url(secret: String?) -> String {
        path.reduce(into: place) { text, piece in
            if case .text(let words) = piece { text += words } else { text += secret ?? "" }
        }
    }
}

extension HTTPSettings {
    static let rows: [SettingRow<HTTPSettings>] = [
        SettingRow(
            "payload", \.payload, shown: .example("\"{kind} of {sensor}\""), usual: "the event as JSON",
            """
            The text that is sent, as text/plain; its names are those of command. A value that the event does not have is empty.
            """
        ) { table, key, settings in
            settings.payload = table.entry(key).flatMap { table.argument(key, $0.node) }
        },
        SettingRow(
            "json", \.json, shown: .example("{ title = \"Binnacle\", message = \"{kind} of {sensor}\", priority = 8 }"),
            usual: "the event as JSON",
            "The JSON that is sent in place of the event's: a table, whose texts have the names of command."
        ) { table, key, settings in
            guard let node = table.entry(key)?.node else { return }
            guard case .table = node.value else { return table.refuse(key, node, expected: "a table") }
            settings.json = JSONTemplate(reading: node, key, table)
        },
        SettingRow(
            "headers", \.headers, shown: .example("{ Title = \"{kind}\", Priority = \"high\" }"), usual: "{}",
            "Headers of the request; their values have the names of command. One whose value is empty is left out.",
            read: readHeaders),
        SettingRow(
            "user", \.user, shown: .example("\"binnacle\""),
            "The name to log in with (Basic), with a password; by default there is none."
        ) { table, key, settings in
            settings.user = table.string(key)
            if table.entry("password_credential") == nil {
                table.require("password_file", "a login by HTTP has a password", for: key)
            }
            guard let user = settings.user, user.contains(":") || user.utf8.contains(where: { $0 < 0x20 }) else {
                return
            }
            table.refuse(key, "holds a colon or a control character, which no login by HTTP has")
        },
        SettingRow(
            "password_file", \.password, shown: .example("\"/etc/binnacle/ntfy.token\""),
            """
            The file with the user's password, or, without a user, with the token that is sent as "Authorization: Bearer", \
            unless {secret} stands in the address. It must not be readable for every account. It is read again at each request.
            """
        ) { $2.password = HandlerPassword.file($0, $1) },
        SettingRow(
            "password_credential", \.password, shown: .example("\"ntfy\""),
            "Instead of password_file, the name of a LoadCredential= in the service's unit."
        ) { $2.password = HandlerPassword.credential($0, $1) },
        SettingRow(
            "ca_file", \.authorityFile, shown: .example("\"/etc/binnacle/home-ca.pem\""),
            usual: "those whom the system trusts", "The authorities whose certificates are accepted, in PEM form."
        ) { $2.authorityFile = $0.file($1) },
        SettingRow(
            "plain_http", \.allowsPlain, .boolean,
            "Whether http:// may go to another machine, where every machine on the way can read and change it."),
        SettingRow(
            "timeout_s", \.timeout, .seconds(in: 0.1...600),
            "The longest that a request may take, from the look-up of the name to the end of the answer."),
        SettingRow(
            "retries", \.retryLimit, .integer(in: 0...100),
            """
            The number of times that an event is sent again which the service refuses because of the place or the login (3xx, \
            401, 403, 404, 405, 407, 410). Then it is given up, and further events are sent once each, until one is accepted.
            """),
    ]

    /// Headers that are made otherwise, or would change where a request ends.
    private static let ownHeaders = [
        "authorization", "connection", "content-length", "expect", "host", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    private static func readHeaders(_ table: TableReader, _ key: String, _ settings: inout HTTPSettings) {
        guard let node = table.entry(key)?.node, let entries = table.entries(key, node, of: "strings") else { return }
        for entry in entries {
            guard isToken(entry.key) else {
                table.refuse(
                    key, at: entry.keyPosition, "\(Spelling.quoted(entry.key)) cannot be a header's name",
                    hint: "letters, digits and hyphens")
                continue
            }
            let name = entry.key.lowercased()
            guard !ownHeaders.contains(name) else {
                table.refuse(
                    key, at: entry.keyPosition, "the header \(Spelling.quoted(entry.key)) is not for a configuration",
                    hint: name.hasSuffix("authorization")
                        ? "a login is said with `user`, and `password_file` or `password_credential`"
                        : "it follows from the address and the body")
                continue
            }
            guard !settings.headers.contains(where: { $0.name.lowercased() == name }) else {
                table.refuse(
                    key, at: entry.keyPosition, "the header \(Spelling.quoted(entry.key)) is there twice",
                    hint: "capital letters make no difference in the name of a header")
                continue
            }
            if let value = table.argument(key, entry.node) {
                settings.headers.append(Header(name: entry.key, value: value))
            }
        }
    }

    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
    }
}

/// A JSON value whose texts have placeholders for event values.
package indirect enum JSONTemplate: Sendable, Equatable {
    case text(CommandTemplate.Argument)
    /// A number or a boolean, as JSON.
    case literal(String)
    case array([JSONTemplate])
    case object([Member])

    package struct Member: Sendable, Equatable {
        let key: String
        let value: JSONTemplate

        package init(key: String, value: JSONTemplate) {
            self.key = key
            self.value = value
        }
    }

    func json(for event: Event) -> String {
        switch self {
        case .text(let argument): return JSONObject.quoted(argument.text(for: event))
        case .literal(let text): return text
        case .array(let values): return JSONObject.list(values.map { $0.json(for: event) })
        case .object(let members):
            let texts = members.map { "\(JSONObject.quoted($0.key)):\($0.value.json(for: event))" }
            return "{" + texts.joined(separator: ",") + "}"
        }
    }

    /// Reads a value; `nil` when it cannot be JSON, which is then reported.
    init?(reading node: TOMLNode, _ key: String, _ table: TableReader) {
        switch node.value {
        case .string:
            guard let argument = table.argument(key, node) else { return nil }
            self = .text(argument)
        case .integer(let value): self = .literal("\(value)")
        case .float(let value):
            guard value.isFinite else {
                table.refuse(
                    key, at: node.position, "JSON has no number for \(value)", hint: "a finite number, or a string")
                return nil
            }
            self = .literal("\(value)")
        case .boolean(let value): self = .literal("\(value)")
        case .array(let nodes):
            self = .array(nodes.compactMap { JSONTemplate(reading: $0, key, table) })
        case .table(let entries):
            self = .object(
                entries.compactMap { entry in
                    JSONTemplate(reading: entry.node, key, table).map { Member(key: entry.key, value: $0) }
                })
        default:
            table.refuse(key, node, expected: "a string, a number, true, false, an array or a table")
            return nil
        }
    }
}
