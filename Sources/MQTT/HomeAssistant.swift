package import Binnacle
package import Handlers
import PlainText

/// The description of a sensor for Home Assistant, in one retained message (MQTT device discovery, Home Assistant 2024.11 and
/// later: https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload).
///
/// The state class `measurement_angle` is of 2025.4.
///
/// Every entity has an identifier that never changes, because Home Assistant keeps history and settings under it. Only keys that
/// Home Assistant knows are allowed: it refuses the whole message for an unknown key at the top, and ignores others silently.
struct HomeAssistantDevice {
    let sensor: String
    /// The sensor's detectors with the kinds that the handler gets.
    let detectors: [HandledDetector]
    /// The handlers that can be disarmed, which are a device of their own: its sensor has an empty name.
    var handlers: [String] = []
    let topics: HomeAssistantTopics
    /// The detector whose figures the entities have; `nil` for those of the sensor, which are the first detector's.
    var further: String?
    /// Jinja expression: the object with the figures in the state.
    private var figures: String { further.map { "value_json.get('further', {}).get('\($0)', {})" } ?? "value_json" }

    /// Jinja condition: the event is recent.
    ///
    /// A store may deliver events that a broker has missed, which Home Assistant would treat as current. An event of a replay has
    /// no `wall_time`.
    private static let isRecent =
        "value_json.wall_time is defined and (now() - as_datetime(value_json.wall_time)).total_seconds() | abs < 60"
    /// The duration of a pulse, in seconds.
    private static let pulse = 10

    var identifier: String { "\(topics.node)_\(level)" }
    private var level: String { sensor.isEmpty ? "-" : sensor }

    /// The topic of the message below Home Assistant's prefix.
    var topic: String { "\(topics.folder)/\(level)/config" }

    var message: String {
        var device = JSONObject()
        device.add("ids", list: [JSONObject.quoted(identifier)])
        device.add("name", sensor.isEmpty ? "Handlers of \(topics.machine.host)" : sensor)
        device.add("mf", "Binnacle")
        device.add("mdl", "\(sensor.isEmpty ? "Handlers" : "Sensor") of \(topics.machine.host)")
        var object = JSONObject()
        object.add("dev", raw: device.text)
        object.add("o", raw: JSONObject.text(["name": "\"Binnacle\""]))
        object.add("avty", list: availability)
        object.add("avty_mode", "all")
        object.add("qos", raw: "1")
        var components = JSONObject()
        for component in self.components { components.add(component.name, raw: component.object.text) }
        object.add("cmps", raw: components.text)
        return object.text
    }

    private var availability: [String] {
        let status = topics.status.map { [JSONObject.text(["t": JSONObject.quoted($0)])] } ?? []
        let template = "{{ 'online' if value_json.active | default(true) else 'offline' }}"
        let (topic, shown) = (JSONObject.quoted(topics.state(sensor)), JSONObject.quoted(template))
        return status + [JSONObject.text(["t": topic, "val_tpl": shown])]
    }

    // MARK: - Components

    private struct Component {
        let name: String
        var object = JSONObject()

        /// Sets the topic, and the template that extracts a value from its messages.
        mutating func read(_ topic: String, _ template: String) {
            object.add("stat_t", topic)
            object.add("val_tpl", template)
        }
    }

    /// An entity with a label and, if given, a class.
    private func entity(
        _ name: String, _ platform: String, label: String, deviceClass: String? = nil
    ) -> Component {
        let name = further.map { "\(name)_\($0)" } ?? name
        var component = Component(name: name)
        component.object.add("p", platform)
        component.object.add("uniq_id", "\(identifier)_\(name)")
        component.object.add("name", further.map { "\(label) (\($0))" } ?? label)
        if let deviceClass { component.object.add("dev_cla", deviceClass) }
        return component
    }

    /// The components of all kinds that the handler gets, each once; those for events come last.
    private var components: [Component] {
        let kinds = EventKind.allCases.filter { kind in detectors.contains { $0.kinds.contains(kind) } }
        var (states, occurrences): ([Component], [Component]) = ([], [])
        for kind in kinds {
            for entity in kind.row.home {
                if case .occurrence = entity {
                    occurrences += [occurrence(kind), trigger(kind)]
                } else {
                    for component in owners(of: kind).flatMap({ $0.components(of: entity, kind, among: kinds) })
                    where !states.contains(where: { $0.name == component.name }) { states.append(component) }
                }
            }
        }
        return states + occurrences + handlers.map(armed)
    }

    /// This device, and the same with the figures of each further detector that makes a kind of event.
    private func owners(of kind: EventKind) -> [HomeAssistantDevice] {
        detectors.filter { !$0.isFirst && $0.kinds.contains(kind) }.reduce(into: [self]) { devices, detector in
            var device = self
            device.further = detector.name
            devices.append(device)
        }
    }

