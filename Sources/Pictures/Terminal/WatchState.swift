package import Binnacle

/// What a live view shows: the last readings, peaks that are held, the last events, and what the user has chosen.
///
/// A value that changes by what comes in alone: its time is that of the readings.
package struct WatchState {
    /// A key that means something.
    package enum Key: Sendable, Equatable {
        case nextSensor, previousSensor, larger, smaller, resetScale, resetPeaks, hold, quit
    }

    /// The last readings; `nil` before the first.
    package private(set) var readings: LiveValues?
    /// The last events, each as a line, the newest last.
    package private(set) var events: [String] = []
    /// Where the readings come from.
    package let source: String
    /// Why there are none at present.
    package var trouble: String?
    /// The sensor that is shown; `nil` for all.
    package private(set) var sensor: String?
    /// How much larger bars are than they need be, as steps of a scale.
    package private(set) var scaleSteps = 0
    /// Whether the picture stands still.
    package private(set) var isHeld = false
    /// How many intervals were skipped since the start.
    package private(set) var skippedCount = 0

    private var peaks: [String: (value: Float, timeNanoseconds: Int64)] = [:]
    private var sensors: [String] = []

    /// How many events are kept.
    private static let mostEvents = 100
    /// How long a peak is held.
    private static let holdNanoseconds: Int64 = 3_000_000_000

    /// Creates a view without readings, of one sensor or all; the source is in words.
    package init(source: String, sensor: String? = nil) {
        self.source = source
        self.sensor = sensor
    }

    /// Takes readings, unless the picture stands still.
    package mutating func update(_ readings: LiveValues) {
        trouble = nil
        skippedCount += readings.skippedCount
        guard !isHeld else { return }
        self.readings = readings
        sensors = readings.streams.reduce(into: []) { if !$0.contains($1.sensor) { $0.append($1.sensor) } }
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

    /// Takes the line of an event, or of what is to be known of events.
    package mutating func append(line: String) {
        guard !isHeld else { return }
        events.append(line)
        if events.count > Self.mostEvents { events.removeFirst() }
    }

    /// Handles a key; `false` when it ends the view.
    package mutating func press(_ key: Key) -> Bool {
        switch key {
        case .nextSensor: choose(1)
        case .previousSensor: choose(-1)
        case .larger: scaleSteps = min(scaleSteps + 1, 6)
        case .smaller: scaleSteps = max(scaleSteps - 1, -6)
        case .resetScale: scaleSteps = 0
        case .resetPeaks: peaks = [:]
        case .hold: isHeld.toggle()
        case .quit: return false
        }
        return true
    }

    /// The readings of the sensor that is shown.
    package var shown: LiveValues? { readings?.only(sensor.map { [$0] }) }

    /// The place of the shown sensor among all, from 1; `nil` for all of them.
    var place: (number: Int, count: Int)? {
        sensor.flatMap { name in sensors.firstIndex(of: name).map { ($0 + 1, sensors.count) } }
    }

    /// The greatest value of the last seconds, without its sign.
    func peak(_ stream: LiveValues.Stream, _ axis: String) -> Float? { peaks[Self.key(stream, axis)]?.value }

    /// The greatest value of a measure in the last seconds.
    func peak(_ detector: LiveValues.Detector, _ measure: String) -> Float? {
        peaks[Self.key(detector, measure)]?.value
    }

    private mutating func recordPeak(_ value: Float, _ key: String, _ time: Int64) {
        if let peak = peaks[key], value < peak.value, time - peak.timeNanoseconds < Self.holdNanoseconds { return }
        peaks[key] = (value, time)
    }

    /// Goes to another sensor; all of them together are one more.
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
