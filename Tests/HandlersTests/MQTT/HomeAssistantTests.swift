import Binnacle
import Foundation
import TestSupport
import Testing

import Handlers
import MQTT

/// The messages for Home Assistant, held against what its schemas allow; it refuses a whole message, or drops a key in
/// silence, for what they do not.
@Suite struct HomeAssistantTests {
    /// The keys of each platform, as Home Assistant abbreviates them, beside those of all.
    private static let keys: [String: Set<String>] = [
        "binary_sensor": ["dev_cla", "val_tpl", "stat_t", "off_dly", "pl_on", "pl_off"],
        "sensor": [
            "dev_cla", "val_tpl", "stat_t", "unit_of_meas", "stat_cla", "sug_dsp_prc", "json_attr_t", "json_attr_tpl",
            "ops",
        ],
        "event": ["dev_cla", "val_tpl", "stat_t", "evt_typ"],
        "device_automation": ["atype", "type", "stype", "t", "pl", "val_tpl"],
    ]
    private static let entityKeys: Set<String> = ["p", "uniq_id", "name", "en", "ent_cat", "ic"]
    private static let required: [String: Set<String>] = [
        "binary_sensor": ["uniq_id", "stat_t"], "sensor": ["uniq_id", "stat_t"],
        "event": ["uniq_id", "stat_t", "evt_typ"],
        "device_automation": ["atype", "type", "stype", "t"],
    ]
    private static let deviceClasses: [String: Set<String>] = [
        "binary_sensor": ["moving", "vibration", "tamper", "problem"], "sensor": ["enum", "frequency", "speed"],
    ]

    private static let topics = HomeAssistantTopics(
        prefix: "ha/mqtt", machine: MachineNames(host: "boat", identity: "0af3.é"), status: "b/status",
        state: { "b/state/\($0)" }, event: { "b/event/\($1)/\($0.rawValue)" })

    private func discovery(_ kinds: Set<EventKind> = Set(EventKind.allCases)) -> MQTTDiscovery {
        MQTTDiscovery(
            [
                HandledDetector(name: "moved", sensor: "chassis", kinds: kinds),
                HandledDetector(name: "carried", sensor: "chassis", kinds: kinds),
                HandledDetector(name: "bow", sensor: "compass", kinds: kinds),
            ], Self.topics)
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func everyKeyIsOneThatHomeAssistantKnows() throws {
        let discovery = discovery()
        #expect(discovery.filter == "ha/mqtt/device/binnacle_0af3__/+/config")
        #expect(
            discovery.messages.map(\.topic)
                == ["chassis", "compass"].map { "ha/mqtt/device/binnacle_0af3__/\($0)/config" })
        var identifiers: Set<String> = []
        for message in discovery.messages {
            let device = try object(message.text)
            #expect(Set(device.keys) == ["dev", "o", "avty", "avty_mode", "qos", "cmps"])
            let about = try #require(device["dev"] as? [String: Any])
            #expect(about["ids"] as? [String] == ["binnacle_0af3___\(message.sensor)"])
            #expect(about["name"] as? String == message.sensor)
            #expect((device["o"] as? [String: Any])?["name"] as? String == "Binnacle")
            let sources = try #require(device["avty"] as? [[String: Any]])
            #expect(sources.map { $0["t"] as? String } == ["b/status", "b/state/\(message.sensor)"])
            let components = try #require(device["cmps"] as? [String: [String: Any]])
            #expect(components.count > 20)
            for (name, component) in components {
                let platform = try #require(component["p"] as? String)
                let allowed = try #require(Self.keys[platform])
                let own = platform == "device_automation" ? ["p"] : Self.entityKeys
                #expect(Set(component.keys).isSubset(of: allowed.union(own)), "\(name): \(component.keys)")
                #expect(Set(component.keys).isSuperset(of: Self.required[platform] ?? []), "\(name)")
                if let chosen = component["dev_cla"] as? String {
                    #expect(Self.deviceClasses[platform]?.contains(chosen) == true, "\(name): \(chosen)")
                }
                if let identifier = component["uniq_id"] as? String {
                    #expect(identifiers.insert(identifier).inserted, "\(identifier) is there twice")
                }
                for case let template as String in [component["val_tpl"], component["json_attr_tpl"]] {
                    #expect(
                        template.components(separatedBy: "{{").count == template.components(separatedBy: "}}").count)
                    #expect(
                        template.components(separatedBy: "{%").count == template.components(separatedBy: "%}").count)
                }
            }
            let heading = try #require(components["heading"])
            #expect(heading["unit_of_meas"] as? String == "°" && heading["stat_cla"] as? String == "measurement_angle")
            #expect(components["event_shock"]?["evt_typ"] as? [String] == ["shock"])
        }
    }

    @Test func whatIsNotMadeIsNotTold() throws {
        func names(_ kinds: Set<EventKind>) throws -> [String] {
            let message = try #require(discovery(kinds).messages.last)
            let components = try #require(try object(message.text)["cmps"] as? [String: Any])
            return components.keys.sorted()
        }
        #expect(try names([]) == [])
        #expect(try names([.motionBegan, .motionEnded]) == ["moving_bow", "peak", "tamper"])
        #expect(try names([.attitudeChanged]) == ["pitch", "roll"])
        #expect(try names([.heading, .northFaced]) == ["event_north_faced", "heading", "trigger_north_faced"])
        #expect(MQTTDiscovery([], Self.topics).messages.isEmpty)
    }

    @Test func aFurtherDetectorHasEntitiesForItsFigures() throws {
        let kinds: Set<EventKind> = [.heading, .interferenceBegan, .interferenceEnded, .motionEnded, .attitudeChanged]
        let discovery = MQTTDiscovery(
            [
                HandledDetector(name: "bow", sensor: "mast", kinds: kinds),
                HandledDetector(name: "stern", sensor: "mast", kinds: kinds, isFirst: false),
            ], Self.topics)
        let message = try #require(discovery.messages.first)
        let components = try #require(try object(message.text)["cmps"] as? [String: [String: Any]])
        let figures = ["heading", "interference", "peak", "pitch", "roll"]
        #expect(
            components.keys.sorted()
                == (figures + figures.map { "\($0)_stern" } + ["moving_bow", "moving_stern"]).sorted())
        #expect(components["heading"]?["name"] as? String == "Heading")
        #expect(components["heading"]?["val_tpl"] as? String == "{{ value_json.heading_deg | default('None') }}")
        let heading = try #require(components["heading_stern"])
        #expect(heading["name"] as? String == "Heading (stern)")
        #expect(heading["uniq_id"] as? String == "binnacle_0af3___mast_heading_stern")
        let place = "value_json.get('further', {}).get('stern', {})"
        #expect(heading["val_tpl"] as? String == "{{ \(place).heading_deg | default('None') }}")
        #expect((heading["json_attr_tpl"] as? String)?.contains("\(place).accuracy_deg") == true)
    }

    @Test func handlersAreADeviceWhoseStateIsReported() throws {
        let messages = MQTTDiscovery([], handlers: ["siren"], Self.topics).messages
        #expect(messages.map(\.topic) == ["ha/mqtt/device/binnacle_0af3__/-/config"])
        let device = try object(messages[0].text)
        #expect((device["dev"] as? [String: Any])?["name"] as? String == "Handlers of boat")
        let armed = try #require((device["cmps"] as? [String: [String: Any]])?["armed_siren"])
        #expect(
            armed["p"] as? String == "binary_sensor" && armed["uniq_id"] as? String == "binnacle_0af3___-_armed_siren")

        var states = MQTTSensorStates()
        for isArmed in [false, true] {
            states.apply(Event(handler: "siren", isArmed: isArmed))
            var sent: [String] = []
            states.sendDue { sensor, state in
                #expect(sensor.isEmpty)
                sent.append(state)
                return nil
            }
            #expect(
                sent.count == 1 && sent[0].contains("\"handlers\":{\"siren\":\"\(isArmed ? "armed" : "disarmed")\"}"))
        }
    }
}