    private func components(
        of entity: EventKind.HomeEntity, _ kind: EventKind, among kinds: [EventKind]
    ) -> [Component] {
        switch entity {
        case .occurrence: return []
        // They have no figures.
        case .isOn where further != nil, .pulse where further != nil: return []
        case .isOn(let deviceClass, let name, let on, let off):
            let able = detectors.filter { $0.kinds.contains { $0.row.home.contains { $0.isOn(deviceClass) } } }
            return able.map { isOn($0, deviceClass, able.count == 1 ? name : "\(name) (\($0.name))", on, off) }
        case .pulse(let id, let name, let deviceClass, let isEnabled, let isDiagnostic):
            return [
                pulse(
                    id, name, deviceClass ?? id, of: kind, isEnabled: isEnabled, isDiagnostic: isDiagnostic)
            ]
        case .figure(let name, let id, let label, let icon, let deviceClass, let decimals):
            let unit = String((name.unit?.symbol ?? "").drop { $0 == " " })
            return [figure(id, label, name, unit: unit, decimals: decimals, icon: icon, deviceClass: deviceClass)]
        case .heading: return headings
        // The state class makes the mean of angles right across ±180°.
        case .attitude:
            return [(Figure.Name.roll, "roll"), (.pitch, "pitch")].map { angle, id in
                figure(
                    id, Self.capitalized(id), angle, unit: "°", decimals: 1, icon: "mdi:angle-acute",
                    stateClass: "measurement_angle")
            }
        case .choice(let figure, let type): return [word(figure, among: Self.words(of: type))]
        case .interference:
            return kinds.contains(.interferenceBegan) && kinds.contains(.interferenceEnded) ? [interference] : []
        }
    }

    private static func words(of type: (some FigureWord & CaseIterable).Type) -> [String] {
        type.allCases.map(\.rawValue)
    }

    private func isOn(
        _ detector: HandledDetector, _ deviceClass: String, _ label: String, _ on: String, _ off: String
    ) -> Component {
        var component = entity(
            "\(deviceClass)_\(detector.name)", "binary_sensor", label: label, deviceClass: deviceClass)
        let state = "value_json.detectors['\(detector.name)'] | default('\(off)')"
        component.read(
            topics.state(sensor), "{% set s = \(state) %}{{ {'\(on)': 'ON', '\(off)': 'OFF'}.get(s, 'None') }}")
        return component
    }

    /// Whether a handler gets events; who may publish at the broker must not be able to disarm an alarm, so it is no switch.
    private func armed(_ handler: String) -> Component {
        var component = entity("armed_\(handler)", "binary_sensor", label: "\(handler) armed")
        component.read(
            topics.state(sensor), "{{ 'OFF' if value_json.handlers['\(handler)'] == 'disarmed' else 'ON' }}")
        return component
    }

    /// A state that is on for some seconds after each event of a kind.
    private func pulse(
        _ id: String, _ name: String, _ deviceClass: String, of kind: EventKind, isEnabled: Bool, isDiagnostic: Bool
    ) -> Component {
        var component = entity(id, "binary_sensor", label: name, deviceClass: deviceClass)
        component.read(topics.event(kind, sensor), "{{ 'ON' if \(Self.isRecent) else '' }}")
        component.object.add("off_dly", raw: String(Self.pulse))
        if !isEnabled { component.object.add("en", raw: "false") }
        if isDiagnostic { component.object.add("ent_cat", "diagnostic") }
        return component
    }

    private func figure(
        _ id: String, _ name: String, _ figure: Figure.Name, unit: String, decimals: Int, icon: String,
        stateClass: String = "measurement", deviceClass: String? = nil
    ) -> Component {
        var component = entity(id, "sensor", label: name, deviceClass: deviceClass)
        component.object.add("unit_of_meas", unit)
        component.object.add("stat_cla", stateClass)
        component.object.add("sug_dsp_prc", raw: String(decimals))
        component.object.add("ic", icon)
        component.read(topics.state(sensor), "{{ \(figures).\(figure.rawValue) | default('None') }}")
        return component
    }

    /// The heading; only with this state class and the unit `°` is its mean across north right.
    private var headings: [Component] {
        var heading = figure(
            "heading", "Heading", .heading, unit: "°", decimals: 0, icon: "mdi:compass", stateClass: "measurement_angle"
        )
        heading.object.add("json_attr_t", topics.state(sensor))
        heading.object.add(
            "json_attr_tpl",
            "{{ {'accuracy_deg': \(figures).accuracy_deg | default(none), "
                + "'reference': \(figures).reference | default('magnetic')} | to_json }}")
        return [heading]
    }

