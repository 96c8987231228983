import Binnacle
import PlainText
package import TableReading

extension MQTTAction {
    private static let usualTopic = "binnacle/{host}/{sensor}/{kind}"
    private static let usualStateTopic = "binnacle/{host}/{sensor}/state"
    private static let usualStatusTopic = "binnacle/{host}/status"
    /// The keys that say something about TLS.
    private static let encryption = ["ca_file", "certificate_file", "key_file"]

    /// Its keys.
    package static let row = HandlerRow(
        shown: "fleet", kinds: "[\"motion.began\", \"motion.ended\"]",
        """
        Publishes the events to an MQTT broker (MQTT 3.1.1, QoS 1). While the broker is away the connection is tried again, \
        after 1 s at first, up to every 60 s. "handler.failed" reports each reason once, "handler.recovered" its end.
        """,
        key: Key(
            "mqtt", .usual("\"mqtts://broker.example:8883\""), usual: "",
            """
            The broker. mqtts:// is encrypted, and the broker's certificate is always verified; mqtt:// is not encrypted. \
            The ports are 8883 and 1883 unless another stands behind the host. An address of IPv6 stands in brackets.
            """),
        further: [
            Key(
                "topic", .usual("\"\(usualTopic)\""),
                """
                The topic of an event; the message is the event as JSON. {host} is the machine's name, and the other names \
                are those of command. A value stays within one level: /, +, # and control characters in it become _; an \
                empty value becomes -.
                """),
            Key(
                "state_topic", .usual("\"\(usualStateTopic)\""),
                """
                The topic of each sensor's latest state, as JSON, which the broker keeps (retained); an empty text publishes \
                none. It is made from the events in on alone.
                """),
            Key(
                "status_topic", .usual("\"\(usualStatusTopic)\""),
                """
                The topic of online or offline, which the broker keeps (retained). It becomes offline also when the machine \
                vanishes. An empty text publishes none. Two handlers for one broker need two of them.
                """),
            Key("user", .example("\"machine-1\""), "The name to log in with; by default there is none."),
            Key(
                "password_file", .example("\"/etc/binnacle/mqtt.password\""),
                """
                The file with the user's password, which is never in the configuration. It must not be readable for every \
                account. It is read again at each connection.
                """),
            Key(
                "password_credential", .example("\"mqtt\""),
                "Instead of password_file, the name of a LoadCredential= in the service's unit."),
            Key(
                "ca_file", .example("\"/etc/binnacle/broker-ca.pem\""), usual: "those whom the system trusts",
                "The authorities whose certificates are accepted, in PEM form."),
            Key(
                "certificate_file", .example("\"/etc/binnacle/client.pem\""),
                "The client's own certificate, for a broker that asks for one; it needs key_file."),
            Key("key_file", .example("\"/etc/binnacle/client.key\""), "The key of certificate_file."),
            Key(
                "client_id", .example("\"machine-1\""), usual: "binnacle- and the machine's and the handler's name",
                "The client identifier at the broker. No two clients of a broker may have the same."),
            Key(
                "keepalive_s", .usual("60"), range: "from 5 to 65535",
                "After so long without traffic the broker is pinged."),
        ])

