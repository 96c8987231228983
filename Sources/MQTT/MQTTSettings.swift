package import Handlers
import TableReading

/// The settings of the connection to a broker; the defaults are those of the configuration.
package struct MQTTSettings: Sendable, Equatable {
    /// The broker's name or address, without brackets.
    package var host = ""
    package var port = 0
    /// Whether the connection is encrypted and the broker's certificate is verified.
    package var usesTLS = false
    /// The user for the login; `nil` for none.
    package var user: String?
    /// The location of the user's password; `nil` for none.
    package var password: HandlerPassword?
    /// A file with the trusted certificate authorities; `nil` for the system's.
    package var authorityFile: String?
    /// The client's own certificate, a file in PEM form.
    package var certificateFile: String?
    package var keyFile: String?
    /// The client's ID for the broker, which has to be unique there.
    package var clientID = ""
    /// The client_id of a replay beside the daemon; `nil` for the same.
    package var replayClientID: String?
    /// The maximum time without a message, in seconds, before the client sends PINGREQ.
    package var keepaliveSeconds = 60
    /// The quality of service of events: 0, 1 or 2.
    package var quality = 1
    /// Whether the broker retains the last event of each topic.
    package var isRetained = false
    /// The message of an event; `nil` for its JSON.
    package var payload: CommandTemplate.Argument?
    /// The messages retained for Home Assistant; `nil` for none.
    package var discovery: MQTTDiscovery?
    /// Whether an event without a subscriber is kept until there is one; requires MQTT 5.
    package var waitsForSubscriber = false
    /// The topic of requests for missed events; `nil` for none.
    package var requestTopic: String?
    /// The events that are published again on request.
    package var repeated = HandledEvents(kinds: [], detectors: nil)
    /// The topic of the status, "online" or "offline"; `nil` for none.
    package var statusTopic: String?

    /// Creates settings with the defaults.
    package init() {}

    /// Those of a replay, which publishes events alone: what is retained says how the machine is now, which no recording does.
    var ofReplay: MQTTSettings {
        var settings = self
        settings.clientID = replayClientID ?? clientID
        (settings.statusTopic, settings.discovery, settings.requestTopic) = (nil, nil, nil)
        return settings
    }

    /// The broker's address for messages.
    var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension MQTTSettings {
    static let rows: [SettingRow<MQTTSettings>] = [
        SettingRow(
            "user", \.user, shown: .example("\"machine-1\""), "The name to log in with; by default there is none."
        ) { $2.user = word($0, $1) },
        SettingRow(
            "password_file", \.password, shown: .example("\"/etc/binnacle/mqtt.password\""),
            """
            The file with the user's password, which is never in the configuration. It must not be readable for \
            every account. It is read again at each connection.
            """
        ) { table, key, settings in
            if table.entry("password_credential") == nil { require("user", passwordPurpose, for: key, table) }
            settings.password = HandlerPassword.file(table, key)
        },
        SettingRow(
            "password_credential", \.password, shown: .example("\"mqtt\""),
            "Instead of password_file, the name of a LoadCredential= in the service's unit."
        ) { table, key, settings in
            if table.entry("password_file") == nil { require("user", passwordPurpose, for: key, table) }
            settings.password = HandlerPassword.credential(table, key)
        },
        SettingRow(
            "ca_file", \.authorityFile, shown: .example("\"/etc/binnacle/broker-ca.pem\""),
            usual: "those whom the system trusts", "The authorities whose certificates are accepted, in PEM form."
        ) { $2.authorityFile = $0.file($1) },
        SettingRow(
            "certificate_file", \.certificateFile, shown: .example("\"/etc/binnacle/client.pem\""),
            "The client's own certificate, for a broker that asks for one; it needs key_file."
        ) { table, key, settings in
            settings.certificateFile = table.file(key)
            require("key_file", "a certificate is of no use without its key", for: key, table)
        },
        SettingRow(
            "key_file", \.keyFile, shown: .example("\"/etc/binnacle/client.key\""), "The key of certificate_file."
        ) { table, key, settings in
            settings.keyFile = table.file(key)
            require("certificate_file", "a key is of no use without its certificate", for: key, table)
        },
        SettingRow(
            "keepalive_s", \.keepaliveSeconds, .integer(in: 5...65_535),
            "After so long without traffic the broker is pinged."),
        SettingRow(
            "qos", \.quality, .integer(in: 0...2),
            """
            How surely the broker gets an event: 1 at least once, 2 exactly once within a connection, 0 at most once, which \
            loses what was sent as the connection broke.
            """),
        SettingRow("retain", \.isRetained, .boolean, "Whether the broker keeps the last event of each topic."),
        SettingRow(
            "wait_for_subscriber", \.waitsForSubscriber, .boolean,
            """
            Whether an event is kept while the broker reports that its topic has no subscriber, for example a broker that \
            came back before its readers; it is sent again until there is one. MQTT 5 is spoken for that; a broker that does not \
            is reported once. It needs qos = 1.
            """),
        SettingRow(
            "payload", \.payload, shown: .example("\"{kind} {peak_g}\""), usual: "the event as JSON",
            """
            The message of an event, for receivers that read no JSON; its names are those of command. A value that the event \
            does not have is empty.
            """
        ) { table, key, settings in
            settings.payload = table.entry(key).flatMap { table.argument(key, $0.node, mayBeEmpty: false) }
        },
    ]

    private static let passwordPurpose = "a password is that of a user"

    private static func require(_ key: String, _ purpose: String, for other: String, _ table: TableReader) {
        if table.entry(other) != nil { table.require(key, purpose, for: other) }
    }

    /// A text without control characters, which MQTT forbids in strings.
    static func word(_ table: TableReader, _ key: String) -> String? {
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
