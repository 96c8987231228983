import Binnacle

/// What a column's name says: its role, its unit, and the sensor it belongs to.
struct ColumnName: Equatable {
    enum Role: Equatable {
        case time
        /// An axis (0, 1, 2 for x, y, z) of a stream; the kind is `nil` when only the unit could tell it.
        case axis(Int, SampleKind?)
        /// Recognised as something that is not replayed, a gyroscope for instance.
        case other
    }

    let role: Role
    let unit: TraceUnit?
    /// The sensor's name, in the form `SENSOR.ax_m_s2`.
    let sensor: String?

    /// Reads a name as it stands in the header, without quotes.
    init(_ name: String) {
        // Our own recordings put the sensor's name in front; what follows has to stand for itself then.
        if let dot = name.lastIndex(of: "."), dot > name.startIndex {
            let rest = ColumnName(unprefixed: String(name[name.index(after: dot)...]))
            if case .axis(_, .some) = rest.role {
                self = ColumnName(role: rest.role, unit: rest.unit, sensor: String(name[..<dot]))
                return
            }
        }
        self.init(unprefixed: name)
    }

    private init(role: Role, unit: TraceUnit?, sensor: String?) {
        self.role = role
        self.unit = unit
        self.sensor = sensor
    }

    private init(unprefixed name: String) {
        let (stem, unitName) = Self.split(name)
        let unit = unitName.flatMap { TraceUnit($0) }
        let words = stem.lowercased().split { " _-.:/".contains($0) }.map(String.init)
        // A g-force is in g, which is what its name says.
        let isGForce = words.contains { $0 == "gforce" || $0.hasPrefix("gf") }
        self.init(role: Self.role(words, unit), unit: unit ?? (isGForce ? TraceUnit("g") : nil), sensor: nil)
    }

    /// Takes the unit off a name: `Time (s)`, `x [g]`, `mx_uT`.
    private static func split(_ name: String) -> (stem: String, unit: String?) {
        let trimmed = name.trimmingBlanks()
        for (open, close) in [("(", ")"), ("[", "]")] as [(Character, Character)] {
            guard trimmed.last == close, let start = trimmed.lastIndex(of: open) else { continue }
            let unit = trimmed[trimmed.index(after: start)...].dropLast()
            return (String(trimmed[..<start]), String(unit))
        }
        // A unit behind an underscore may contain one itself (`m_s2`), so the longest one that is a unit counts.
        var searched = trimmed.startIndex
        while let underscore = trimmed[searched...].firstIndex(of: "_") {
            let unit = String(trimmed[trimmed.index(after: underscore)...])
            if underscore > trimmed.startIndex, TraceUnit(unit) != nil {
                return (String(trimmed[..<underscore]), unit)
            }
            searched = trimmed.index(after: underscore)
        }
        return (trimmed, nil)
    }

    private static let timeWords: Set<String> = [
        "t", "time", "timestamp", "ts", "stamp", "epoch", "elapsed", "seconds",
    ]
    private static let accelerometerWords: Set<String> = [
        "a", "acc", "accel", "accelerometer", "acceleration", "gf", "gforce",
    ]
    private static let magnetometerWords: Set<String> = [
        "m", "b", "mag", "magn", "magnet", "magnetometer", "magnetic", "magneticfield",
    ]
    private static let otherWords: Set<String> = ["g", "gyr", "gyro", "gyroscope", "w", "omega"]
    /// Acceleration without gravity has no up: it is not what an accelerometer measures.
    private static let withoutGravityWords: Set<String> = ["linear", "user", "lin", "gravity", "grv", "linacc", "rot"]

    private static func role(_ words: [String], _ unit: TraceUnit?) -> Role {
        guard let last = words.last else { return .other }
        if words.allSatisfy(timeWords.contains) {
            switch unit {
            case .time, nil: return .time
            default: return .other
            }
        }
        guard !words.contains(where: withoutGravityWords.contains), let letter = last.last,
            let axis = "xyz".firstIndex(of: letter)
        else { return .other }
        let number = "xyz".distance(from: "xyz".startIndex, to: axis)
        var kindWords = words.dropLast() + [String(last.dropLast())]
        kindWords.removeAll { $0.isEmpty || $0 == "field" || $0 == "sensor" || $0 == "axis" || $0 == "raw" }
        if kindWords.isEmpty { return fromUnit(number, unit) }
        if kindWords.contains(where: otherWords.contains) { return .other }
        if kindWords.allSatisfy(accelerometerWords.contains) { return .axis(number, .accelerometer) }
        if kindWords.allSatisfy(magnetometerWords.contains) { return .axis(number, .magnetometer) }
        return .other
    }

    /// A bare `x`: the unit tells what it measures, if there is one.
    private static func fromUnit(_ axis: Int, _ unit: TraceUnit?) -> Role {
        switch unit {
        case .acceleration: .axis(axis, .accelerometer)
        case .field: .axis(axis, .magnetometer)
        case .angularRate, .time: .other
        case nil: .axis(axis, nil)
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
