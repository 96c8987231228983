import Binnacle

/// `mqtt = "mqtts://…"`: publishes the event to a broker.
package struct MQTTAction: HandlerAction, Equatable {
    /// The broker.
    package let broker: MQTTBroker
    /// The topic of an event.
    package let topic: TopicTemplate
    /// The topic of a sensor's state; `nil` when no states are published.
    package let stateTopic: TopicTemplate?
    /// The topic that says whether the handler is there; `nil` when none does.
    package let statusTopic: TopicTemplate?
    /// What the broker knows the handler by; `nil` is a name made of the machine's and the handler's.
    package let clientID: String?
    /// The user that logs in; `nil` for none.
    package let user: String?
    /// Where the user's password is; `nil` is none.
    package let password: MQTTPassword?
    /// The certificates of those who may have signed the broker's; `nil` is those that the system trusts.
    package let authorityFile: String?
    /// The client's own certificate.
    package let identity: MQTTSettings.Identity?
    /// The longest silence, in seconds.
    package let keepaliveSeconds: Int

    /// How its first key is written.
    package static let example = "mqtt = \"mqtts://broker.example\""
    /// Others act on what a broker tells them.
    package static let actsOnTheWorld = true

    /// Publishes each event.
    package func work(for name: String) -> HandlerWork {
        .threaded(MQTTPublisher.plan(settings(of: name), topics))
    }

    /// What a person should know who does not see the configuration.
    package var notices: [String] {
        guard password != nil, !broker.usesTLS, !broker.isLocal else { return [] }
        return ["the password goes to \(broker.host) in plain text: mqtts:// would encrypt it"]
    }

    private var topics: MQTTPublisher.Topics {
        let (host, topic) = (HostName.current, topic)
        let state = stateTopic.map { template -> @Sendable (String) -> String in
            { template.topic(forSensor: $0, host: host) }
        }
        return MQTTPublisher.Topics(event: { topic.topic(for: $0, host: host) }, state: state)
    }

    private func settings(of name: String) -> MQTTSettings {
        let host = HostName.current
        let usualID = "binnacle-\(MQTTTopic.level(host))-\(MQTTTopic.level(name))"
        var settings = MQTTSettings(
            host: broker.host, port: broker.port, usesTLS: broker.usesTLS, clientID: clientID ?? usualID)
        settings.user = user
        settings.password = password
        settings.authorityFile = authorityFile
        settings.identity = identity
        settings.keepaliveSeconds = keepaliveSeconds
        settings.statusTopic = statusTopic?.topic(host: host)
        return settings
    }
}

/// Where a broker is, as a configuration says it: `mqtts://broker.example:8883`.
package struct MQTTBroker: Sendable, Equatable {
    /// The name or address, without brackets.
    package let host: String
    /// The port.
    package let port: Int
    /// Whether the connection is encrypted.
    package let usesTLS: Bool

    private static let form = NetworkPlace.Form(
        schemes: ("mqtts", "mqtt"), example: "mqtts://broker.example:8883",
        exampleOfIPv6: "mqtts://[2001:db8::1]:8883",
        insteadOfUser: "that is said with `user`, and `password_file` or `password_credential`")

    /// Whether it is this machine.
    var isLocal: Bool { ["localhost", "127.0.0.1", "::1"].contains(host.lowercased()) }

    /// Parses a broker's URL.
    init(parsing text: String) throws(NetworkPlace.SyntaxError) {
        let place = try NetworkPlace(parsing: text, as: Self.form)
        host = place.host
        usesTLS = place.scheme == "mqtts"
        port = place.port ?? (usesTLS ? 8883 : 1883)
    }
}
