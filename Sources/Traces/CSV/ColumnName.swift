import Binnacle

/// What a column's name says: its role, its unit, and its sensor.
struct ColumnName: Equatable {
    enum Role: Equatable {
        case time
        /// An axis (0, 1, 2 for x, y, z) of a stream; the kind is `nil` for a bare `x`, where it follows from something
        /// else.
        case axis(Int, SampleKind?)
        /// A quantity that is not replayed, an orientation for instance.
        case other
    }

    /// What an acceleration's name says about gravity.
    enum Content: Equatable {
        /// It contains gravity, or the name says nothing.
        case usual
        /// It has no gravity, and thus no vertical reference.
        case withoutGravity
        /// It is gravity alone, as an app computes it.
        case gravityAlone
    }

    enum Unit: Equatable {
        case none
        case known(TraceUnit)
        /// In the place of a unit, but not a known one.
        case unknown(String)
    }

    var role: Role
    let unit: Unit
    /// The sensor's name, in the form `SENSOR.ax_m_s2`.
    let sensor: String?
    var content = Content.usual
    /// The name without axis and unit, which the axes of one quantity have in common.
    var stem = ""
    /// The number of words that are not understood.
    var strangeWords = 0
    /// Whether it is left out because it is an axis of a gyroscope without a unit that is known.
    var hasStrangeRate = false

    init(role: Role, unit: Unit, sensor: String?) {
        self.role = role
        self.unit = unit
        self.sensor = sensor
    }

    /// Whether some of these are names of columns that are used, and not words of a sentence.
    static func areNames(_ fields: [String]) -> Bool {
        fields.count { ColumnName($0).role != .other } >= 2
    }

    /// A column that is not used.
    static let unused = ColumnName(role: .other, unit: .none, sensor: nil)

    /// Parses a name from the header, without quotes.
    init(_ name: String) {
        // Binnacle's recordings prefix the sensor's name; the rest has to be a complete name then.
        if let dot = name.lastIndex(of: "."), dot > name.startIndex {
            let rest = ColumnName(unprefixed: String(name[name.index(after: dot)...]))
            if rest.kind(assuming: nil) != nil, rest.strangeWords == 0 {
                self = rest
                self = ColumnName(role: rest.role, unit: rest.unit, sensor: String(name[..<dot]))
                content = rest.content
                return
            }
        }
        self.init(unprefixed: name)
    }

    private init(unprefixed name: String) {
        let (text, unit) = Self.split(name)
        let words = ColumnWords(text)
        var unitOfName = unit
        // A g-force is in g, as its name says; so are Milliseconds.
        if unit == .none, let stated = words.unit { unitOfName = .known(stated) }
        self.init(role: .other, unit: unitOfName, sensor: nil)
        stem = words.stem
        strangeWords = words.strange
        if let axis = words.axis, words.isAxisCertain || !words.isTime {
            setAxis(axis, words)
        } else if words.isTime {
            switch unitOfName {
            case .none, .unknown, .known(.time): role = .time
            case .known: break
            }
        }
    }

    private mutating func setAxis(_ axis: Int, _ words: ColumnWords) {
        guard !words.isOther else { return }
        content = words.isWithoutGravity ? .withoutGravity : words.isGravity ? .gravityAlone : .usual
        var kind = words.kind
        if kind == nil, content != .usual { kind = .accelerometer }
        switch unit {
        // A gyroscope's numbers without a known unit are left out, because nothing else in the file depends on them.
        case .unknown where kind == .gyroscope: return hasStrangeRate = true
        case .known(let unit) where kind == .gyroscope && unit.meant(for: .gyroscope) == nil:
            return hasStrangeRate = true
        case .known(.time):
            // An axis of an acceleration with such a unit is a mistake that is reported.
            guard kind != nil else { return }
        case .known(let unit):
            // The unit speaks for a name that does not.
            if kind == nil, words.strange > 0 { kind = Self.kind(of: unit) }
        case .none, .unknown:
            guard kind != nil || words.strange == 0 else { return }
        }
        role = .axis(axis, kind)
    }

    private static func kind(of unit: TraceUnit) -> SampleKind? {
        Quantity.all.first { unit.meant(for: $0.kind) != nil }?.kind
    }

    /// The kind that an axis measures, or the assumed one for a bare axis whose unit permits it; `nil` if undetermined.
    func kind(assuming assumed: SampleKind?) -> SampleKind? {
        guard case .axis(_, let named) = role else { return nil }
        if let named { return named }
        guard case .known(let unit) = unit else { return assumed }
        if let assumed, unit.meant(for: assumed) != nil { return assumed }
        return Self.kind(of: unit)
    }

    /// Splits the unit off a name: `Time (s)`, `x [g]`, `mx_uT`, `time in ms`, `t / s`, `Accelerometer X, g`.
    private static func split(_ name: String) -> (text: String, unit: Unit) {
        let trimmed = name.trimmingBlanks()
        for (open, close) in [("(", ")"), ("[", "]")] as [(Character, Character)] {
            guard trimmed.last == close, let start = start(of: trimmed, open, close) else { continue }
            let unit = String(trimmed[trimmed.index(after: start)...].dropLast())
            return (String(trimmed[..<start]), TraceUnit(unit).map { .known($0) } ?? .unknown(unit))
        }
        for separator in [" in ", ", ", "/"] {
            guard let place = range(of: separator, in: trimmed), place.lowerBound > trimmed.startIndex,
                let unit = TraceUnit(String(trimmed[place.upperBound...]))
            else { continue }
            return (String(trimmed[..<place.lowerBound]), .known(unit))
        }
        // A unit after an underscore may contain one itself (`m_s2`), so the longest match counts.
        var searched = trimmed.startIndex
        while let underscore = trimmed[searched...].firstIndex(of: "_") {
            let unit = String(trimmed[trimmed.index(after: underscore)...])
            if underscore > trimmed.startIndex, unit != "min", unit != "h", let known = TraceUnit(unit) {
                return (String(trimmed[..<underscore]), .known(known))
            }
            searched = trimmed.index(after: underscore)
        }
        return (trimmed, .none)
    }

    /// The bracket that matches the last character, which closes one.
    private static func start(of text: String, _ open: Character, _ close: Character) -> String.Index? {
        var depth = 0
        for index in text.indices.reversed() {
            if text[index] == close { depth += 1 }
            if text[index] == open { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// The first place of some ASCII text.
    private static func range(of wanted: String, in text: String) -> Range<String.Index>? {
        var start = text.startIndex
        while start < text.endIndex {
            if text[start...].hasPrefix(wanted) { return start..<text.index(start, offsetBy: wanted.count) }
            start = text.index(after: start)
        }
        return nil
    }
}
