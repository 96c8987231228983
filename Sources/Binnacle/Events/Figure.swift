import PlainText

/// One measured figure of an event.
public struct Figure: Sendable, Equatable {
    /// The name, which ends with the unit; the raw value is its key in JSON and in placeholders.
    ///
    /// A name is its case and its row, which says what the figure is, with which unit and how many decimals.
    public enum Name: String, Sendable, CaseIterable {
        case peak = "peak_g"
        case userAcceleration = "user_g"
        case smallest = "min_g"
        case magnitude = "magnitude_g"
        case peakRate = "peak_dps"
        case onset = "onset_ns"
        case duration = "duration_s"
        case x = "x_m_s2"
        case y = "y_m_s2"
        case z = "z_m_s2"
        case heading = "heading_deg"
        case reference
        case declination = "declination_deg"
        case accuracy = "accuracy_deg"
        case age = "age_s"
        case sector
        case axis
        case off = "off_deg"
        case field = "field_uT"
        case expected = "expected_uT"
        case dip = "dip_deg"
        case turnRate = "turn_rate_dps"
        case orientation
        case tilt
        case posture
        case angle = "angle_deg"
        case illuminance = "illuminance_lux"
        case brightness = "brightness_percent"
        case proximity
        case gap = "gap_s"
        case channel
        case cause
        case reason
        case active
        case count
        case ordinal
        case needed
        case sensors
        case handler
        case program
        case trigger = "for_seq"
        case status
        case signal
        case attempt
        case retry = "retry_s"
        case output

        /// What the figure is, in one sentence.
        package var text: String { row.text }
    }

    /// A figure's value.
    public enum Value: Sendable {
        /// A number, and how many decimals of it mean something.
        case number(Double, decimals: Int)
        /// A whole number.
        case integer(Int64)
        /// One of a fixed set of words.
        case word(any FigureWord)
        /// A name or a sentence.
        case text(String)
    }

    /// What the value is.
    public let name: Name
    /// The value.
    public let value: Value

    /// Creates a figure.
    ///
    /// A text that is one of the words of its figure becomes that word. So an event that was read from a file or a socket
    /// has the same types as the event that was written.
    package init(_ name: Name, _ value: Value) {
        self.name = name
        if case .text(let text) = value, case .word(let type) = name.row.type, let word = type.init(rawValue: text) {
            self.value = .word(word)
        } else {
            self.value = value
        }
    }

    /// Creates a figure of a value that has the type of the figure's row already.
    init(typed name: Name, _ value: Value) {
        self.name = name
        self.value = value
    }
}

/// A value of a figure that is one of a fixed set of words; the raw value stands in JSON.
public protocol FigureWord: RawRepresentable, Sendable where RawValue == String {}

/// A result of a detector or a sensor, which knows the values of some figures.
///
/// The row of a kind says which figures its events have, and in which order; the result says their values.
package protocol FigureSource {
    /// The value of a figure; `nil` when there is none.
    func value(of figure: Figure.Name) -> Figure.Value?
}

/// What a detector found at one sample.
package protocol DetectorResult: FigureSource {
    /// The stamp of the sample that decided it, in nanoseconds.
    var timeNanoseconds: Int64 { get }
}

extension Figure.Name {
    /// What all users of a figure need to know of it.
    package struct Row: Sendable {
        /// What its values are.
        package let type: ValueType
        /// What it is, in one sentence.
        package let text: String

        fileprivate init(_ type: ValueType, _ text: String) {
            self.type = type
            self.text = text
        }
    }

    /// What the values of a figure are.
    package enum ValueType: Sendable {
        /// Numbers with a unit, and how many decimals of them mean something.
        case number(Unit, decimals: Int)
        /// Whole numbers.
        case integer
        /// Stamps in nanoseconds, which are for programs: lines for people leave them out.
        case stamp
        /// A fixed set of words.
        case word(any FigureWord.Type)
        /// Names or sentences.
        case text
    }

    /// A unit, whose raw value ends the names of its figures.
    package enum Unit: String, Sendable {
        case g = "_g"
        case seconds = "_s"
        case metresPerSecondSquared = "_m_s2"
        case degrees = "_deg"
        case microtesla = "_uT"
        case degreesPerSecond = "_dps"
        case lux = "_lux"
        case percent = "_percent"

        /// The unit behind a number in lines for people.
        package var symbol: String {
            switch self {
            case .g: " g"
            case .seconds: " s"
            case .metresPerSecondSquared: " m/s²"
            case .degrees: "°"
            case .microtesla: " µT"
            case .degreesPerSecond: "°/s"
            case .lux: " lx"
            case .percent: " %"
            }
        }
    }

    /// The unit; `nil` for what has none.
    package var unit: Unit? {
        guard case .number(let unit, decimals: _) = row.type else { return nil }
        return unit
    }

    /// A number as a value of this figure, with its decimals.
    package func number(_ value: Double) -> Figure.Value {
        guard case .number(_, let decimals) = row.type else { return .number(value, decimals: 0) }
        return .number(value, decimals: decimals)
    }

    /// The figures that only reports about handlers and the store have.
    package static let ofReports: Set<Figure.Name> = {
        let (reports, others) = (EventKind.reports, EventKind.allCases.filter { !EventKind.reports.contains($0) })
        return Set(reports.flatMap(\.row.figures)).subtracting(others.flatMap(\.row.figures))
    }()