/// The messages at a real broker.
@Suite(.enabled(if: Broker.program != nil, Broker.absence))
struct HomeAssistantBrokerTests {
    private static func discovery(_ sensors: [String]) -> MQTTDiscovery {
        MQTTDiscovery(
            sensors.map { HandledDetector(name: "d-\($0)", sensor: $0, kinds: [.motionBegan, .motionEnded]) },
            HomeAssistantTopics(
                prefix: "homeassistant", machine: MachineNames(host: "boat", identity: "0af3"), status: "status",
                state: { "states/\($0)" }, event: { "events/\($0.rawValue)/\($1)" }))
    }

    private func configurations(_ broker: Broker, _ name: String) throws -> [String] {
        let late = try Subscriber(broker.port, name: name)
        defer { late.stop() }
        // What is retained comes in the order of its topics' names at no broker that is known; the status is always there.
        try late.wait("the status") { $0.contains { $0.topic == "status" } }
        return late.messages.filter { $0.topic.hasPrefix("homeassistant/") }.map(\.topic).sorted()
    }

    @Test func devicesOfAnEarlierConfigurationAreRemoved() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let folder = "homeassistant/device/binnacle_0af3"
        let first = try MQTTRun(broker.port) { settings, _ in settings.discovery = Self.discovery(["a", "b"]) }
        try subscriber.wait("both devices and states") { messages in
            ["\(folder)/a/config", "\(folder)/b/config", "states/a", "states/b"].allSatisfy { topic in
                messages.contains { $0.topic == topic }
            }
        }
        #expect(subscriber.payloads(of: "states/a") == [#"{"sensor":"a","detectors":{}}"#])
        #expect(first.end() == 0)
        let second = try MQTTRun(broker.port) { settings, _ in settings.discovery = Self.discovery(["b", "c"]) }
        try subscriber.wait("the end of a") { $0.last { $0.topic == "\(folder)/a/config" }?.payload == "" }
        try subscriber.wait("c") { $0.contains { $0.topic == "\(folder)/c/config" } }
        #expect(second.end() == 0)
        #expect(subscriber.payloads(of: "\(folder)/b/config").allSatisfy { $0.hasPrefix("{\"dev\":") })
        let third = try MQTTRun(broker.port) { settings, _ in settings.discovery = Self.discovery([]) }
        for sensor in ["b", "c"] {
            try subscriber.wait("the end of \(sensor)") {
                $0.last { $0.topic == "\(folder)/\(sensor)/config" }?.payload == ""
            }
        }
        #expect(third.end() == 0)
        #expect(try configurations(broker, "late") == [])
        #expect(first.reasons + second.reasons + third.reasons == [])
    }
}