    private func word(_ figure: Figure.Name, among words: [String]) -> Component {
        var component = entity(
            figure.rawValue, "sensor", label: Self.capitalized(figure.rawValue), deviceClass: "enum")
        component.object.add("ops", list: words.map(JSONObject.quoted))
        component.read(topics.state(sensor), "{{ \(figures).\(figure.rawValue) | default('None') }}")
        return component
    }

    private var interference: Component {
        var component = entity(
            "interference", "binary_sensor", label: "Magnetic interference", deviceClass: "problem")
        component.object.add("ent_cat", "diagnostic")
        component.read(
            topics.state(sensor), "{{ 'ON' if \(figures).interference | default(false) else 'OFF' }}")
        return component
    }

    private func occurrence(_ kind: EventKind) -> Component {
        var component = entity("event_\(Self.identifier(kind))", "event", label: Self.name(kind))
        component.object.add("evt_typ", list: [JSONObject.quoted(kind.rawValue)])
        let figures = kind.row.figures.map { "'\($0.rawValue)': value_json.\($0.rawValue) | default(none)" }
        let members = ["'event_type': value_json.kind", "'seq': value_json.seq"] + figures
        // Home Assistant ignores an empty result of the template.
        component.read(
            topics.event(kind, sensor),
            "{% if \(Self.isRecent) %}{{ {\(members.joined(separator: ", "))} | to_json }}{% endif %}")
        return component
    }

    private func trigger(_ kind: EventKind) -> Component {
        var component = Component(name: "trigger_\(Self.identifier(kind))")
        component.object.add("p", "device_automation")
        component.object.add("atype", "trigger")
        component.object.add("type", kind.rawValue)
        component.object.add("stype", sensor)
        component.object.add("t", topics.event(kind, sensor))
        component.object.add("pl", kind.rawValue)
        component.object.add("val_tpl", "{{ value_json.kind if \(Self.isRecent) else '' }}")
        return component
    }

    private static func identifier(_ kind: EventKind) -> String {
        kind.rawValue.split(separator: ".").joined(separator: "_")
    }

    /// The displayed name, such as "Free fall".
    private static func name(_ kind: EventKind) -> String {
        capitalized(kind.rawValue.split { $0 == "." || $0 == "_" }.joined(separator: " "))
    }

    private static func capitalized(_ words: String) -> String { words.prefix(1).uppercased() + words.dropFirst() }
}

package struct HomeAssistantTopics {
    let prefix: String
    let machine: MachineNames
    let status: String?
    let state: @Sendable (_ sensor: String) -> String
    let event: @Sendable (_ kind: EventKind, _ sensor: String) -> String

    package init(
        prefix: String, machine: MachineNames, status: String?, state: @escaping @Sendable (_ sensor: String) -> String,
        event: @escaping @Sendable (_ kind: EventKind, _ sensor: String) -> String
    ) {
        self.prefix = prefix
        self.machine = machine
        self.status = status
        self.state = state
        self.event = event
    }

    /// The machine as a part of identifiers, in which Home Assistant allows only letters, digits, - and _.
    var node: String {
        "binnacle_" + String(machine.identity.unicodeScalars.map { Self.isAllowed($0) ? Character($0) : "_" })
    }

    var folder: String { "\(prefix)/device/\(node)" }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-"
    }
}

/// The messages that a broker retains for Home Assistant: one for each sensor, in a folder without any others.
package struct MQTTDiscovery: Sendable, Equatable {
    package struct Message: Sendable, Equatable {
        package let topic: String
        package let text: String
        package let sensor: String
    }

    /// The topics of all messages, with a wildcard: other retained messages there are from an earlier configuration.
    package let filter: String
    package let messages: [Message]

    /// Describes the sensors of some detectors; without any, all messages of an earlier configuration are removed.
    package init(_ detectors: [HandledDetector], handlers: [String] = [], _ topics: HomeAssistantTopics) {
        filter = "\(topics.folder)/+/config"
        var sensors: [String] = []
        for detector in detectors where !sensors.contains(detector.sensor) { sensors.append(detector.sensor) }
        if !handlers.isEmpty { sensors.append("") }
        messages = sensors.map { sensor in
            let device = HomeAssistantDevice(
                sensor: sensor, detectors: detectors.filter { $0.sensor == sensor },
                handlers: sensor.isEmpty ? handlers : [], topics: topics)
            return Message(topic: device.topic, text: device.message, sensor: sensor)
        }
    }

    /// The sensor of a retained message from an earlier configuration, empty for that of the handlers; `nil` for other messages.
    func sensor(ofLeft topic: String) -> String? {
        guard !messages.contains(where: { $0.topic == topic }) else { return nil }
        let level = topic.split(separator: Character("/")).dropLast().last.map(String.init) ?? ""
        return level == "-" ? "" : level
    }
}

extension EventKind.HomeEntity {
    fileprivate func isOn(_ deviceClass: String) -> Bool {
        if case .isOn(deviceClass, _, _, off: _) = self { true } else { false }
    }
}
