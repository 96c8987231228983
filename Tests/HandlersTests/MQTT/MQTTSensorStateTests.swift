import Binnacle
import Foundation
import Handlers
import MQTT
import TestSupport
import Testing

/// What the events of several detectors, and of several configurations, make of the states of sensors.
@Suite struct MQTTSensorStateTests {
    private var states = MQTTSensorStates()
    private static let compass: Set<EventKind> = [.heading, .headingLost, .interferenceBegan, .northFaced]

    /// The states that are sent, by their sensors.
    private mutating func sent() -> [String: String] {
        var sent: [String: String] = [:]
        states.sendDue { sensor, state in
            sent[sensor] = state
            return nil
        }
        return sent
    }

    /// A configuration with two compasses at one sensor, of which some run on.
    private static func change(kept: Set<String> = [], sequence: UInt64 = 0) -> HandledChange {
        var change = HandledChange()
        change.detectors = [
            HandledDetector(name: "bow", sensor: "mast", kinds: compass),
            HandledDetector(name: "stern", sensor: "mast", kinds: compass, isFirst: false),
        ]
        (change.kept, change.sequence) = (kept, sequence)
        return change
    }

    private static func event(
        _ sequence: UInt64, _ kind: EventKind, _ detector: String?, at sensor: String? = "mast",
        _ figures: [Figure] = []
    ) -> Event {
        Event(
            kind: kind, detector: detector, sensor: sensor, sequence: sequence, timeNanoseconds: 7, figures: figures)
    }

    private static func heading(_ sequence: UInt64, _ detector: String, _ degrees: Double, age: Double? = nil) -> Event
    {
        event(
            sequence, .heading, detector,
            [Figure(.heading, .number(degrees, decimals: 1)), Figure(.accuracy, .number(2, decimals: 1))]
                + (age.map { [Figure(.age, .number($0, decimals: 1))] } ?? []))
    }

    @Test mutating func eachDetectorHasFiguresOfItsOwn() {
        states.apply(Self.change())
        #expect(sent() == ["mast": #"{"sensor":"mast","detectors":{}}"#])
        states.apply(Self.heading(1, "bow", 10))
        let start = #"{"sensor":"mast","active":true,"detectors":{},"#
        let bow = #""heading_deg":10.0,"accuracy_deg":2.0,"#
        #expect(sent() == ["mast": start + bow + #""seq":1,"time_ns":7}"#], "as before there was a second detector")
        states.apply(Self.heading(2, "stern", 190))
        states.apply(Self.event(3, .interferenceBegan, "stern"))
        let stern = #""further":{"stern":{"heading_deg":190.0,"accuracy_deg":2.0,"interference":true}},"#
        #expect(sent() == ["mast": start + bow + stern + #""seq":3,"time_ns":7}"#])
        states.apply(Self.event(4, .headingLost, "stern"))
        let lost = #""further":{"stern":{"interference":true}},"#
        #expect(sent() == ["mast": start + bow + lost + #""seq":4,"time_ns":7}"#], "that of the bow is not lost")
    }

    @Test mutating func aHeadingThatIsHeldIsNotTheLatest() throws {
        states.apply(Self.heading(1, "bow", 12, age: 0.5))
        #expect(try #require(sent()["mast"]) == #"{"sensor":"mast","active":true,"detectors":{},"seq":1,"time_ns":7}"#)
        states.apply(Self.heading(2, "bow", 10))
        _ = sent()
        states.apply(Self.heading(3, "bow", 12, age: 0.5))
        #expect(sent() == [:], "the last valid one stays")
    }

    /// The loss of a heading names the sensor to blame, if any, and a failure names none.
    @Test(arguments: [(.headingLost, "other"), (.headingLost, nil), (.detectorFailed, nil)] as [(EventKind, String?)])
    mutating func whatADetectorLosesIsNoPartOfTheState(kind: EventKind, sensor: String?) throws {
        states.apply(Self.heading(1, "bow", 10))
        states.apply(Self.event(2, .northFaced, "bow"))
        _ = sent()
        states.apply(Self.event(3, kind, "bow", at: sensor))
        let state = try #require(sent()["mast"])
        #expect(!state.contains("heading_deg") && !state.contains("accuracy_deg"))
        #expect(state.contains(kind == .headingLost ? #"{"bow":"facing"}"# : #"{"bow":"failed"}"#))
        states.apply(Self.heading(4, "bow", 20))
        #expect(try #require(sent()["mast"]).contains("failed") == false, "a detector that works has not failed")
    }

