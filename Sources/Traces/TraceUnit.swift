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
        let folded = name.lowercased().filter { $0 != " " }
            .replacingEach(["\u{B5}": "u", "\u{3BC}": "u", "\u{B2}": "2", "\u{B0}": "deg", "^": ""])
        switch folded {
        case "s", "sec", "secs", "second", "seconds": self = .time(exponent: 9)
        case "ms", "msec", "millisecond", "milliseconds", "millis": self = .time(exponent: 6)
        case "us", "usec", "microsecond", "microseconds", "micros": self = .time(exponent: 3)
        case "ns", "nsec", "nanosecond", "nanoseconds", "nanos": self = .time(exponent: 0)
        case "m/s2", "m/s/s", "ms2", "m_s2", "mps2", "ms-2", "m/sec2": self = .acceleration(factor: 1)
        case "g", "gs": self = .acceleration(factor: 9.80665)
        case "mg", "milli-g": self = .acceleration(factor: 9.80665e-3)
        case "ut", "microtesla": self = .field(factor: 1)
        case "nt", "nanotesla": self = .field(factor: 1e-3)
        case "mt", "millitesla": self = .field(factor: 1e3)
        case "t", "tesla": self = .field(factor: 1e6)
        case "gauss": self = .field(factor: 100)
        case "mgauss", "milligauss": self = .field(factor: 0.1)
        case "rad/s", "deg/s", "dps", "rads", "rad_s", "deg_s", "degs", "rad/sec", "deg/sec": self = .angularRate
        default: return nil
        }
    }
}

extension String {
    fileprivate func replacingEach(_ replacements: [Character: String]) -> String {
        reduce(into: "") { $0 += replacements[$1] ?? String($1) }
    }
}
