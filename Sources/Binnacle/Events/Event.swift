/// What happened, as a value that leaves the sensor thread: handlers get it, logs and files carry it.
public struct Event: Sendable, Equatable {
    /// What happened.
    public var kind: EventKind
    /// The detector that found it; `nil` when a sensor itself is what happened.
    public var detector: String?
    /// The sensor it is about, which for a heading is the magnetometer; `nil` when it is about all sensors.
    public var sensor: String?
    /// The event's number within the run, from 1; an event that a decorator made keeps the number of the one that
    /// completed it.
    public var sequence: UInt64
    /// The stamp of the deciding sample as the device or the trace gave it, in nanoseconds.
    public var timeNanoseconds: Int64
    /// When that was by the wall clock, in nanoseconds since 1970; only a live run knows.
    public var wallNanoseconds: Int64?
    /// Identifies the count that ``sequence`` belongs to: that of the event store, or of a run without one; `nil` in a
    /// replay and in a session of a program of one's own, whose counts begin at 1.
    public var identity: String?
    /// Whether samples that no device measured had a part in it.
    public var isSimulated = false
    /// What was measured, in a fixed order for each kind.
    public var figures: [Figure]

    /// Creates an event of what was found: the row of the kind says which of its values are the figures.
    package init(
        kind: EventKind, detector: String? = nil, sensor: String? = nil, timeNanoseconds: Int64,
        of result: some FigureSource
    ) {
        let names = kind.row.figures
        var figures: [Figure] = []
        figures.reserveCapacity(names.count)
        for name in names {
            if let value = result.value(of: name) { figures.append(Figure(typed: name, value)) }
        }
        self.init(
            kind: kind, detector: detector, sensor: sensor, timeNanoseconds: timeNanoseconds, figures: figures)
    }

    package init(
        kind: EventKind, detector: String? = nil, sensor: String? = nil, sequence: UInt64 = 0, timeNanoseconds: Int64,
        figures: [Figure] = []
    ) {
        self.kind = kind
        self.detector = detector
        self.sensor = sensor
        self.sequence = sequence
        self.timeNanoseconds = timeNanoseconds
        self.figures = figures
    }

    /// Adds a figure, or replaces the one of its name: a name never stands twice.
    package mutating func set(_ name: Figure.Name, _ value: Figure.Value) {
        if let index = figures.firstIndex(where: { $0.name == name }) {
            figures[index] = Figure(name, value)
        } else {
            figures.append(Figure(name, value))
        }
    }

    /// The value of a figure, when the event has it.
    public func figure(_ name: Figure.Name) -> Figure.Value? {
        figures.first { $0.name == name }?.value
    }

    /// The number that a figure is, whole or not; `nil` when the event has no such figure, or it is no number.
    public func number(_ name: Figure.Name) -> Double? { figure(name)?.double }
}
