import Binnacle
import Configuration
import Handlers
import MQTT
import Station
import Testing

/// What a section with `mqtt` becomes.
@Suite struct MQTTActionTests {
    private func action(_ lines: String) throws -> MQTTAction {
        let text = ConfigurationFaultTests.handler + lines + "\n"
        return try #require(try parse(text).handlers.first?.action as? MQTTAction)
    }

    @Test(
        arguments: [
            ("mqtt://broker", "broker", 1883, false), ("mqtts://broker", "broker", 8883, true),
            ("mqtts://broker:1", "broker", 1, true), ("MQTT://10.0.0.1:65535", "10.0.0.1", 65535, false),
            ("mqtts://[2001:db8::1]", "2001:db8::1", 8883, true),
            ("mqtt://[fe80::1%eth0]:99", "fe80::1%eth0", 99, false),
        ] as [(String, String, Int, Bool)])
    func brokers(url: String, host: String, port: Int, usesTLS: Bool) throws {
        let broker = try action("mqtt = \"\(url)\"").settings
        #expect((broker.host, broker.port, broker.usesTLS) == (host, port, usesTLS))
    }

    @Test func everyKey() throws {
        let action = try action(
            """
            mqtt = "mqtts://b"
            topic = "{host}/{detector}/{peak_g}"
            state_topic = "s/{sensor}"
            status_topic = "t"
            user = "u"
            password_credential = "c"
            ca_file = "/run/ca"
            certificate_file = "/run/cert"
            key_file = "/run/key"
            client_id = "me"
            keepalive_s = 5
            qos = 2
            retain = true
            payload = "{kind}: {peak_g} {{g}}"
            """)
        #expect(
            action.topic.pieces == [
                .host, .text("/"), .placeholder(.detector), .text("/"), .placeholder(.figure(.peak)),
            ])
        #expect(action.stateTopic?.pieces == [.text("s/"), .placeholder(.sensor)])
        #expect(action.statusTopic?.pieces == [.text("t")])
        let settings = action.settings
        #expect(settings.user == "u" && settings.password == .credential("c"))
        #expect(settings.authorityFile == "/run/ca")
        #expect(settings.certificateFile == "/run/cert" && settings.keyFile == "/run/key")
        #expect(action.clientID?.pieces == [.text("me")] && settings.keepaliveSeconds == 5)
        #expect(settings.quality == 2 && settings.isRetained)
        #expect(settings.payload?.text(for: Event(kind: .shock, timeNanoseconds: 1)) == "shock:  {g}")
        let other = try self.action("mqtt = \"mqtts://b\"")
        let same = try self.action("mqtt = \"mqtts://b:8883\"")
        #expect(!action.isSame(as: other) && other.isSame(as: same))
    }

    @Test func anEmptyTopicSwitchesItOff() throws {
        let action = try action("mqtt = \"mqtt://b\"\nstate_topic = \"\"\nstatus_topic = \"\"")
        #expect(action.stateTopic == nil && action.statusTopic == nil)
    }

    @Test func whatAnEventSaysIsOneLevel() throws {
        let boat = MachineNames(host: "boat", identity: "0af3")
        let template = try action("mqtt = \"mqtt://b\"\nlayout = \"v0\"").topic
        var event = Event(kind: .motionBegan, sensor: "a/b+#", timeNanoseconds: 1)
        #expect(template.topic(for: event, of: boat) == "binnacle/boat/a_b__/motion.began")
        event.sensor = nil
        #expect(
            template.topic(for: event, of: MachineNames(host: "", identity: "")) == "binnacle/-/-/motion.began")
        event.sensor = String(repeating: "ü", count: 200) + "\0"
        #expect(
            template.topic(for: event, of: boat)
                == "binnacle/boat/" + String(repeating: "ü", count: 128) + "/motion.began")
        var odd = "\0\n\u{9F}"
        odd.unicodeScalars += [0xFFFE, 0xFDD0, 0x1_FFFF].compactMap { Unicode.Scalar($0 as UInt32) }
        #expect(MQTTTopic.level(odd + "é") == "______é")
    }

    @Test func eventsAndStatesStandApart() throws {
        let boat = MachineNames(host: "boat", identity: "0af3")
        let action = try action("mqtt = \"mqtt://b\"\nclient_id = \"{host}-{identity}\"")
        var event = Event(kind: .motionBegan, sensor: "chassis", timeNanoseconds: 1)
        #expect(action.topic.topic(for: event, of: boat) == "binnacle/v1/0af3/event/chassis/motion/began")
        event.kind = .freeFall
        event.identity = "that of the store"
        #expect(action.topic.topic(for: event, of: boat) == "binnacle/v1/0af3/event/chassis/free_fall")
        #expect(action.stateTopic?.topic(for: event, of: boat) == "binnacle/v1/0af3/state/chassis")
        #expect(action.statusTopic?.topic(for: event, of: boat) == "binnacle/v1/0af3/status")
        #expect(action.clientID?.topic(for: event, of: boat) == "boat-0af3")
    }

    @Test func theFirstDetectorOfAKindAtASensorHasTheFiguresOfTheSensor() throws {
        let text = """
            [sensor.box]
            source = "simulated"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            [north.stern]
            accelerometer = "box"
            magnetometer = "box"
            [motion.moved]
            accelerometer = "box"
            [handler.a]
            on = ["heading", "heading.lost", "motion.ended"]
            mqtt = "mqtt://b"
            [handler.b]
            on = ["heading"]
            detector = ["stern"]
            mqtt = "mqtt://b"
            """
        let handlers = try parse(text).handlers
        func further(_ index: Int) -> [String] { handlers[index].heard.filter { !$0.isFirst }.map(\.name) }
        #expect(further(0) == ["stern"] && further(1) == [])
        #expect(Set(handlers[0].heard.map(\.name)) == ["bow", "stern", "moved"])
    }

    /// Without discovery, only the receiver knows what it makes of the events.
    @Test(
        arguments: [
            ("\"heading\"", "\"heading\"", "\"heading.lost\""),
            ("\"heading\", \"heading.*\"", nil, nil),
            ("\"motion.began\", \"shake\"", "\"motion.began\"", "\"motion.ended\""),
            ("\"motion.ended\"", "\"motion.ended\"", "\"motion.began\""),
            ("\"motion.*\", \"shake\", \"sector.*\"", nil, nil),
            ("\"interference.began\"", "\"interference.began\"", "\"interference.ended\""),
            ("\"north.left\"", "\"north.left\"", "\"north.faced\""),
            ("\"any\"", nil, nil),
        ] as [(String, String?, String?)])
    func aStateWithoutAnEndIsSaid(kinds: String, begin: String?, end: String?) throws {
        let text = """
            [sensor.box]
            source = "simulated"
            [motion.moved]
            accelerometer = "box"
            [north.bow]
            accelerometer = "box"
            magnetometer = "box"
            bearing_deg = 0
            [handler.h]
            on = [\(kinds)]
            mqtt = "mqtt://b"

            """
        let notices = try #require(try parse(text + "discovery = \"homeassistant\"\n").handlers.first).action.notices
        let words = begin.map { "Home Assistant keeps the state of \($0), because `on` has no \(end ?? "")" }
        #expect(notices == [words].compactMap { $0 })
        #expect(try #require(try parse(text).handlers.first).action.notices == [])
    }

    @Test func aPasswordInPlainTextIsSaid() throws {
        let login = "\nuser = \"u\"\npassword_credential = \"c\""
        #expect(
            try action("mqtt = \"mqtt://broker\"" + login).notices
                == ["the password goes to broker in plain text: mqtts:// would encrypt it"])
        for broker in ["mqtts://broker", "mqtt://localhost", "mqtt://[::1]"] {
            #expect(try action("mqtt = \"\(broker)\"" + login).notices == [])
        }
    }
}
