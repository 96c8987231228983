import Binnacle
import PlainText

/// What Home Assistant is told of a sensor, in one retained message (MQTT device discovery, Home Assistant 2024.11 and later:
/// https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload).
///
/// Every entity has an identifier that never changes, because Home Assistant keeps history and settings under it. Only keys
/// that Home Assistant knows may stand here: it refuses the whole message for one at the top, and drops others in silence.
struct HomeAssistantDevice {
    /// The sensor.
    let sensor: String
    /// What the handler gets of it.
    let detectors: [HandledDetector]
    /// Where the handler publishes.
    let topics: HomeAssistantTopics

    /// Whether an event is of now: a store hands over later what a broker has missed.
    ///
    /// Home Assistant would take that for an event of now. An event of a replay has no `wall_time`.
    private static let isRecent =
        "value_json.wall_time is defined and (now() - as_datetime(value_json.wall_time)).total_seconds() | abs < 60"
    /// How long a pulse lasts, in seconds.
    private static let pulse = 10

    /// The identifier of the device.
    var identifier: String { "\(topics.node)_\(sensor)" }

    /// The topic of the message below Home Assistant's prefix.
    var topic: String { "\(topics.folder)/\(sensor)/config" }

    /// The message.
    var message: String {
        var device = JSONObject()
        device.add("ids", list: [JSONObject.quoted(identifier)])
        device.add("name", sensor)
        device.add("mf", "Binnacle")
        device.add("mdl", "Sensor of \(topics.machine.host)")
        var origin = JSONObject()
        origin.add("name", "Binnacle")
        var object = JSONObject()
        object.add("dev", raw: device.text)
        object.add("o", raw: origin.text)
        object.add("avty", list: availability)
        object.add("avty_mode", "all")
        object.add("qos", raw: "1")
        var components = JSONObject()
        for component in self.components {
            components.add(component.name, raw: component.json(of: self))
        }
        object.add("cmps", raw: components.text)
        return object.text
    }

    private var availability: [String] {
        var sources: [String] = []
        if let status = topics.status {
            var source = JSONObject()
            source.add("t", status)
            sources.append(source.text)
        }
        var source = JSONObject()
        source.add("t", topics.state(sensor))
        source.add("val_tpl", "{{ 'online' if value_json.active | default(true) else 'offline' }}")
        return sources + [source.text]
    }

    // MARK: - Components

    /// An entity, or a trigger.
    private struct Component {
        let name: String
        let platform: String
        var members: [(key: String, json: String)] = []

        init(_ name: String, _ platform: String) {
            (self.name, self.platform) = (name, platform)
        }

        mutating func add(_ key: String, _ text: String) { members.append((key, JSONObject.quoted(text))) }
        mutating func add(_ key: String, raw json: String) { members.append((key, json)) }

        func json(of device: HomeAssistantDevice) -> String {
            var object = JSONObject()
            object.add("p", platform)
            if platform != "device_automation" { object.add("uniq_id", "\(device.identifier)_\(name)") }
            for (key, json) in members { object.add(key, raw: json) }
            return object.text
        }
    }

    /// The components of all kinds that the handler gets, each once; what is an event comes last.
    private var components: [Component] {
        let kinds = EventKind.allCases.filter { kind in detectors.contains { $0.kinds.contains(kind) } }
        var (states, occurrences): ([Component], [Component]) = ([], [])
        for kind in kinds {
            for entity in kind.row.home {
                if case .occurrence = entity {
                    occurrences += [occurrence(kind), trigger(kind)]
                } else {
                    for component in components(of: entity, kind, among: kinds)
                    where !states.contains(where: { $0.name == component.name }) { states.append(component) }
                }
            }
        }
        return states + occurrences
    }

