import Binnacle
import SensorGeometry

/// What a column's name says: its role, its unit, and its sensor.
struct ColumnName: Equatable {
    enum Role: Equatable {
        case time
        /// An axis (0, 1, 2 for x, y, z) of a stream; the kind is `nil` for a bare `x`, where it follows from the unit.
        case axis(Int, SampleKind?)
        /// An axis of an acceleration without gravity, which cannot be used.
        case withoutGravity
        /// A quantity that is not replayed, a gyroscope's for instance.
        case other
    }

    enum Unit: Equatable {
        case none
        case known(TraceUnit)
        /// In the place of a unit, but not a known one.
        case unknown(String)
    }

    let role: Role
    let unit: Unit
    /// The sensor's name, in the form `SENSOR.ax_m_s2`.
    let sensor: String?

    init(role: Role, unit: Unit, sensor: String?) {
        self.role = role
        self.unit = unit
        self.sensor = sensor
    }

    /// Parses a name from the header, without quotes.
    init(_ name: String) {
        // Binnacle's recordings prefix the sensor's name; the rest has to be a complete name then.
        if let dot = name.lastIndex(of: "."), dot > name.startIndex {
            let rest = ColumnName(unprefixed: String(name[name.index(after: dot)...]))
            if rest.kind(assuming: nil) != nil {
                self = ColumnName(role: rest.role, unit: rest.unit, sensor: String(name[..<dot]))
                return
            }
        }
        self.init(unprefixed: name)
    }

    private init(unprefixed name: String) {
        var (stem, unit) = Self.split(name)
        // A g-force is in g, as its name says.
        let isGForce = ["x", "y", "z"].contains { stem.lowercased() == "gf\($0)" }
        if isGForce, unit == .none, let g = TraceUnit("g") { unit = .known(g) }
        let words = isGForce ? ["gforce", String(stem.lowercased().suffix(1))] : Self.words(stem)
        self.init(role: Self.role(words, unit), unit: unit, sensor: nil)
    }

    /// The kind that an axis measures, or the assumed one for a bare axis whose unit permits it; `nil` if undetermined.
    func kind(assuming assumed: SampleKind?) -> SampleKind? {
        guard case .axis(_, let named) = role else { return nil }
        if let named { return named }
        guard case .known(let unit) = unit else { return assumed }
        if let assumed, unit.meant(for: assumed) != nil { return assumed }
        return SampleKind.allCases.first { unit.meant(for: $0) != nil }
    }

    /// Splits the unit off a name: `Time (s)`, `x [g]`, `mx_uT`, `time in ms`.
    private static func split(_ name: String) -> (stem: String, unit: Unit) {
        let trimmed = name.trimmingBlanks()
        for (open, close) in [("(", ")"), ("[", "]")] as [(Character, Character)] {
            guard trimmed.last == close, let start = trimmed.lastIndex(of: open) else { continue }
            let unit = String(trimmed[trimmed.index(after: start)...].dropLast())
            return (String(trimmed[..<start]), TraceUnit(unit).map { .known($0) } ?? .unknown(unit))
        }
        if let blank = trimmed.lastIndex(of: " "), trimmed[..<blank].lowercased().hasSuffix(" in"),
            let unit = TraceUnit(String(trimmed[trimmed.index(after: blank)...]))
        {
            return (String(trimmed[..<blank].dropLast(3)), .known(unit))
        }
        // A unit after an underscore may contain one itself (`m_s2`), so the longest match counts.
        var searched = trimmed.startIndex
        while let underscore = trimmed[searched...].firstIndex(of: "_") {
            let unit = String(trimmed[trimmed.index(after: underscore)...])
            if underscore > trimmed.startIndex, let known = TraceUnit(unit) {
                return (String(trimmed[..<underscore]), .known(known))
            }
            searched = trimmed.index(after: underscore)
        }
        return (trimmed, .none)
    }

    /// The words of a name in lower case, also in camel case (`accelerationX`).
    private static func words(_ stem: String) -> [String] {
        var words: [String] = []
        var word = ""
        var wasLower = false
        for character in stem {
            let isSeparator = " _-.:/".contains(character)
            if isSeparator || (wasLower && character.isUppercase) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if !isSeparator { word += character.lowercased() }
            wasLower = character.isLowercase
        }
        return word.isEmpty ? words : words + [word]
    }

