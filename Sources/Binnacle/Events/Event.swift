import PlainText

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
    /// Whether samples that no device measured had a part in it.
    public var isSimulated = false
    /// What was measured, in a fixed order for each kind.
    public var figures: [Figure]

    /// Creates an event.
    public init(
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
    public mutating func set(_ name: Figure.Name, _ value: Figure.Value) {
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
}

/// One measured figure of an event.
public struct Figure: Sendable, Equatable {
    /// The name, which ends with the unit; the raw value is its key in JSON and in placeholders.
    public enum Name: String, Sendable, CaseIterable {
        /// The greatest measured acceleration of a motion so far, in g.
        case peak = "peak_g"
        /// The user acceleration of a shake, in g.
        case userAcceleration = "user_g"
        /// The smallest total acceleration of a free fall so far, in g.
        case smallest = "min_g"
        /// The total acceleration of a shock, in g.
        case magnitude = "magnitude_g"
        /// The stamp of the first sample beyond the threshold, in nanoseconds.
        case onset = "onset_ns"
        /// How long it lasted, in seconds.
        case duration = "duration_s"
        /// The acceleration to the right, in m/s².
        case x = "x_m_s2"
        /// The acceleration to the top, in m/s².
        case y = "y_m_s2"
        /// The acceleration out of the screen, in m/s².
        case z = "z_m_s2"
        /// Degrees clockwise from magnetic north, or from true north when ``reference`` says so.
        case heading = "heading_deg"
        /// `true` when a heading counts from true north; absent, it counts from magnetic north.
        case reference
        /// By how much magnetic north lies east of true north, in degrees.
        case declination = "declination_deg"
        /// How far off a heading may be, in degrees.
        case accuracy = "accuracy_deg"
        /// How old a held heading is, in seconds.
        case age = "age_s"
        /// The name of a sector.
        case sector
        /// The device's axis whose direction the heading is.
        case axis
        /// The turn to the bearing, in degrees; negative to the left.
        case off = "off_deg"
        /// The strength of the field, in µT.
        case field = "field_uT"
        /// The strength that the field should have, in µT.
        case expected = "expected_uT"
        /// The angle of the field below the horizon, in degrees.
        case dip = "dip_deg"
        /// The length of a gap, in seconds.
        case gap = "gap_s"
        /// The kind of the stream that was interrupted.
        case channel
        /// Why samples were lost, as one word.
        case cause
        /// Why something failed, in words.
        case reason
        /// The number of active sensors left.
        case active
        /// How many it stands for.
        case count
        /// The how manieth of its kind it is.
        case ordinal
        /// How many were needed.
        case needed
        /// The names of the sensors that agreed.
        case sensors
        /// The handler that it is about.
        case handler
        /// The program that was run.
        case program
        /// The number of the event that the program was run for.
        case trigger = "for_seq"
        /// The exit status of a program.
        case status
        /// The number of the signal that ended a program.
        case signal
        /// The how manieth attempt it was.
        case attempt
        /// In how many seconds it is tried again.
        case retry = "retry_s"
        /// The end of what a program wrote.
        case output
    }

    /// A figure's value.
    public enum Value: Sendable, Equatable {
        /// A number, and how many decimals of it mean something.
        case number(Double, decimals: Int)
        /// A whole number.
        case integer(Int64)
        /// A word or a sentence.
        case text(String)
    }

    /// What the value is.
    public let name: Name
    /// The value.
    public let value: Value

    /// Creates a figure.
    public init(_ name: Name, _ value: Value) {
        self.name = name
        self.value = value
    }
}

extension Figure.Value: CustomStringConvertible {
    /// The value as text: a number with its decimals, never an exponent; `null` for a number that is none.
    public var description: String {
        switch self {
        case .number(let value, let decimals): Decimal.text(value, decimals: decimals) ?? "null"
        case .integer(let value): String(value)
        case .text(let text): text
        }
    }
}