    @Test mutating func aDetectorThatAReloadChangesBeginsAgain() throws {
        states.apply(Self.change())
        for detector in ["bow", "stern"] {
            states.apply(Self.heading(1, detector, 10))
            states.apply(Self.event(2, .northFaced, detector))
        }
        _ = sent()
        states.apply(Self.change(kept: ["bow"], sequence: 3))
        var state = try #require(sent()["mast"])
        #expect(state.contains(#""detectors":{"bow":"facing"},"heading_deg":10.0"#) && !state.contains("stern"))
        // What waited in the queue is of the detector before.
        states.apply(Self.event(3, .northFaced, "stern"))
        #expect(sent() == [:])
        states.apply(Self.event(4, .northFaced, "stern"))
        state = try #require(sent()["mast"])
        #expect(state.contains(#""detectors":{"bow":"facing","stern":"facing"}"#))
        // A kind that the handler does not get any more would have no end.
        var change = Self.change(kept: ["bow", "stern"], sequence: 4)
        change.detectors = change.detectors.map {
            HandledDetector(name: $0.name, sensor: $0.sensor, kinds: [.northFaced], isFirst: $0.isFirst)
        }
        states.apply(change)
        #expect(sent() == ["mast": #"{"sensor":"mast","active":true,"detectors":{},"seq":4,"time_ns":7}"#])
    }

    @Test mutating func aSensorThatAReloadRemovesHasNoState() {
        states.apply(Self.heading(1, "bow", 10))
        states.apply(Self.event(2, .sensorInactive, nil, at: "box"))
        _ = sent()
        var change = HandledChange()
        (change.gone, change.renewed) = (["mast"], ["box"])
        states.apply(change)
        #expect(sent() == ["mast": "", "box": #"{"sensor":"box","detectors":{},"seq":2,"time_ns":7}"#])
        states.apply(Self.heading(3, "bow", 10))
        #expect(sent() == [:])
        change = Self.change()
        change.renewed = ["mast"]
        states.apply(change)
        #expect(sent() == ["mast": #"{"sensor":"mast","detectors":{},"seq":1,"time_ns":7}"#], "it is there again")
    }

    @Test mutating func whatIsDisarmedIsKnownWithoutAReport() {
        var change = HandledChange()
        change.handlers = ["siren": false, "log": true]
        states.apply(change)
        #expect(sent() == ["": #"{"sensor":"","handlers":{"siren":"disarmed"}}"#])
        change.handlers = ["log": true]
        states.apply(change)
        #expect(sent() == ["": #"{"sensor":"","handlers":{}}"#])
    }
}