    private static let timeWords: Set<String> = [
        "t", "time", "timestamp", "ts", "stamp", "epoch", "elapsed", "seconds",
    ]
    /// Words that may accompany a word for time without changing its meaning.
    private static let timeFillers: Set<String> = ["since", "start", "sample", "sensor", "measurement"]
    private static let accelerometerWords: Set<String> = [
        "a", "acc", "accel", "accelerometer", "acceleration", "gforce",
    ]
    private static let magnetometerWords: Set<String> = [
        "m", "b", "h", "mag", "magn", "magnet", "magnetometer", "magnetic",
    ]
    private static let otherWords: Set<String> = ["g", "gyr", "gyro", "gyroscope", "w", "omega"]
    /// Acceleration without gravity has no vertical reference.
    private static let withoutGravityWords: Set<String> = ["linear", "user", "lin", "linacc"]
    private static let fillers: Set<String> = ["field", "sensor", "axis", "raw", "absolute"]

    private static func role(_ words: [String], _ unit: Unit) -> Role {
        if words.contains(where: timeWords.contains),
            words.allSatisfy({ timeWords.contains($0) || timeFillers.contains($0) })
        {
            switch unit {
            case .none, .unknown, .known(.time): return .time
            case .known: return .other
            }
        }
        var words = words.filter { !fillers.contains($0) }
        guard let (axis, rest) = Self.axis(words.last) else { return .other }
        words.removeLast()
        if !rest.isEmpty { words.append(rest) }
        if words.contains(where: withoutGravityWords.contains) { return .withoutGravity }
        if words.isEmpty { return fromUnit(axis, unit) }
        if words.contains(where: otherWords.contains) { return .other }
        if words.allSatisfy(accelerometerWords.contains) { return .axis(axis, .accelerometer) }
        if words.allSatisfy(magnetometerWords.contains) { return .axis(axis, .magnetometer) }
        return .other
    }

    /// The axis letter at the end of a word, and what precedes it.
    private static func axis(_ word: String?) -> (Int, rest: String)? {
        guard let word, let letter = word.last, let axis = ["x", "y", "z"].firstIndex(of: letter) else { return nil }
        return (axis, String(word.dropLast()))
    }

    /// A bare `x` measures whatever its unit does.
    private static func fromUnit(_ axis: Int, _ unit: Unit) -> Role {
        switch unit {
        case .known(.angularRate), .known(.time): .other
        case .known, .none, .unknown: .axis(axis, nil)
        }
    }
}

extension StringProtocol {
    func trimmingBlanks() -> String {
        var rest = self[...]
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}

/// The units in traces, and their conversion.
enum TraceUnit: Equatable {
    /// A time, with the power of ten that makes it nanoseconds.
    case time(exponent: Int)
    /// An acceleration, with the factor that makes it m/s².
    case acceleration(factor: Double)
    /// A magnetic field, with the factor that makes it µT.
    case field(factor: Double)
    /// An angular rate, recognised so that a gyroscope is not mistaken for something else.
    case angularRate

    /// Parses a unit in any of its spellings; `nil` for an unknown one.
    init?(_ name: String) {
        switch Self.fold(name) {
        case "s", "sec", "secs", "second", "seconds": self = .time(exponent: 9)
        case "ms", "msec", "millisecond", "milliseconds", "millis": self = .time(exponent: 6)
        case "us", "usec", "microsecond", "microseconds", "micros": self = .time(exponent: 3)
        case "ns", "nsec", "nanosec", "nanosecond", "nanoseconds", "nanos": self = .time(exponent: 0)
        case "m/s2", "m/s/s", "m_s2", "mps2", "ms2", "ms-2", "m/sec2": self = .acceleration(factor: 1)
        case "g", "gs": self = .acceleration(factor: Gravity.standard)
        case "mg", "milli-g": self = .acceleration(factor: Gravity.standard * 1e-3)
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

    /// Lower case, without blanks, dots and exponent signs, with ASCII letters for special ones.
    private static func fold(_ name: String) -> String {
        let letters: [Character: String] = [
            "\u{B5}": "u", "\u{3BC}": "u", "\u{B2}": "2", "\u{B0}": "deg", "\u{207B}": "-", "\u{B9}": "1", "^": "",
            "*": "", " ": "", "\u{B7}": "", "\u{22C5}": "",
        ]
        return name.lowercased().reduce(into: "") { $0 += letters[$1] ?? String($1) }
    }

    /// The unit as meant for a kind of sensor (g is the standard gravity or gauss); `nil` when it cannot measure that
    /// kind.
    func meant(for kind: SampleKind) -> TraceUnit? {
        switch (self, kind) {
        case (.acceleration, .accelerometer), (.field, .magnetometer): self
        case (.acceleration(factor: Gravity.standard), .magnetometer): .field(factor: 100)
        case (.acceleration(factor: Gravity.standard * 1e-3), .magnetometer): .field(factor: 0.1)
        default: nil
        }
    }
}
