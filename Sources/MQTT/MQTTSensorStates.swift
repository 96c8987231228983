package import Binnacle
package import Handlers
import PlainText
import Synchronization

/// The state of a detector according to a handler's events.
struct MQTTDetectorState: Equatable {
    /// Such as `moving`; `nil` while unknown.
    var word: String?
    /// The latest values of the figures in the state.
    var figures: [Figure.Name: Figure.Value] = [:]
    /// Whether iron or a magnet is nearby; `nil` while unknown.
    var hasInterference: Bool?
    /// The kinds of its events that the handler gets; empty while no configuration says so.
    var kinds: Set<EventKind> = []
    /// Whether a detector before it finds the same at the sensor, and has the figures beside the sensor's name.
    var isFurther = false
    /// The number of its first event; earlier ones are of a detector that a reload has ended.
    var firstSequence: UInt64 = 0

    /// The word for a detector that lost its sensor.
    static let failed = "failed"
    /// The figures published with the heading.
    private static let headingFigures: [Figure.Name] = [.accuracy, .reference]

    mutating func apply(_ event: Event) {
        let row = event.kind.row
        // A held heading is an old one: the last valid one stays until it is lost.
        if row.heading == .sensor, let heading = event.figure(.heading), event.figure(.age) == nil {
            figures[.heading] = heading
            for name in Self.headingFigures { figures[name] = event.figure(name) }
        }
        for effect in row.state {
            switch effect {
            // A detector that works again has a state with its next event.
            case .delivers: if word == Self.failed { word = nil }
            case .word(let word): self.word = word
            case .detectorFailed: (word, figures, hasInterference) = (Self.failed, [:], nil)
            case .headingLost: for name in [.heading] + Self.headingFigures { figures[name] = nil }
            case .figures(let names): for name in names { figures[name] = event.figure(name) }
            case .interference(let isNearby): hasInterference = isNearby
            case .sensorActive, .sensorInactive: break
            }
        }
    }

    /// Adds the figures, the heading first.
    func add(to object: inout JSONObject) {
        if let heading = figures[.heading] { object.add(.heading, heading) }
        for (name, value) in figures.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where name != .heading {
            object.add(name, value)
        }
        if let hasInterference { object.add("interference", raw: hasInterference ? "true" : "false") }
    }
}

/// The state of a sensor according to a handler's events.
struct MQTTSensorState: Equatable {
    /// Whether the sensor delivers samples; `nil` while unknown.
    var isActive: Bool?
    /// The number of the event by which it ceased to deliver; a decorator may pass earlier ones later.
    var inactiveSince: UInt64 = 0
    var detectors: [String: MQTTDetectorState] = [:]
    /// Whether handlers get events, `armed` or `disarmed`, as far as that was reported.
    var handlers: [String: String] = [:]

    mutating func apply(_ event: Event) {
        if event.kind.isArming, case .text(let name)? = event.figure(.handler) {
            handlers[name] = event.kind == .handlerArmed ? "armed" : "disarmed"
        }
        for effect in event.kind.row.state {
            switch effect {
            case .delivers: if event.sequence > inactiveSince { isActive = true }
            case .sensorActive:
                isActive = true
                for (name, state) in detectors where state.word == MQTTDetectorState.failed {
                    detectors[name]?.word = nil
                }
            case .sensorInactive: (isActive, inactiveSince) = (false, event.sequence)
            default: break
            }
        }
        guard let detector = event.detector else { return }
        var state = detectors[detector] ?? MQTTDetectorState()
        state.apply(event)
        if state != MQTTDetectorState() { detectors[detector] = state }
    }

    /// The state as one JSON object, with the event that changed it last; `nil` before the first.
    func json(of sensor: String, after event: Event?) -> String {
        var object = JSONObject()
        object.add("sensor", sensor)
        if let isActive { object.add("active", raw: isActive ? "true" : "false") }
        var words = JSONObject()
        var first = MQTTDetectorState()
        var further: JSONObject?
        for (name, state) in detectors.sorted(by: { $0.key < $1.key }) {
            if let word = state.word { words.add(name: name, word) }
            if state.isFurther, !state.figures.isEmpty || state.hasInterference != nil {
                var figures = JSONObject()
                state.add(to: &figures)
                further = further ?? JSONObject()
                further?.add(name: name, raw: figures.text)
            } else if !state.isFurther {
                first.figures.merge(state.figures) { $1 }
                first.hasInterference = state.hasInterference ?? first.hasInterference
            }
        }
        for (name, word) in handlers.sorted(by: { $0.key < $1.key }) { words.add(name: name, word) }
        object.add(sensor.isEmpty ? "handlers" : "detectors", raw: words.text)
        first.add(to: &object)
        if let further { object.add("further", raw: further.text) }
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
        var event: Event?
        /// Whether a reload removed the sensor: an empty message ends the retention.
        var isGone = false
        var isDue = false
        var message: Int32?

        var text: String { isGone ? "" : state.json(of: sensor, after: event) }
    }

    private var records: [Record] = []
    /// The number of the first event under the present configuration.
    private var firstSequence: UInt64 = 0

    package init() {}

    var inFlightCount: Int { records.count { $0.message != nil } }