/// The states at a real broker, over reloads and starts.
@Suite(.enabled(if: Broker.program != nil, Broker.absence))
struct MQTTKeptStateTests {
    @Test func aSuccessorGoesOnWithTheStates() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let old = try MQTTRun(broker.port)
        try old.waitUntilConnected()
        old.handler.handle(event(1, kind: .motionBegan))
        old.handler.handle(event(2, kind: .shock, [Figure(.peak, .number(2, decimals: 1))]))
        // As in a reload: what waits is still the old one's.
        let new = try MQTTRun(broker.port)
        new.handler.inherit(from: old.handler)
        var change = HandledChange()
        change.detectors = [HandledDetector(name: "moved", sensor: "chassis", kinds: [.motionBegan, .motionEnded])]
        (change.kept, change.sequence) = (["moved"], 2)
        new.handler.configurationDidChange(change)
        old.handler.end(within: .seconds(60))
        try subscriber.wait("the successor") { $0.count { $0.topic == "status" && $0.payload == "online" } == 2 }
        #expect(old.end() == 0)
        #expect(new.end() == 0)
        let kept = #"{"sensor":"chassis","active":true,"detectors":{"moved":"moving"},"peak_g":2.0,"seq":2,"#
        #expect(subscriber.payloads(of: "states/chassis").last?.hasPrefix(kept) == true)
        #expect(subscriber.payloads(of: "states/chassis").allSatisfy { $0.contains("moving") })
        #expect(old.reasons == [] && new.reasons == [])
    }

    @Test func theStateIsTheLatestAlsoWhereItsEventWasDropped() throws {
        let broker = try Broker()
        broker.stop()
        let run = try MQTTRun(broker.port, capacity: 2)
        _ = try run.waitForFailure("refused")
        for number in 1...9 as ClosedRange<UInt64> {
            run.handler.handle(event(number, kind: number.isMultiple(of: 2) ? .motionEnded : .motionBegan))
        }
        run.handler.handle(event(10, kind: .motionEnded))
        try broker.start()
        try run.waitUntilConnected()
        let late = try Subscriber(broker.port)
        defer { late.stop() }
        try late.wait("the state") { $0.contains { $0.topic == "states/chassis" && $0.payload.contains("still") } }
        #expect(run.end() == 0)
    }

    private static func configuration(_ port: Int, _ further: String = "") -> String {
        """
        [sensor.box]
        source = "simulated"
        model = "still"
        [orientation.screen]
        accelerometer = "box"
        [handler.siren]
        on = ["orientation.changed"]
        stdout = true
        [handler.home]
        on = ["orientation.changed", "tilt.changed", "handler.*"]
        mqtt = "mqtt://127.0.0.1:\(port)"
        state_topic = "states/{sensor}"
        status_topic = "status"
        discovery = "homeassistant"
        [socket]
        path = "SOCKET"
        \(further)

        """
    }

    /// A further sensor, and a further handler, for which the publisher is made again.
    private static let further = """
        [sensor.parcel]
        source = "simulated"
        [motion.parcel]
        accelerometer = "parcel"
        [handler.bell]
        on = ["motion.began"]
        log = true
        """

    @Test func aReloadKeepsTheStatesOfWhatIsStillThere() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let folder = try TemporaryFolder()
        func text(_ further: String = "") -> String {
            Self.configuration(broker.port, further).replacing("SOCKET", with: folder.path + "/socket")
        }
        func wait(_ comment: String, _ topic: String, _ isEnough: (String) -> Bool) throws {
            try subscriber.wait(comment) { $0.last { $0.topic == topic }.map { isEnough($0.payload) } ?? false }
        }
        let run = try DaemonRun(text(Self.further), environment: ["STATE_DIRECTORY": folder.path]).start()
        try wait("the orientation", "states/box") { $0.contains("\"orientation\"") || $0.contains("\"tilt\"") }
        try wait("a sensor without an event", "states/parcel") { $0 == #"{"sensor":"parcel","detectors":{}}"# }
        #expect(try Binary.run("disarm", "siren", "--socket", folder.path + "/socket").status == 0)
        let disarmed = "\"handlers\":{\"siren\":\"disarmed\"}"
        try wait("the handlers", "states/-") { $0.contains(disarmed) }
        let count = subscriber.messages.count
        try run.configure(text())
        run.reload()
        try wait("the end of the sensor", "states/parcel", \.isEmpty)
        try subscriber.wait("both states again") { messages in
            ["states/box", "states/-"].allSatisfy { topic in messages.dropFirst(count).contains { $0.topic == topic } }
        }
        #expect(run.stop() == 0)
        let later = subscriber.messages.dropFirst(count)
        #expect(later.filter { $0.topic == "states/-" }.allSatisfy { $0.payload.contains(disarmed) })
        #expect(
            later.filter { $0.topic == "states/box" }.allSatisfy {
                $0.payload.contains("\"orientation\"") || $0.payload.contains("\"tilt\"")
            })
    }

    /// What an earlier run has left is replaced at once, also without discovery.
    @Test func aRunBeginsWithTheStateOfEachSensor() throws {
        let broker = try Broker()
        let subscriber = try Subscriber(broker.port)
        defer { subscriber.stop() }
        let run = try DaemonRun(
            """
            [sensor.box]
            source = "simulated"
            model = "still"
            [sensor.other]
            source = "simulated"
            [motion.box]
            accelerometer = "box"
            [motion.other]
            accelerometer = "other"
            [handler.fleet]
            on = ["motion.began", "motion.ended", "sensor.inactive"]
            detector = ["box"]
            mqtt = "mqtt://127.0.0.1:\(broker.port)"
            state_topic = "states/{sensor}"
            [handler.log]
            on = ["motion.began"]
            log = true
            """
        ).start()
        try subscriber.wait("the state") { $0.contains { $0.topic == "states/box" } }
        #expect(run.stop() == 0)
        #expect(subscriber.payloads(of: "states/box") == [#"{"sensor":"box","detectors":{}}"#])
        #expect(subscriber.payloads(of: "states/other") == [], "the handler does not listen to its detector")
    }
}
