import Binnacle
import PlainText

/// What is known of a sensor from the events that a handler is for.
struct MQTTSensorState: Equatable {
    /// Whether it delivers; `nil` while no event has told.
    var isActive: Bool?
    /// The word for each detector, such as `moving`.
    var detectors: [String: String] = [:]
    /// The latest heading.
    var heading: Figure.Value?

    /// The word for a detector that lost its sensor.
    private static let failed = "failed"

    /// Takes in what an event says.
    mutating func apply(_ event: Event) {
        if let heading = event.figure(.heading) { self.heading = heading }
        switch event.kind.row.state {
        case .none: break
        case .delivers: isActive = true
        case .detector(let word):
            isActive = true
            if let detector = event.detector { detectors[detector] = word }
        case .detectorFailed:
            if let detector = event.detector { detectors[detector] = Self.failed }
        case .sensorActive:
            isActive = true
            // A detector that works again says so with its next event.
            detectors = detectors.filter { $0.value != Self.failed }
        case .sensorInactive: isActive = false
        case .headingLost: heading = nil
        }
    }

    /// The state as one JSON object.
    ///
    /// - Parameters:
    ///   - sensor: The sensor's name.
    ///   - event: The event that changed it last.
    /// - Returns: The object on one line, its keys in a fixed order.
    func json(of sensor: String, after event: Event) -> String {
        var object = JSONObject()
        object.add("sensor", sensor)
        if let isActive { object.add("active", raw: isActive ? "true" : "false") }
        var words = JSONObject()
        for (detector, word) in detectors.sorted(by: { $0.key < $1.key }) { words.add(name: detector, word) }
        object.add("detectors", raw: words.text)
        if let heading { object.add(Figure.Name.heading.rawValue, raw: heading.description) }
        object.add("seq", raw: String(event.sequence))
        object.add("time_ns", raw: String(event.timeNanoseconds))
        if let wall = event.wallNanoseconds { object.add("wall_time", WallTime.text(wall)) }
        if event.isSimulated { object.add("simulated", raw: "true") }
        return object.text
    }
}
