import Binnacle
import PlainText

/// The state of a sensor, as far as a handler's events tell.
struct MQTTSensorState: Equatable {
    /// Whether the sensor delivers; `nil` while unknown.
    var isActive: Bool?
    /// The state of each detector, such as `moving`.
    var detectors: [String: String] = [:]
    var heading: Figure.Value?
    /// Whether iron or a magnet is nearby; `nil` before the first.
    var hasInterference: Bool?
    /// The latest of the other figures that are part of the state.
    var figures: [Figure.Name: Figure.Value] = [:]

    /// The state of a detector that lost its sensor.
    private static let failed = "failed"
    /// The figures that stand beside the heading.
    private static let headingFigures: [Figure.Name] = [.accuracy, .reference]

    mutating func apply(_ event: Event) {
        if let heading = event.figure(.heading) {
            self.heading = heading
            for name in Self.headingFigures { figures[name] = event.figure(name) }
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
            // The next event of a detector that works again has its state.
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
        for (detector, word) in detectors.sorted(by: { $0.key < $1.key }) { words.add(name: detector, word) }
        object.add("detectors", raw: words.text)
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

/// The states of all sensors, and which of them the broker does not have yet.
///
/// At most one state of each sensor is in flight; a change during that time is sent after the acknowledgement. So no
/// more messages are in flight than there are sensors, however fast states change.
struct MQTTSensorStates {
    private struct Record {
        var state = MQTTSensorState()
        var text = ""
        var isDue = false
        /// The ID of the message in flight.
        var message: Int32?
    }

    private var sensors: [String] = []
    private var records: [String: Record] = [:]

    var inFlightCount: Int { records.values.count { $0.message != nil } }

    /// Applies an event to its sensor's state, which is sent only when it changes.
    mutating func apply(_ event: Event) {
        guard let sensor = event.sensor else { return }
        var record = records[sensor] ?? Record()
        let before = record.state
        record.state.apply(event)
        guard record.state != before else { return }
        if records[sensor] == nil { sensors.append(sensor) }
        record.text = record.state.json(of: sensor, after: event)
        record.isDue = true
        records[sensor] = record
    }

    /// Begins the state of a sensor, so that the broker has one before its first event.
    mutating func begin(_ sensor: String) {
        guard records[sensor] == nil else { return }
        sensors.append(sensor)
        records[sensor] = Record(text: MQTTSensorState().json(of: sensor, after: nil), isDue: true)
    }

    /// Whether the broker has all states.
    var isSettled: Bool { records.values.allSatisfy { !$0.isDue && $0.message == nil } }

    /// Sends the changed states; `send` returns the message ID, or `nil` when the state cannot be sent.
    mutating func sendDue<Failure: Error>(
        _ send: (_ sensor: String, _ state: String) throws(Failure) -> Int32?
    ) throws(Failure) {
        for sensor in sensors {
            guard let record = records[sensor], record.isDue, record.message == nil else { continue }
            let message = try send(sensor, record.text)
            records[sensor]?.isDue = false
            records[sensor]?.message = message
        }
    }

    mutating func finish(_ message: Int32) {
        for sensor in sensors where records[sensor]?.message == message { records[sensor]?.message = nil }
    }

    /// Marks all states as unsent after a lost connection: the broker may have forgotten them.
    mutating func reset() {
        for sensor in sensors {
            records[sensor]?.isDue = true
            records[sensor]?.message = nil
        }
    }
}