    /// Reads what a section says of it; `nil` when that cannot be used, which is then reported.
    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let broker = Self.broker(table, entry.node)
        let topic = TopicTemplate(
            "topic", of: table, usual: Self.usualTopic, among: CommandPlaceholder.all, mayBeEmpty: false)
        stateTopic = Self.stateTopic(table)
        statusTopic = TopicTemplate(
            "status_topic", of: table, usual: Self.usualStatusTopic, among: [], mayBeEmpty: true)
        clientID = Self.word(table, "client_id")
        user = Self.word(table, "user")
        password = Self.password(table)
        authorityFile = Self.file(table, "ca_file")
        identity = Self.identity(table)
        keepaliveSeconds = table.integer("keepalive_s", in: 5...65_535) ?? 60
        if let broker, !broker.usesTLS { Self.refuseEncryption(table) }
        guard let broker, let topic else { return nil }
        self.broker = broker
        self.topic = topic
    }

    private static func broker(_ table: TableReader, _ node: TOMLNode) -> MQTTBroker? {
        guard let text = table.string(key, node) else { return nil }
        do throws(NetworkPlace.SyntaxError) {
            return try MQTTBroker(parsing: text)
        } catch {
            table.refuse(key, at: node.position, "`\(key)` \(error.message)", hint: error.hint)
            return nil
        }
    }

    private static func stateTopic(_ table: TableReader) -> TopicTemplate? {
        let key = "state_topic"
        guard
            let template = TopicTemplate(key, of: table, usual: usualStateTopic, among: [.sensor], mayBeEmpty: true)
        else { return nil }
        guard template.pieces.contains(.placeholder(.sensor)) else {
            table.refuse(
                key, at: table.entry(key)?.node.position ?? table.position, "`\(key)` has no {sensor}",
                hint: "each sensor has a state of its own; an empty text publishes none")
            return nil
        }
        return template
    }

    private static func password(_ table: TableReader) -> MQTTPassword? {
        let keys = ["password_file", "password_credential"]
        let given = keys.filter { table.entry($0) != nil }
        guard let first = given.first else { return nil }
        guard given.count == 1 else {
            table.refuse(
                keys[1], at: table.entry(keys[1])?.keyPosition ?? table.position, with: [keys[0]],
                "\(table.title) has both `\(keys[0])` and `\(keys[1])`", hint: "there is one password")
            return nil
        }
        table.require("user", "a password is that of a user", for: first)
        return first == keys[0] ? passwordFile(table, first) : credential(table, first)
    }

    private static func passwordFile(_ table: TableReader, _ key: String) -> MQTTPassword? {
        guard let path = file(table, key), let entry = table.entry(key) else { return nil }
        guard !MQTTPassword.isReadableByAll(path) else {
            table.refuse(
                key, at: entry.node.position, "everybody can read \(Spelling.quoted(path))",
                hint: "chmod o-r takes that right away")
            return nil
        }
        return .file(path)
    }

    private static func credential(_ table: TableReader, _ key: String) -> MQTTPassword? {
        guard let name = table.string(key), let entry = table.entry(key) else { return nil }
        guard !name.contains("/"), name != ".", name != ".." else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` is a name, and no path",
                hint: "that of a LoadCredential= in the service's unit")
            return nil
        }
        return .credential(name)
    }

    private static func identity(_ table: TableReader) -> MQTTSettings.Identity? {
        let certificate = file(table, "certificate_file")
        let key = file(table, "key_file")
        if table.entry("certificate_file") != nil {
            table.require("key_file", "a certificate is of no use without its key", for: "certificate_file")
        } else if table.entry("key_file") != nil {
            table.require("certificate_file", "a key is of no use without its certificate", for: "key_file")
        }
        guard let certificate, let key else { return nil }
        return MQTTSettings.Identity(certificateFile: certificate, keyFile: key)
    }

    private static func refuseEncryption(_ table: TableReader) {
        for key in encryption {
            guard let entry = table.entry(key) else { continue }
            table.refuse(
                key, at: entry.keyPosition, with: [Self.key], "`\(key)` has no meaning for mqtt://",
                hint: "mqtts:// is the encrypted way")
        }
    }

    /// The path of a file, which is looked at when it is needed.
    private static func file(_ table: TableReader, _ key: String) -> String? {
        guard let path = table.string(key), let entry = table.entry(key) else { return nil }
        guard path.hasPrefix("/") else {
            table.refuse(
                key, at: entry.node.position, "\(Spelling.quoted(path)) has to be an absolute path",
                hint: "such as /etc/binnacle/\(path.split(separator: "/").last.map(String.init) ?? "file")")
            return nil
        }
        return path
    }

    /// A text without control characters, which MQTT does not carry in names.
    private static func word(_ table: TableReader, _ key: String) -> String? {
        guard let text = table.string(key), let entry = table.entry(key) else { return nil }
        guard text.utf8.count <= 256,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            table.refuse(
                key, at: entry.node.position, "`\(key)` is too long, or holds a control character",
                hint: "at most 256 bytes")
            return nil
        }
        return text
    }
}
