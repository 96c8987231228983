import Binnacle

/// The units that traces come in, and how they turn into those used inside.
enum TraceUnit: Equatable {
    /// A time; the power of ten that makes it nanoseconds.
    case time(exponent: Int)
    /// An acceleration; the factor that makes it m/s².
    case acceleration(factor: Double)
    /// A magnetic field; the factor that makes it µT.
    case field(factor: Double)
    /// A rate of turn, recognised so that a gyroscope is not taken for something else.
    case angularRate

    /// The unit of a name, in any of its spellings; `nil` when it is none.
    init?(_ name: String) {
        switch Self.fold(name) {
        case "s", "sec", "secs", "second", "seconds": self = .time(exponent: 9)
        case "ms", "msec", "millisecond", "milliseconds", "millis": self = .time(exponent: 6)
        case "us", "usec", "microsecond", "microseconds", "micros": self = .time(exponent: 3)
        case "ns", "nsec", "nanosec", "nanosecond", "nanoseconds", "nanos": self = .time(exponent: 0)
        case "m/s2", "m/s/s", "m_s2", "mps2", "ms2", "ms-2", "m/sec2": self = .acceleration(factor: 1)
        case "g", "gs": self = .acceleration(factor: Self.standardGravity)
        case "mg", "milli-g": self = .acceleration(factor: Self.standardGravity * 1e-3)
        case "ut", "microtesla": self = .field(factor: 1)
        case "nt", "nanotesla": self = .field(factor: 1e-3)
        case "mt", "millitesla": self = .field(factor: 1e3)
        case "t", "tesla": self = .field(factor: 1e6)
        case "gauss": self = .field(factor: 100)
        case "mgauss", "milligauss": self = .field(factor: 0.1)
        case "rad/s", "deg/s", "dps", "rads-1", "degs-1", "rad_s", "deg_s", "rad/sec", "deg/sec": self = .angularRate
        default: return nil
        }
    }

    private static let standardGravity = 9.80665

    /// Lower case, without blanks, dots and signs of a power, in the letters that a keyboard has.
    private static func fold(_ name: String) -> String {
        let letters: [Character: String] = [
            "\u{B5}": "u", "\u{3BC}": "u", "\u{B2}": "2", "\u{B0}": "deg", "\u{207B}": "-", "\u{B9}": "1", "^": "",
            "*": "",
            " ": "", "\u{B7}": "", "\u{22C5}": "",
        ]
        return name.lowercased().reduce(into: "") { $0 += letters[$1] ?? String($1) }
    }

    /// The unit as it has to be meant for a kind of sensor; `nil` when it cannot measure that.
    ///
    /// G is the standard gravity for an accelerometer, and gauss for a magnetometer.
    func meant(for kind: SampleKind) -> TraceUnit? {
        switch (self, kind) {
        case (.acceleration, .accelerometer), (.field, .magnetometer): self
        case (.acceleration(factor: Self.standardGravity), .magnetometer): .field(factor: 100)
        case (.acceleration(factor: Self.standardGravity * 1e-3), .magnetometer): .field(factor: 0.1)
        default: nil
        }
    }
}
