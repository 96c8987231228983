import Binnacle

/// The states of all sensors, and which of them the broker does not have yet.
///
/// Of each sensor one state at most is under way; what changes meanwhile is sent when that has arrived. So there are never
/// more of them than sensors, however fast they change.
struct MQTTSensorStates {
    private struct Record {
        var state = MQTTSensorState()
        var text = ""
        var isDue = false
        /// The number of the message that is under way.
        var message: Int32?
    }

    private var sensors: [String] = []
    private var records: [String: Record] = [:]

    /// How many are under way.
    var inFlightCount: Int { records.values.count { $0.message != nil } }

    /// Takes in what an event says of its sensor; one that changes nothing is not sent.
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

    /// Whether the broker has all of them.
    var isSettled: Bool { records.values.allSatisfy { !$0.isDue && $0.message == nil } }

    /// Sends what is due.
    ///
    /// - Parameter send: Sends a sensor's state; the number of its message, or `nil` when it cannot be sent.
    /// - Throws: What `send` throws; what it was about is still due then.
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

    /// Marks the state of a message as arrived.
    mutating func finish(_ message: Int32) {
        for sensor in sensors where records[sensor]?.message == message { records[sensor]?.message = nil }
    }

    /// Makes all states due again after a lost connection: the broker may have forgotten everything.
    mutating func reset() {
        for sensor in sensors {
            records[sensor]?.isDue = true
            records[sensor]?.message = nil
        }
    }
}
