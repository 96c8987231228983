package import Binnacle
package import Handlers
import PlainText
package import TableReading

/// `mqtt = "mqtts://…"`: publishes the event to a broker.
package struct MQTTAction: HandlerAction {
    /// The connection's settings, except for the client ID.
    package private(set) var settings: MQTTSettings
    /// The client ID; `nil` for one made from the machine and the handler.
    package let clientID: TopicTemplate?
    package let topic: TopicTemplate
    /// The topic of a sensor's state; `nil` to publish no states.
    package let stateTopic: TopicTemplate?
    /// The topic of the handler's status; `nil` to publish none.
    package let statusTopic: TopicTemplate?

    /// The descriptions for Home Assistant; `nil` for none.
    package let discovery: Discovery?
    package let discoveryPrefix: String
    /// The topic of requests for missed events; `nil` for none.
    package let requestTopic: TopicTemplate?
    private var detectors: [HandledDetector] = []
    private var handlers: [String] = []

    /// The receiver of the sensors' descriptions.
    package enum Discovery: String, CaseIterable, Sendable {
        case homeAssistant = "homeassistant"
        /// None; the descriptions are removed from the broker.
        case none
    }

    package static let example = "mqtt = \"mqtts://broker.example\""
    /// Clients of the broker may act on its messages.
    package static let actsOnTheWorld = true

    private static let usualPrefix = "homeassistant"
    private static let form = NetworkPlace.Form(
        schemes: ("mqtts", "mqtt"), example: "mqtts://broker.example:8883",
        exampleOfIPv6: "mqtts://[2001:db8::1]:8883",
        insteadOfUser: "that is said with `user`, and `password_file` or `password_credential`")

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
                "layout", .usual("\"v1\""),
                """
                Which topics are the defaults. "v1": events stand below event, a level for each word of their kind, and \
                states below state. "v0": "\(MQTTLayout.v0.topic)", "\(MQTTLayout.v0.stateTopic)" and \
                "\(MQTTLayout.v0.statusTopic)".
                """),
            Key(
                "topic", .usual("\"\(MQTTLayout.v1.topic)\""),
                """
                The topic of an event; the message is the event as JSON. {identity} stands for the machine, the same at each \
                start, and another one on each copy of its disk: a digest of /etc/machine-id and of the serial number of the \
                board or, without one, of the address of a network card. {host} is the machine's name, {kind_levels} the \
                kind with / in place of its dot, and the other names are those of command. A value stays within one level: \
                /, +, # and control characters in it become _; an empty value becomes -.
                """),
            Key(
                "state_topic", .usual("\"\(MQTTLayout.v1.stateTopic)\""),
                """
                The topic of each sensor's latest state, as JSON, which the broker keeps (retained); an empty text publishes \
                none. It is made from the events in on alone.
                """),
            Key(
                "status_topic", .usual("\"\(MQTTLayout.v1.statusTopic)\""),
                """
                The topic of online or offline, which the broker keeps (retained). It becomes offline also when the machine \
                vanishes. An empty text publishes none. Two handlers for one broker need two of them.
                """),
            Key(
                "discovery", .example("\"homeassistant\""), usual: "",
                """
                "homeassistant" has Home Assistant (2025.4 or later) show each sensor as a device, without any configuration \
                there: the broker keeps a description of it. What it shows depends on the kinds in on. "none" removes what an \
                earlier configuration left. It needs state_topic, and a topic that is made of names and kinds alone.
                """),
            Key(
                "discovery_prefix", .example("\"\(usualPrefix)\""), usual: "\"\(usualPrefix)\"",
                "The discovery prefix in Home Assistant's settings of MQTT."),
            Key(
                "request_topic", .example("\"\(MQTTLayout.v1.requestTopic)\""), usual: "", needsStore: true,
                """
                The topic of requests for what a reader has missed, such as {"after":41} or {"after":41,"through":50}: the \
                events of that range which the store still has are published again, with "again":true, and then at the topic \
                with /answer behind it how many they were, and the number of the oldest that the store has. By default \
                nothing is answered. It needs [store], and a broker that lets few publish there.
                """),
            Key(
                "client_id", .example("\"machine-1\""), usual: "binnacle-{identity}- and the handler's name",
                """
                The client identifier at the broker; {identity} and {host} are those of topic. No two clients of a broker \
                may have the same.
                """),
        ] + MQTTSettings.rows.map { $0.key(MQTTSettings()) })

    package init?(reading table: TableReader, at entry: TOMLEntry) {
        let broker = NetworkPlace(Self.key, entry.node, of: table, as: Self.form)
        let layout = table.choice("layout", as: MQTTLayout.self) ?? .v1
        let topic = TopicTemplate("topic", of: table, usual: layout.topic)
        stateTopic = TopicTemplate(
            "state_topic", of: table, usual: layout.stateTopic, among: [.sensor], mayBeEmpty: true)
        statusTopic = TopicTemplate(
            "status_topic", of: table, usual: layout.statusTopic, among: [], mayBeEmpty: true)
        requestTopic = TopicTemplate("request_topic", of: table, usual: nil, among: [], mayBeEmpty: true)
        if let requestTopic, [topic, stateTopic, statusTopic].contains(where: { $0?.mayBe(requestTopic) ?? false }) {
            table.refuse(
                "request_topic", at: table.entry("request_topic")?.node.position ?? table.position,
                "what is published at `request_topic` would be read as a request",
                hint: "a topic that `topic`, `state_topic` and `status_topic` cannot be")
        }
        if let stateTopic, !stateTopic.pieces.contains(.placeholder(.sensor)) {
            table.refuse(
                "state_topic", at: table.entry("state_topic")?.node.position ?? table.position,
                "`state_topic` has no {sensor}",
                hint: "each sensor has a state of its own; an empty text publishes none")
        }
        var settings = MQTTSettings()
        table.read(MQTTSettings.rows, into: &settings)
        discovery = table.choice("discovery", as: Discovery.self)
        discoveryPrefix = Self.prefix(table)
        if discovery == .homeAssistant, let topic { Self.refuse(topic, stateTopic, settings, of: table) }
        if settings.waitsForSubscriber, settings.quality != 1 {
            table.refuse(
                "wait_for_subscriber", at: table.entry("wait_for_subscriber")?.node.position ?? table.position,
                with: ["qos"],
                "with `qos = \(settings.quality)` an acknowledgement does not report whether there is a subscriber",
                hint: "with qos = 1 it does")
        }
        guard let broker, let topic else { return nil }
        settings.host = broker.host
        settings.usesTLS = broker.scheme == "mqtts"
        settings.port = broker.port ?? (settings.usesTLS ? 8883 : 1883)
        for key in ["ca_file", "certificate_file", "key_file"] where !settings.usesTLS {
            table.refuse(key, meaninglessFor: "mqtt://", with: [Self.key], hint: "mqtts:// is the encrypted way")
        }
        self.settings = settings
        self.topic = topic
        clientID = MQTTSettings.word(table, "client_id").flatMap { _ in
            TopicTemplate("client_id", of: table, usual: nil, among: [], isTopic: false)
        }
    }

    private static func prefix(_ table: TableReader) -> String {
        guard let text = MQTTSettings.word(table, "discovery_prefix"), let entry = table.entry("discovery_prefix")
        else { return usualPrefix }
        table.require("discovery", "the prefix is that of a discovery", for: "discovery_prefix")
        let levels = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !levels.contains(""), MQTTTopic.problem(with: text) == nil, !text.hasPrefix("$") else {
            table.refuse(
                "discovery_prefix", at: entry.node.position, "\(Spelling.quoted(text)) cannot be a prefix of topics",
                hint: "that of Home Assistant is \(usualPrefix) unless its settings say otherwise")
            return usualPrefix
        }
        return text
    }

    /// Refuses settings with which Home Assistant could not find or parse the messages.
    private static func refuse(
        _ topic: TopicTemplate, _ stateTopic: TopicTemplate?, _ settings: MQTTSettings, of table: TableReader
    ) {
        func refuse(_ key: String, _ message: String, _ hint: String) {
            table.refuse(
                key, at: table.entry(key)?.node.position ?? table.position, with: ["discovery"], message, hint: hint)
        }
        let unknown = topic.pieces.first { piece in
            guard case .placeholder(let value) = piece else { return false }
            return value != .sensor && value != .kind
        }
        if case .placeholder(let value)? = unknown {
            refuse(
                "topic", "Home Assistant does not support a topic with {\(value.name)}",
                "with `discovery` it has {identity}, {host}, {sensor}, {kind} and {kind_levels}")
        }
        if !topic.pieces.contains(.placeholder(.sensor)) {
            refuse("topic", "`topic` has no {sensor}", "Home Assistant reads the events of each sensor")
        }
        if !topic.pieces.contains(.kindLevels), !topic.pieces.contains(.placeholder(.kind)) {
            refuse("topic", "`topic` has no {kind}", "Home Assistant reads the events of each kind")
        }
        if stateTopic == nil, table.entry("state_topic") != nil {
            refuse("state_topic", "Home Assistant reads the state of each sensor", "leave `state_topic` out")
        }
        if settings.payload != nil {
            refuse("payload", "Home Assistant reads the event as JSON", "leave `payload` out, or make a second handler")
        }
    }

    /// Requires the sensors if they are described to Home Assistant, and the events if they can be requested.
    package func told(of detectors: [HandledDetector], _ events: HandledEvents) -> MQTTAction {
        var action = self
        if discovery == .homeAssistant {
            action.detectors = detectors
            if EventKind.arming.isSubset(of: events.kinds) { action.handlers = events.handlers }
        }
        if requestTopic != nil {
            action.settings.repeated = HandledEvents(kinds: events.kinds, detectors: events.detectors)
        }
        return action
    }

    package func work(for name: String) -> HandlerWork {
        let (topic, stateTopic, machine) = (topic, stateTopic, MachineNames.current)
        var settings = settings
        settings.clientID =
            clientID.map { $0.topic(of: machine) }
            ?? "binnacle-\(MQTTTopic.level(machine.identity))-\(MQTTTopic.level(name))"
        if clientID == nil { settings.replayClientID = settings.clientID + "-replay" }
        settings.statusTopic = statusTopic?.topic(of: machine)
        settings.requestTopic = requestTopic?.topic(of: machine)
        let state = stateTopic.map { template -> @Sendable (String) -> String in
            { template.topic(forSensor: $0, of: machine) }
        }
        settings.discovery = discovery.map { discovery in
            let topics = HomeAssistantTopics(
                prefix: discoveryPrefix, machine: machine, status: settings.statusTopic,
                state: { stateTopic?.topic(forSensor: $0, of: machine) ?? "" },
                event: { topic.topic(for: Event(kind: $0, sensor: $1, timeNanoseconds: 0), of: machine) })
            return MQTTDiscovery(discovery == .homeAssistant ? detectors : [], handlers: handlers, topics)
        }
        let topics = MQTTPublisher.Topics(event: { topic.topic(for: $0, of: machine) }, state: state)
        return .threaded(MQTTPublisher.plan(settings, topics))
    }

    /// With a shared status topic, a handler that ends would report the other as offline; each would replace the other's states,
    /// and remove the other's descriptions.
    package var exclusivePlaces: [(words: String, key: String, name: String, hint: String?)] {
        let topics = [("status topic", "status_topic", statusTopic), ("state topic", "state_topic", stateTopic)]
        let remedy = "one handler of a machine may have it"
        return topics.compactMap { words, key, topic in
            topic.map { (words, key, "\(settings.address) \($0.topic(of: .current))", nil) }
        } + (discovery == nil ? [] : [("discovery", "discovery", "\(settings.address) \(discoveryPrefix)", remedy)])
    }

    package var missingLibrary: String? { MQTTClient.missingLibrary }

    /// Warns of a password that leaves the machine unencrypted, and of states in Home Assistant that would not end.
    package var notices: [String] {
        let kinds = Set(detectors.flatMap(\.kinds))
        var notices: [String] = []
        for kind in EventKind.allCases where kinds.contains(kind) {
            let ends = EventKind.allCases.filter { $0.role != .repeated && $0.endsState(of: kind) }
            guard let end = ends.first, kinds.isDisjoint(with: ends) else { continue }
            notices.append(
                "Home Assistant keeps the state of \"\(kind.rawValue)\", because `on` has no \"\(end.rawValue)\"")
        }
        guard settings.password != nil, !settings.usesTLS, !NetworkPlace.isLocal(settings.host) else { return notices }
        return notices + ["the password goes to \(settings.host) in plain text: mqtts:// would encrypt it"]
    }

    /// Warns of decorators as well that may drop the last event of a state: states are made of what passes them.
    package func notices(behind decorators: [DecoratorSettings]) -> [String] {
        let dropping = decorators.compactMap { decorator -> String? in
            switch decorator {
            case .debounce: "debounce"
            case .rateLimit: "rate_limit"
            case .quietHours: "quiet_hours"
            case .coalesce: "coalesce"
            case .count: "count"
            default: nil
            }
        }
        let kinds = Set(detectors.flatMap(\.kinds))
        let ends = EventKind.allCases.filter { kinds.contains($0) }.compactMap { begin in
            EventKind.allCases.first { kinds.contains($0) && $0.role != .repeated && $0.endsState(of: begin) }
        }
        guard let name = dropping.first, let end = ends.first else { return notices }
        return notices + [
            "Home Assistant may keep a state that has ended, because `\(name)` in `decorate` can drop or delay \"\(end.rawValue)\": "
                + "`pace` drops no last event"
        ]
    }
}

/// The default topics of a version.
package enum MQTTLayout: String, CaseIterable, Sendable {
    /// Separate topics for events, states and the status, below the machine's identity, without dots in kinds.
    case v1
    /// Topics below the machine's name, with events and states on one level.
    case v0

    var topic: String {
        self == .v1 ? "binnacle/v1/{identity}/event/{sensor}/{kind_levels}" : "binnacle/{host}/{sensor}/{kind}"
    }

    var stateTopic: String {
        self == .v1 ? "binnacle/v1/{identity}/state/{sensor}" : "binnacle/{host}/{sensor}/state"
    }

    var requestTopic: String { self == .v1 ? "binnacle/v1/{identity}/request" : "binnacle/{host}/request" }

    var statusTopic: String { self == .v1 ? "binnacle/v1/{identity}/status" : "binnacle/{host}/status" }
}