    private func components(
        of entity: EventKind.HomeEntity, _ kind: EventKind, among kinds: [EventKind]
    ) -> [Component] {
        switch entity {
        case .occurrence: return []
        case .moving: return movingDetectors.map(moving)
        case .pulse(let id, let name, let deviceClass, let isEnabled):
            return [
                pulse(
                    id, name, deviceClass ?? id, of: kind, isEnabled: isEnabled, isDiagnostic: deviceClass != nil)
            ]
        case .peak:
            return [figure("peak", "Peak acceleration", .peak, unit: "g", decimals: 3, icon: "mdi:axis-arrow")]
        case .heading: return headings
        case .choice(let figure, let type): return [word(figure, among: Self.words(of: type))]
        case .interference:
            return kinds.contains(.interferenceBegan) && kinds.contains(.interferenceEnded) ? [interference] : []
        }
    }

    private static func words(of type: (some FigureWord & CaseIterable).Type) -> [String] {
        type.allCases.map(\.rawValue)
    }

    private var movingDetectors: [HandledDetector] {
        detectors.filter { $0.kinds.contains(.motionBegan) || $0.kinds.contains(.motionEnded) }
    }

    private func moving(_ detector: HandledDetector) -> Component {
        var component = Component("moving_\(detector.name)", "binary_sensor")
        component.add("name", movingDetectors.count == 1 ? "Moving" : "Moving (\(detector.name))")
        component.add("dev_cla", "moving")
        component.add("stat_t", topics.state(sensor))
        let state = "value_json.detectors['\(detector.name)'] | default('still')"
        component.add("val_tpl", "{% set s = \(state) %}{{ {'moving': 'ON', 'still': 'OFF'}.get(s, 'None') }}")
        return component
    }

    /// A state that is on for a while after each event of a kind.
    private func pulse(
        _ id: String, _ name: String, _ deviceClass: String, of kind: EventKind, isEnabled: Bool, isDiagnostic: Bool
    ) -> Component {
        var component = Component(id, "binary_sensor")
        component.add("name", name)
        component.add("dev_cla", deviceClass)
        component.add("stat_t", topics.event(kind, sensor))
        component.add("val_tpl", "{{ 'ON' if \(Self.isRecent) else '' }}")
        component.add("off_dly", raw: String(Self.pulse))
        if !isEnabled { component.add("en", raw: "false") }
        if isDiagnostic { component.add("ent_cat", "diagnostic") }
        return component
    }

    private func figure(
        _ id: String, _ name: String, _ figure: Figure.Name, unit: String, decimals: Int, icon: String,
        stateClass: String = "measurement"
    ) -> Component {
        var component = Component(id, "sensor")
        component.add("name", name)
        component.add("unit_of_meas", unit)
        component.add("stat_cla", stateClass)
        component.add("sug_dsp_prc", raw: String(decimals))
        component.add("ic", icon)
        component.add("stat_t", topics.state(sensor))
        component.add("val_tpl", "{{ value_json.\(figure.rawValue) | default('None') }}")
        return component
    }

    /// The heading, whose mean over north is right only with this state class and the unit `°`.
    private var headings: [Component] {
        var heading = figure(
            "heading", "Heading", .heading, unit: "°", decimals: 0, icon: "mdi:compass", stateClass: "measurement_angle"
        )
        heading.add("json_attr_t", topics.state(sensor))
        heading.add(
            "json_attr_tpl",
            "{{ {'accuracy_deg': value_json.accuracy_deg | default(none), "
                + "'reference': value_json.reference | default('magnetic')} | to_json }}")
        return [heading]
    }

    private func word(_ figure: Figure.Name, among words: [String]) -> Component {
        var component = Component(figure.rawValue, "sensor")
        component.add("name", figure.rawValue.prefix(1).uppercased() + figure.rawValue.dropFirst())
        component.add("dev_cla", "enum")
        component.add("ops", raw: "[" + words.map(JSONObject.quoted).joined(separator: ",") + "]")
        component.add("stat_t", topics.state(sensor))
        component.add("val_tpl", "{{ value_json.\(figure.rawValue) | default('None') }}")
        return component
    }

