package import Binnacle
import PlainText

/// The state of a live view: the last readings, held peaks, the last events, and the user's choices.
///
/// It changes only by its inputs: its time is that of the readings.
package struct WatchState {
    package enum Key: Sendable, Equatable {
        case nextSensor, previousSensor, larger, smaller, resetScale, resetPeaks, hold, quit
    }

    /// `nil` before the first.
    package private(set) var readings: LiveValues?
    /// The last events, which a frozen display shows when it goes on.
    private var lines: [(text: String, sensor: String?)] = []
    /// Those that are shown, of all sensors.
    private var shownLines: [(text: String, sensor: String?)] = []
    /// The headings that the events leave out.
    package var headingCount = 0
    /// The origin of the readings, in words.
    package let source: String
    /// Why there are no readings; `nil` while there are.
    package var trouble: String?
    /// How long no reading has come; `nil` while they come, and before the first.
    package var silentSeconds: Int?
    /// The shown sensor; `nil` for all.
    package private(set) var sensor: String?
    /// How many steps bars are scaled beyond what they need.
    package private(set) var scaleSteps = 0
    /// Whether the display is frozen.
    package private(set) var isHeld = false
    /// Intervals skipped since the start.
    package private(set) var skippedCount = 0

    private var peaks: [String: (value: Float, timeNanoseconds: Int64)] = [:]
    private var sensors: [String] = []

    private static let mostEvents = 100
    private static let holdNanoseconds: Int64 = 3_000_000_000

    /// Creates a view of one sensor, or all.
    package init(source: String, sensor: String? = nil) {
        self.source = source
        self.sensor = sensor
    }

    /// Shows readings, unless the display is frozen.
    package mutating func update(_ readings: LiveValues) {
        trouble = nil
        skippedCount += readings.skippedCount
        guard !isHeld else { return }
        self.readings = readings
        sensors = readings.streams.reduce(into: []) { if !$0.contains($1.sensor) { $0.append($1.sensor) } }
        if let sensor, !sensors.contains(sensor) {
            let known = sensors.isEmpty ? "none does" : Spelling.hint(for: sensor, among: sensors)
            trouble = "no sensor \(Spelling.quoted(sensor)) delivers (\(known))"
        }
        for stream in readings.streams {
            for (axis, span) in [("x", stream.x), ("y", stream.y), ("z", stream.z), ("length", stream.length)] {
                guard let span else { continue }
                recordPeak(max(span.greatest, -span.least), Self.key(stream, axis), readings.timeNanoseconds)
            }
        }
        for detector in readings.detectors {
            for measure in detector.measures {
                recordPeak(measure.span.greatest, Self.key(detector, measure.name), readings.timeNanoseconds)
            }
        }
    }

    /// Adds an event, or a message about events, which is of no sensor.
    package mutating func append(line: String, of sensor: String? = nil) {
        lines.append((line, sensor))
        if lines.count > Self.mostEvents { lines.removeFirst() }
        if !isHeld { shownLines = lines }
    }

    /// The events of the shown sensor and those of none, one line each, the newest last.
    package var events: [String] { shownLines.filter { shows($0.sensor) }.map { $0.text } }

    /// Whether what is of a sensor is shown; what is of none is shown with each.
    package func shows(_ name: String?) -> Bool { name == nil || sensor == nil || name == sensor }

    /// What is said of readings that are old; `nil` while they are not.
    package var silence: String? { silentSeconds.map { "no reading for \($0) s" } }

    /// Handles a key; `false` when it ends the view.
    package mutating func press(_ key: Key) -> Bool {
        switch key {
        case .nextSensor: choose(1)
        case .previousSensor: choose(-1)
        case .larger: scaleSteps = min(scaleSteps + 1, 6)
        case .smaller: scaleSteps = max(scaleSteps - 1, -6)
        case .resetScale: scaleSteps = 0
        case .resetPeaks: peaks = [:]
        case .hold:
            isHeld.toggle()
            if !isHeld { shownLines = lines }
        case .quit: return false
        }
        return true
    }

    package var shown: LiveValues? { readings?.only(sensor.map { [$0] }) }

    /// The index of the shown sensor, from 1, and the number of sensors; `nil` for all.
    var place: (number: Int, count: Int)? {
        sensor.flatMap { name in sensors.firstIndex(of: name).map { ($0 + 1, sensors.count) } }
    }

    /// The greatest absolute value of the last seconds.
    func peak(_ stream: LiveValues.Stream, _ axis: String) -> Float? { peaks[Self.key(stream, axis)]?.value }

    /// The greatest value of the last seconds.
    package func peak(_ detector: LiveValues.Detector, _ measure: String) -> Float? {
        peaks[Self.key(detector, measure)]?.value
    }

    private mutating func recordPeak(_ value: Float, _ key: String, _ time: Int64) {
        if let peak = peaks[key], value < peak.value, time - peak.timeNanoseconds < Self.holdNanoseconds { return }
        peaks[key] = (value, time)
    }

    /// Selects the next sensor in a direction; "all sensors" is one of the choices.
    private mutating func choose(_ step: Int) {
        guard !sensors.isEmpty else { return }
        let place = sensor.flatMap(sensors.firstIndex) ?? -1
        let count = sensors.count + 1
        let next = (place + 1 + step + count) % count - 1
        sensor = next < 0 ? nil : sensors[next]
    }

    private static func key(_ stream: LiveValues.Stream, _ axis: String) -> String {
        "stream \(stream.kind.rawValue) \(axis) \(stream.sensor)"
    }

    private static func key(_ detector: LiveValues.Detector, _ measure: String) -> String {
        "detector \(measure) \(detector.name)"
    }
}