    /// Applies an event to its sensor's state, which is sent only after a change.
    package mutating func apply(_ event: Event) {
        for sensor in sensors(of: event) {
            let index = records.firstIndex { $0.sensor == sensor }
            var record = index.map { records[$0] } ?? Record(sensor: sensor)
            let known = event.detector.flatMap { record.state.detectors[$0] }
            let first = event.detector == nil ? 0 : known.map(\.firstSequence) ?? firstSequence
            guard !record.isGone, event.sequence >= first else { continue }
            let before = record.state
            record.state.apply(event)
            guard record.state != before else { continue }
            (record.event, record.isDue) = (event, true)
            if let index { records[index] = record } else { records.append(record) }
        }
    }

    /// The sensors whose states an event is part of.
    private func sensors(of event: Event) -> [String] {
        // The end of what a detector found names no sensor, or the one to blame.
        let ends = event.kind.row.state.contains { $0 == .detectorFailed || $0 == .headingLost }
        if ends, let detector = event.detector {
            return records.filter { $0.state.detectors[detector] != nil }.map(\.sensor)
        }
        // Handlers belong to no sensor; their state has an empty name, which is `-` in topics.
        return [event.sensor ?? (event.kind.isArming ? "" : nil)].compactMap { $0 }
    }

    /// Clears what a configuration ends, and begins the states of its sensors.
    package mutating func apply(_ change: HandledChange) {
        let before = records.map(\.text)
        firstSequence = change.sequence + 1
        for index in records.indices {
            let sensor = records[index].sensor
            records[index].isGone = records[index].isGone || change.gone.contains(sensor)
            records[index].state.detectors = records[index].state.detectors.filter { change.kept.contains($0.key) }
            if change.renewed.contains(sensor) { records[index].state.isActive = nil }
        }
        for detector in change.detectors where !detector.kinds.isEmpty {
            let index = begin(detector.sensor)
            let new = MQTTDetectorState(firstSequence: firstSequence)
            var state = records[index].state.detectors[detector.name] ?? new
            // What came from a kind that the handler does not get any more would stay.
            if !state.kinds.isSubset(of: detector.kinds) { state = new }
            (state.kinds, state.isFurther) = (detector.kinds, !detector.isFirst)
            records[index].state.detectors[detector.name] = state
        }
        if !change.handlers.isEmpty || records.contains(where: { $0.sensor.isEmpty }) {
            let index = begin("")
            let known = records[index].state.handlers.filter { change.handlers[$0.key] != nil }
            records[index].state.handlers = known.merging(
                change.handlers.filter { !$0.value }.mapValues { _ in "disarmed" }
            ) { $1 }
        }
        for (index, text) in before.enumerated() where records[index].text != text { records[index].isDue = true }
    }

    /// Begins the state of a sensor, so that the broker has one before the first event.
    @discardableResult mutating func begin(_ sensor: String) -> Int {
        if let index = records.firstIndex(where: { $0.sensor == sensor }) {
            records[index].isGone = false
            return index
        }
        records.append(Record(sensor: sensor, isDue: true))
        return records.count - 1
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

    /// Handles the answer to a state; returns its sensor, or `nil` for another message.
    mutating func finish(_ message: Int32) -> String? {
        guard let index = records.firstIndex(where: { $0.message == message }) else { return nil }
        records[index].message = nil
        return records[index].sensor
    }

    /// Marks all states as unsent after a lost connection: the broker may have forgotten them.
    mutating func reset() {
        for index in records.indices {
            records[index].isDue = true
            records[index].message = nil
        }
    }
}

/// The states of a publisher, with which its successor in a reload goes on.
final class MQTTKeptStates: KeptState {
    private struct Content {
        var states = MQTTSensorStates()
        /// The last events of each kind that found no room in the queue, in their order.
        var dropped: [Event] = []
        /// That of the publisher before, which may still be at work, until this one begins.
        var predecessor: MQTTKeptStates?
        /// What the states do not contain yet.
        var changes: [HandledChange] = []
    }

    private let content = Mutex(Content())

    /// The states, for the publisher's thread.
    var states: MQTTSensorStates {
        get {
            content.withLock { content in
                if let predecessor = content.predecessor.take() {
                    predecessor.applyDropped(before: .max)
                    content.states = predecessor.states
                    content.states.reset()
                }
                for change in content.changes { content.states.apply(change) }
                content.changes = []
                return content.states
            }
        }
        set { content.withLock { $0.states = newValue } }
    }

    /// Keeps an event that is not published, because a state is the latest value all the same.
    func didDrop(_ event: Event) {
        content.withLock { content in
            content.dropped.removeAll {
                $0.kind == event.kind && $0.detector == event.detector && $0.sensor == event.sensor
                    && $0.figure(.handler) == event.figure(.handler)
            }
            content.dropped.append(event)
        }
    }

    /// Applies dropped events with a smaller number.
    func applyDropped(before sequence: UInt64) {
        content.withLock { content in
            while let event = content.dropped.first, event.sequence < sequence {
                content.states.apply(content.dropped.removeFirst())
            }
        }
    }

    func inherit(from other: any KeptState) {
        content.withLock { $0.predecessor = other as? MQTTKeptStates }
    }

    func configurationDidChange(_ change: HandledChange) {
        content.withLock { $0.changes.append(change) }
    }
}
