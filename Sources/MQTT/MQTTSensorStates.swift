package import Binnacle
import Handlers
import PlainText

/// The state of a sensor according to a handler's events.
struct MQTTSensorState: Equatable {
    /// Whether the sensor delivers samples; `nil` while unknown.
    var isActive: Bool?
    /// The state of each detector, such as `moving`.
    var detectors: [String: String] = [:]
    var heading: Figure.Value?
    /// Whether handlers get events, `armed` or `disarmed`, as far as that was reported.
    var handlers: [String: String] = [:]
    /// Whether iron or a magnet is nearby; `nil` while unknown.
    var hasInterference: Bool?
    /// The latest values of the other figures in the state.
    var figures: [Figure.Name: Figure.Value] = [:]

    /// The state of a detector whose sensor failed.
    private static let failed = "failed"
    /// The figures published with the heading.
    private static let headingFigures: [Figure.Name] = [.accuracy, .reference]

    mutating func apply(_ event: Event) {
        if event.kind.row.heading == .sensor, let heading = event.figure(.heading) {
            self.heading = heading
            for name in Self.headingFigures { figures[name] = event.figure(name) }
        }
        if EventKind.arming.contains(event.kind), case .text(let name)? = event.figure(.handler) {
            handlers[name] = event.kind == .handlerArmed ? "armed" : "disarmed"
        }
        for effect in event.kind.row.state { apply(effect, of: event) }
    }

    private mutating func apply(_ effect: EventKind.StateEffect, of event: Event) {
        switch effect {
        case .delivers: isActive = true
        case .word(let word): if let detector = event.detector { detectors[detector] = word }
        case .detectorFailed: if let detector = event.detector { detectors[detector] = Self.failed }
        case .sensorActive:
            isActive = true
            // A detector that works again has a state with its next event.
            detectors = detectors.filter { $0.value != Self.failed }
        case .sensorInactive: isActive = false
        case .headingLost:
            heading = nil
            for name in Self.headingFigures { figures[name] = nil }
        case .figures(let names): for name in names { figures[name] = event.figure(name) }
        case .interference(let isNearby): hasInterference = isNearby
        }
    }

    /// The state as one JSON object, with the event that changed it last; `nil` before the first.
    func json(of sensor: String, after event: Event?) -> String {
        var object = JSONObject()
        object.add("sensor", sensor)
        if let isActive { object.add("active", raw: isActive ? "true" : "false") }
        var words = JSONObject()
        for (name, word) in (sensor.isEmpty ? handlers : detectors).sorted(by: { $0.key < $1.key }) {
            words.add(name: name, word)
        }
        object.add(sensor.isEmpty ? "handlers" : "detectors", raw: words.text)
        if let heading { object.add(Figure.Name.heading.rawValue, raw: heading.description) }
        for (name, value) in figures.sorted(by: { $0.key.rawValue < $1.key.rawValue }) { object.add(name, value) }
        if let hasInterference { object.add("interference", raw: hasInterference ? "true" : "false") }
        guard let event else { return object.text }
        object.add("seq", raw: String(event.sequence))
        object.add("time_ns", raw: String(event.timeNanoseconds))
        if let wall = event.wallNanoseconds { object.add("wall_time", WallTime.text(wall)) }
        if event.isSimulated { object.add("simulated", raw: "true") }
        if let identity = event.identity { object.add("identity", identity) }
        return object.text
    }
}

/// The states of all sensors, and which of them the broker lacks.
///
/// At most one state of each sensor is in flight; a change during that time is sent after the acknowledgement. The number of
/// messages in flight is therefore at most the number of sensors, however fast states change.
package struct MQTTSensorStates {
    private struct Record {
        let sensor: String
        var state = MQTTSensorState()
        var text = ""
        var isDue = false
        var message: Int32?
    }

    private var records: [Record] = []

    package init() {}

    var inFlightCount: Int { records.count { $0.message != nil } }

    /// Applies an event to its sensor's state, which is sent only after a change.
    package mutating func apply(_ event: Event) {
        // Handlers belong to no sensor; their state has an empty name, which is `-` in topics.
        guard let sensor = event.sensor ?? (EventKind.arming.contains(event.kind) ? "" : nil) else { return }
        let index = records.firstIndex { $0.sensor == sensor }
        var record = index.map { records[$0] } ?? Record(sensor: sensor)
        let before = record.state
        record.state.apply(event)
        guard record.state != before else { return }
        record.text = record.state.json(of: sensor, after: event)
        record.isDue = true
        if let index { records[index] = record } else { records.append(record) }
    }

    /// Begins the state of a sensor, so that the broker has one before the first event.
    mutating func begin(_ sensor: String) {
        guard !records.contains(where: { $0.sensor == sensor }) else { return }
        records.append(Record(sensor: sensor, text: MQTTSensorState().json(of: sensor, after: nil), isDue: true))
    }

    /// Whether the broker has all states.
    var isSettled: Bool { records.allSatisfy { !$0.isDue && $0.message == nil } }

    /// Sends the changed states; `send` returns the message ID, or `nil` when the state cannot be sent.
    package mutating func sendDue<Failure: Error>(
        _ send: (_ sensor: String, _ state: String) throws(Failure) -> Int32?
    ) throws(Failure) {
        for (index, record) in records.enumerated() where record.isDue && record.message == nil {
            records[index].message = try send(record.sensor, record.text)
            records[index].isDue = false
        }
    }

    mutating func finish(_ message: Int32) {
        for index in records.indices where records[index].message == message { records[index].message = nil }
    }

    /// Marks all states as unsent after a lost connection: the broker may have forgotten them.
    mutating func reset() {
        for index in records.indices {
            records[index].isDue = true
            records[index].message = nil
        }
    }
}