    /// The row of the figure.
    package var row: Row {
        switch self {
        case .peak: Row(.number(.g, decimals: 4), "The greatest acceleration of the motion so far, or of the shock.")
        case .userAcceleration: Row(.number(.g, decimals: 4), "The user acceleration of the shake.")
        case .smallest: Row(.number(.g, decimals: 4), "The smallest total acceleration of the free fall so far.")
        case .magnitude: Row(.number(.g, decimals: 4), "The total acceleration of the first sample of the shock.")
        case .peakRate:
            Row(
                .number(.degreesPerSecond, decimals: 1),
                "The greatest rate of turn of the rotation so far, about any axis.")
        case .onset: Row(.stamp, "The stamp of the first sample beyond the threshold.")
        case .duration: Row(.number(.seconds, decimals: 3), "How long it lasted.")
        case .x: Row(.number(.metresPerSecondSquared, decimals: 3), "The acceleration to the right.")
        case .y: Row(.number(.metresPerSecondSquared, decimals: 3), "The acceleration to the top.")
        case .z: Row(.number(.metresPerSecondSquared, decimals: 3), "The acceleration out of the screen.")
        case .heading: Row(.number(.degrees, decimals: 2), "The heading, clockwise from the north of `reference`.")
        case .reference:
            Row(.word(HeadingEvent.Reference.self), "`true` when the heading counts from true north; else not there.")
        case .declination:
            Row(.number(.degrees, decimals: 2), "How far magnetic north lies east of true north, where that is known.")
        case .accuracy: Row(.number(.degrees, decimals: 1), "The error that nine of ten headings stay within.")
        case .age: Row(.number(.seconds, decimals: 3), "How old a held heading is; a valid heading has none.")
        case .sector: Row(.text, "The name of the sector.")
        case .axis: Row(.word(DeviceAxis.self), "The axis of the device whose direction the heading is.")
        case .off: Row(.number(.degrees, decimals: 2), "The turn to the bearing; negative to the left.")
        case .field: Row(.number(.microtesla, decimals: 2), "The strength of the field.")
        case .expected: Row(.number(.microtesla, decimals: 2), "The strength that the field should have.")
        case .dip: Row(.number(.degrees, decimals: 1), "The angle of the field below the horizon.")
        case .turnRate:
            Row(
                .number(.degreesPerSecond, decimals: 2),
                "How fast the heading grows, clockwise; where a gyroscope is used.")
        case .orientation:
            Row(
                .word(ScreenOrientation.self),
                "The edge of the screen that points up: normal, left-up, right-up or bottom-up.")
        case .tilt:
            Row(
                .word(ScreenTilt.self),
                "How the screen leans: vertical, tilted-up, tilted-down, face-up or face-down.")
        case .posture: Row(.word(Posture.self), "How a laptop is set up: laptop, tent, tablet or closed.")
        case .angle:
            Row(
                .number(.degrees, decimals: 1),
                "The angle between keyboard and screen: 0 closed, 180 flat, 360 folded back; not there with a switch alone."
            )
        case .illuminance: Row(.number(.lux, decimals: 1), "The light around the device.")
        case .brightness:
            Row(.number(.percent, decimals: 1), "The light around the device, of a sensor that has no unit.")
        case .proximity: Row(.word(Proximity.self), "Whether something is near: near or far.")
        case .gap: Row(.number(.seconds, decimals: 3), "How long there were no samples.")
        case .channel: Row(.word(SampleKind.self), "What the samples measure.")
        case .cause:
            Row(.word(SampleLoss.Cause.self), "Why samples were lost: overrun, stall, read_error, suspend or clock.")
        case .reason: Row(.text, "Why it happened, in words.")
        case .active: Row(.integer, "The number of active sensors.")
        case .count: Row(.integer, "How many events or samples it stands for; lost samples are estimated.")
        case .ordinal: Row(.integer, "Its number among the events of its kind; added by the `count` decorator.")
        case .needed: Row(.integer, "How many sensors had to agree.")
        case .sensors: Row(.text, "The names of the sensors that agreed.")
        case .handler: Row(.text, "The name of the handler.")
        case .program: Row(.text, "The program.")
        case .trigger: Row(.integer, "The number of the event that the program was run for.")
        case .status: Row(.integer, "The exit status of the program.")
        case .signal: Row(.integer, "The number of the signal that ended the program.")
        case .attempt: Row(.integer, "The attempt number, starting at 1.")
        case .retry: Row(.number(.seconds, decimals: 3), "The seconds until the next attempt.")
        case .output: Row(.text, "The end of what the program wrote.")
        }
    }
}

extension Figure {
    /// The figure as people read it, as in "peak 0.1391 g"; `nil` for a stamp, because an event shows its time anyway.
    package var text: String? {
        let name = name.rawValue
        switch self.name.row.type {
        case .stamp: return nil
        case .number(let unit, decimals: _):
            return "\(name.dropLast(unit.rawValue.count)) \(value)\(unit.symbol)"
        case .integer, .word, .text: return "\(name) \(value)"
        }
    }
}

extension Figure.Value: Equatable {
    /// Whether both are of the same type and would be written as the same JSON.
    public static func == (left: Figure.Value, right: Figure.Value) -> Bool {
        switch (left, right) {
        case (.number(let left, let leftDecimals), .number(let right, let rightDecimals)):
            left == right && leftDecimals == rightDecimals
        case (.integer(let left), .integer(let right)): left == right
        case (.word(let left), .word(let right)): type(of: left) == type(of: right) && left.rawValue == right.rawValue
        case (.text(let left), .text(let right)): left == right
        case (.number, _), (.integer, _), (.word, _), (.text, _): false
        }
    }
}

extension Figure.Value: CustomStringConvertible {
    /// The value as text: a number with its decimals, never an exponent; `null` for a number that is none.
    public var description: String {
        switch self {
        case .number(let value, let decimals): Decimal.text(value, decimals: decimals) ?? "null"
        case .integer(let value): String(value)
        case .word(let word): word.rawValue
        case .text(let text): text
        }
    }
}