    private var interference: Component {
        var component = Component("interference", "binary_sensor")
        component.add("name", "Magnetic interference")
        component.add("dev_cla", "problem")
        component.add("ent_cat", "diagnostic")
        component.add("stat_t", topics.state(sensor))
        component.add("val_tpl", "{{ 'ON' if value_json.interference | default(false) else 'OFF' }}")
        return component
    }

    private func occurrence(_ kind: EventKind) -> Component {
        var component = Component("event_\(Self.identifier(kind))", "event")
        component.add("name", Self.name(kind))
        component.add("evt_typ", raw: "[\(JSONObject.quoted(kind.rawValue))]")
        component.add("stat_t", topics.event(kind, sensor))
        let figures = kind.row.figures.map { "'\($0.rawValue)': value_json.\($0.rawValue) | default(none)" }
        let members = ["'event_type': value_json.kind", "'seq': value_json.seq"] + figures
        // What the template leaves empty is passed over.
        component.add(
            "val_tpl",
            "{% if \(Self.isRecent) %}{{ {\(members.joined(separator: ", "))} | to_json }}{% endif %}")
        return component
    }

    private func trigger(_ kind: EventKind) -> Component {
        var component = Component("trigger_\(Self.identifier(kind))", "device_automation")
        component.add("atype", "trigger")
        component.add("type", kind.rawValue)
        component.add("stype", sensor)
        component.add("t", topics.event(kind, sensor))
        component.add("pl", kind.rawValue)
        component.add("val_tpl", "{{ value_json.kind if \(Self.isRecent) else '' }}")
        return component
    }

    private static func identifier(_ kind: EventKind) -> String {
        kind.rawValue.split(separator: ".").joined(separator: "_")
    }

    /// The name for people: "Free fall".
    private static func name(_ kind: EventKind) -> String {
        let words = kind.rawValue.split { $0 == "." || $0 == "_" }.joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}

/// The topics that Home Assistant reads.
struct HomeAssistantTopics {
    let prefix: String
    let machine: MachineNames
    let status: String?
    let state: @Sendable (_ sensor: String) -> String
    let event: @Sendable (_ kind: EventKind, _ sensor: String) -> String

    /// The machine as a part of identifiers, which Home Assistant allows letters, digits, - and _ alone.
    var node: String {
        "binnacle_" + String(machine.identity.unicodeScalars.map { Self.isAllowed($0) ? Character($0) : "_" })
    }

    /// The folder of all devices of the machine.
    var folder: String { "\(prefix)/device/\(node)" }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-"
    }
}

/// What a broker keeps for Home Assistant: a message for each sensor, in a folder that holds nothing else.
package struct MQTTDiscovery: Sendable, Equatable {
    /// A retained message.
    package struct Message: Sendable, Equatable {
        /// Its topic.
        package let topic: String
        /// Its text, which is JSON.
        package let text: String
        /// The sensor that it describes.
        package let sensor: String
    }

    /// The topics of all messages, with a wildcard: what else is retained there is of an earlier configuration.
    package let filter: String
    /// The messages, one for each sensor.
    package let messages: [Message]

    /// Describes the sensors of some detectors; of none, all that an earlier configuration left is removed.
    init(_ detectors: [HandledDetector], _ topics: HomeAssistantTopics) {
        filter = "\(topics.folder)/+/config"
        var sensors: [String] = []
        for detector in detectors where !sensors.contains(detector.sensor) { sensors.append(detector.sensor) }
        messages = sensors.map { sensor in
            let device = HomeAssistantDevice(
                sensor: sensor, detectors: detectors.filter { $0.sensor == sensor }, topics: topics)
            return Message(topic: device.topic, text: device.message, sensor: sensor)
        }
    }

    /// Whether a retained message was left by an earlier configuration.
    func isLeft(_ topic: String) -> Bool { !messages.contains { $0.topic == topic } }
}
