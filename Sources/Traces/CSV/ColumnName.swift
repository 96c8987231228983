import Binnacle
import PlainText

/// The meaning of a column's name: its role, its unit, and its sensor.
struct ColumnName: Equatable {
    enum Role: Equatable {
        case time
        /// An axis (0, 1, 2 for x, y, z) of a stream; the kind is `nil` for a bare `x` and is then derived from other evidence.
        case axis(Int, SampleKind?)
        /// A quantity that is not replayed, an orientation for instance.
        case other
    }

    /// The relation of an acceleration's name to gravity.
    enum Content: Equatable {
        /// With gravity; also the default.
        case usual
        /// Without gravity, and thus without a vertical reference.
        case withoutGravity
        /// Gravity alone, as an app computes it.
        case gravityAlone
    }

    enum Unit: Equatable {
        case none
        case known(TraceUnit)
        /// An unknown text in the position of a unit.
        case unknown(String)
    }

    var role: Role
    let unit: Unit
    /// The sensor's name, in the form `SENSOR.ax_m_s2`.
    let sensor: String?
    /// Whether this is the exact name of an axis in a recording by Binnacle, whose units are certain.
    var isRecorded = false
    var content = Content.usual
    /// The name without axis and unit, common to the axes of one quantity.
    var stem = ""
    /// The number of words that are not understood.
    var strangeWords = 0
    /// Whether the column is ignored as a gyroscope's axis of unknown unit.
    var hasStrangeRate = false
    /// The axis, if words that are not understood say what it measures.
    var strangeAxis: Int?
    /// Whether the values are said to be not calibrated.
    var isUncalibrated = false
    /// The kind that a word names, also without an axis.
    var namedKind: SampleKind?
    /// Whether the words name a quantity that is not replayed.
    var isOther = false

    static let unused = ColumnName(role: .other, unit: .none, sensor: nil)
}

extension ColumnName {
    /// Whether some fields are names of usable columns rather than words of a sentence.
    static func areNames(_ fields: [String]) -> Bool {
        fields.count { ColumnName($0).role != .other } >= 2
    }

    /// Parses the names of a header.
    ///
    /// The letter of `foot_w_x` may be that of a frame, and is that of a sensor beside `foot_a_x`.
    static func all(_ names: [String]) -> [ColumnName] {
        var columns = names.map { ColumnName($0) }
        let stems = Set(columns.map(\.stem))
        for (place, column) in columns.enumerated() where column.unit == .none {
            guard let axis = column.strangeAxis else { continue }
            let words = column.stem.split(separator: " ").map(String.init)
            for (index, word) in words.enumerated() where ColumnWords.frames.contains(word) {
                let other = words[..<index] + ["a"] + words[(index + 1)...]
                guard stems.contains(other.joined(separator: " ")) else { continue }
                columns[place].role = .axis(axis, word == "w" ? .gyroscope : .magnetometer)
                columns[place].strangeAxis = nil
            }
        }
        return columns
    }

    /// Parses a name from the header, without quotes.
    init(_ name: String) {
        guard name.utf8.count <= ColumnWords.longestName else {
            self = .unused
            return
        }
        // Binnacle's recordings prefix the sensor's name; the rest then has to be a complete name. In those of others, what stands
        // before the dot may say what is measured.
        if let dot = name.lastIndex(of: "."), dot > name.startIndex {
            let (prefix, text) = (String(name[..<dot]), String(name[name.index(after: dot)...]))
            let rest = ColumnName(unprefixed: text)
            let isRecorded = Self.recorded.contains(text)
            if rest.kind(assuming: nil) != nil, rest.strangeWords == 0, isRecorded || ColumnWords(prefix).saysNothing {
                self.init(
                    role: rest.role, unit: rest.unit, sensor: prefix, isRecorded: isRecorded, content: rest.content)
                return
            }
        }
        self.init(unprefixed: name)
    }

    /// The names of axes behind a sensor's in a recording by Binnacle.
    private static let recorded = Set(
        [("a", "m_s2"), ("m", "uT"), ("g", "rad_s")].flatMap { letter, unit in
            ["x", "y", "z"].map { "\(letter)\($0)_\(unit)" }
        })

    private init(unprefixed name: String) {
        var (text, unit) = Self.split(name)
        var words = ColumnWords(text)
        // The logs of flight controllers number the axes: `accelerometer_m_s2[0]`, `gyroADC[2] (deg/s)`.
        let own = Self.element(name)
        if let element = own ?? Self.element(text.trimmingBlanks()), let axis = [0, 1, 2].firstIndex(of: element.index)
        {
            let quantity = Self.split(element.array)
            let numbered = ColumnWords(quantity.text, axis: axis)
            if numbered.namedKind != nil, !numbered.isTime, words.axis == nil {
                words = numbered
                if own != nil { unit = quantity.unit }
            }
        }
        var unitOfName = unit
        // The words of a g-force state the unit g, those of Milliseconds ms.
        if unit == .none, let stated = words.unit ?? words.unitOfTurn { unitOfName = .known(stated) }
        if unitOfName == .none, words.isTime, let multiple = ColumnWords.multiple(in: text) {
            unitOfName = .unknown(multiple)
        }
        self.init(role: .other, unit: unitOfName, sensor: nil)
        stem = words.stem
        strangeWords = words.strange
        namedKind = words.namedKind
        isOther = words.isOther && !isRate(words)
        if let axis = words.axis, words.isAxisCertain || !words.isTime {
            setAxis(axis, words)
        } else if words.isTime {
            switch unitOfName {
            // A temperature T is no time.
            case .unknown(let unit) where Self.isForeign(unit) && text.trimmingBlanks().lowercased() == "t": break
            case .none, .unknown, .known(.time), .known(.date): role = .time
            case .known: break
            }
        }
    }

    /// The array and the index of a name such as `gyro[0]`; `nil` for others.
    static func element(_ name: String) -> (array: String, index: Int)? {
        guard name.utf8.last == UInt8(ascii: "]"), let open = name.lastIndex(of: "["),
            let index = Int(name[name.index(after: open)...].dropLast()), index >= 0
        else { return nil }
        return (String(name[..<open]), index)
    }

    /// Whether the unit says that a rate or a rotation of an axis is one of turn.
    private func isRate(_ words: ColumnWords) -> Bool {
        guard words.axis != nil, words.kind == nil, !words.isOtherThanTurn, case .known(let unit) = unit else {
            return false
        }
        return unit.kind == .gyroscope
    }

    private mutating func setAxis(_ axis: Int, _ words: ColumnWords) {
        guard !isOther else { return }
        isUncalibrated = words.isUncalibrated
        content = words.content
        var kind = words.kind
        if isRate(words) { kind = .gyroscope }
        if kind == nil, content != .usual { kind = .accelerometer }
        switch unit {
        // A gyroscope's axes of unknown unit are ignored, because nothing else in the file depends on them.
        case .unknown where kind == .gyroscope: return hasStrangeRate = true
        case .known(let unit) where kind == .gyroscope && unit.meant(for: .gyroscope) == nil:
            return hasStrangeRate = true
        case .none where kind == .gyroscope && !ColumnWords.unknown(in: stem).isDisjoint(with: ["rpm", "rps"]):
            return hasStrangeRate = true
        case .known(.time), .known(.date):
            // An acceleration's axis with such a unit is a mistake, which is reported.
            guard kind != nil else { return }
        case .known(let unit):
            // The unit decides the kind if the name does not.
            if kind == nil, words.strange > 0 { kind = unit.kind }
        case .none, .unknown:
            guard kind != nil || words.strange == 0 else { return strangeAxis = axis }
        }
        role = .axis(axis, kind)
    }

    /// The kind that an axis measures, or the assumed one for a bare axis whose unit permits it; `nil` if undetermined.
    func kind(assuming assumed: SampleKind?) -> SampleKind? {
        guard case .axis(_, let named) = role else { return nil }
        if let named { return named }
        guard case .known(let unit) = unit else { return assumed }
        if let assumed, unit.meant(for: assumed) != nil { return assumed }
        return unit.kind
    }

    /// Whether the column may be offered as an axis of a kind: neither its words nor its unit say something else.
    func mayMeasure(_ kind: SampleKind) -> Bool {
        var own = namedKind
        if case .axis(_, let named?) = role { own = named }
        guard !isOther, role != .time, own == kind || own == nil && !namesOther(than: kind) else { return false }
        return switch unit {
        case .none: true
        case .known(let unit): unit.meant(for: kind) != nil
        // A unit that is not understood says what a column is, except of one whose words name the kind.
        case .unknown(let text): Self.rawUnits.contains(text.lowercased()) || own == kind && !Self.isForeign(text)
        }
    }

    /// Words of other quantities, which may also stand beside the name of a sensor, as that of its place.
    private static let foreignWords: Set<String> = [
        "ang", "tilt", "torque", "jerk", "alpha", "beta", "gamma", "vx", "vy", "vz", "hdg", "spd", "cog", "sog", "ecg",
        "emg", "eeg", "ppg", "fx", "fy", "fz", "red", "green", "blue",
    ]

    /// Whether a word is that of another quantity, or a unit that is no sensor's stands behind others: x_mm, T1_degC.
    private func namesOther(than kind: SampleKind) -> Bool {
        let words = stem.split(separator: " ").map(String.init)
        return words.contains(where: Self.foreignWords.contains)
            || kind != .accelerometer && words.contains { $0.hasPrefix("vibr") }
            || words.dropFirst(strangeAxis == nil ? 1 : 0).contains { $0.count > 1 && Self.isForeign($0) }
    }

    /// What stands in place of a unit for numbers as the sensor gives them.
    private static let rawUnits: Set<String> = [
        "", "-", "raw", "count", "counts", "lsb", "lsbs", "adc", "digit", "digits", "bit", "bits", "int16", "a.u.",
    ]

    private static func isForeign(_ unit: String) -> Bool {
        let words = [
            "deg", "degree", "degrees", "rad", "radian", "radians", "c", "celsius", "f", "k", "v", "mv", "volt", "a",
            "ma",
            "m", "mm", "cm", "km", "m/s", "km/h", "kn", "pa", "hpa", "kpa", "mbar", "bar", "lx", "lux", "hz", "bpm",
            "db",
            "dbm", "w", "j", "n", "rpm", "a/m", "ka/m", "oe",
        ]
        return unit.contains { "°%Ω".contains($0) } || words.contains(unit.lowercased())
    }

    /// Splits the unit off a name: `Time (s)`, `x [g]`, `mx_uT`, `time in ms`, `t / s`, `Accelerometer X, g`, `Gyro X deg/s`.
    private static func split(_ name: String, mayEndInAxis: Bool = true) -> (text: String, unit: Unit) {
        let trimmed = name.trimmingBlanks()
        for (open, close) in [("(", ")"), ("[", "]")] as [(Character, Character)] {
            guard trimmed.last == close, let start = start(of: trimmed, open, close) else { continue }
            let unit = String(trimmed[trimmed.index(after: start)...].dropLast())
            // An axis may stand behind the unit, or without one: `Accelerometer [m/s2] (z)`, `gyro(x)`.
            if mayEndInAxis, ["x", "y", "z"].contains(unit.lowercased()), start > trimmed.startIndex {
                let (text, own) = split(String(trimmed[..<start]), mayEndInAxis: false)
                // One letter, as in G(x), does not say what is measured.
                if own != .none || text.count > 1 { return ("\(text) \(unit)", own) }
            }
            return (
                String(trimmed[..<start]),
                (TraceUnit(unit) ?? range(unit) ?? scaled(unit)).map { .known($0) } ?? .unknown(unit)
            )
        }
        if let found = unitBeforeWords(trimmed) { return found }
        for separator in [" in ", ", "] {
            if let found = unit(behind: separator, in: trimmed) { return found }
        }
        // The unit of a sensor may contain signs itself (`m_s2`, `deg/s`), so the longest match counts.
        if let found = tail(of: trimmed, where: { $0.kind != nil }) ?? unit(behind: "/", in: trimmed) { return found }
        guard let found = tail(of: trimmed, where: { $0.kind == nil }) else { return (trimmed, .none) }
        let isShort = trimmed.count - found.text.count <= 4
        let isOfDay = found.unit == .known(.time(.minutes)) || found.unit == .known(.time(.hours))
        // A least temperature may be t_min.
        guard isOfDay, isShort, found.text.lowercased() == "t" || !ColumnWords(found.text).isTime else { return found }
        return (trimmed, .none)
    }

    /// The unit in brackets behind which words stand, as in `Acceleration - x (m/s²) Run #1`.
    private static func unitBeforeWords(_ name: String) -> (text: String, unit: Unit)? {
        for (open, close) in [("(", ")"), ("[", "]")] as [(Character, Character)] {
            guard let start = name.firstIndex(of: open), start > name.startIndex,
                let end = name[start...].firstIndex(of: close), case let symbol = name[name.index(after: start)..<end],
                let unit = TraceUnit(String(symbol))
            else { continue }
            let text = String(name[..<start] + name[name.index(after: end)...])
            let words = ColumnWords(text)
            // A least value (min) and a side (S) or (T) are no units.
            let isMeant =
                switch unit {
                case .time, .date: words.isTime
                case .measured: words.kind.map { unit.meant(for: $0) != nil } ?? (symbol.count > 1 || symbol == "g")
                }
            if isMeant { return (text, .known(unit)) }
        }
        return nil
    }

    /// Whether a name has the range of a sensor in place of a unit, as `X (100g)` has.
    static func hasRange(_ name: String) -> Bool {
        let text = name.trimmingBlanks()
        guard let last = text.last, ")]".contains(last), let open = text.lastIndex(where: { "([".contains($0) }) else {
            return false
        }
        return range(String(text[text.index(after: open)...].dropLast())) != nil
    }

    /// The unit g with the range of a sensor, as in `X (100g)`.
    private static func range(_ text: String) -> TraceUnit? {
        guard text.last == "g", let range = Double(String(text.dropLast()).trimmingBlanks()), range >= 1 else {
            return nil
        }
        return TraceUnit("g")
    }

    /// A part of a sensor's unit, as in `AccX (0.01g)`; a number from 1 on is the range of a sensor.
    private static func scaled(_ text: String) -> TraceUnit? {
        let number = text.prefix { $0.isNumber || ".e-".contains($0) }
        guard let part = Double(number), part < 1 else { return nil }
        return TraceUnit(scaled: text)
    }

    private static func unit(behind separator: String, in name: String) -> (text: String, unit: Unit)? {
        guard let place = name.firstRange(of: separator), place.lowerBound > name.startIndex,
            let unit = TraceUnit(String(name[place.upperBound...]))
        else { return nil }
        return (String(name[..<place.lowerBound]), .known(unit))
    }

    /// The longest unit behind an underscore, or, of a sensor and with several letters, behind a blank.
    private static func tail(
        of name: String, where isMeant: (TraceUnit) -> Bool
    ) -> (text: String, unit: Unit)? {
        for place in name.indices.dropFirst() where name[place] == "_" || name[place] == " " {
            let text = String(name[name.index(after: place)...])
            guard let unit = TraceUnit(text), isMeant(unit), name[place] == "_" || unit.kind != nil && text.count > 1
            else {
                continue
            }
            return (String(name[..<place]), .known(unit))
        }
        return nil
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
}

/// The words of a column's name and their meanings.
///
/// Names are split at blanks, signs and capitals; a word is recognised by its beginning, so that other spellings, endings and
/// languages are understood without a list of apps.
struct ColumnWords {
    /// The axis (0, 1, 2 for x, y, z).
    private(set) var axis: Int?
    /// Whether the axis is a word of its own, or follows a known word.
    private(set) var isAxisCertain = false
    /// Whether the axis is a word of its own.
    private var isAxisApart = false
    private(set) var kind: SampleKind?
    /// The kind that a word names which is no single letter.
    private(set) var namedKind: SampleKind?
    /// The kind that a single letter stands for; a longer word takes precedence, because serial numbers contain letters.
    private var letter: SampleKind?
    private(set) var isTime = false
    private(set) var isWithoutGravity = false
    /// Whether gravity itself is meant.
    private(set) var isGravity = false
    var content: ColumnName.Content { isWithoutGravity ? .withoutGravity : isGravity ? .gravityAlone : .usual }
    /// Whether another quantity is meant.
    private(set) var isOther = false
    /// Whether a word does that which is none of rates and rotations.
    private(set) var isOtherThanTurn = false
    private(set) var isUncalibrated = false
    private(set) var unit: TraceUnit?
    private(set) var strange = 0
    private(set) var stem = ""

    private enum Meaning: Equatable {
        case quantity(SampleKind)
        /// The kind that a chip of this name measures, unless another word says more.
        case chip(SampleKind)
        case other, withoutGravity, gravity, including, time, filler, uncalibrated
    }

    /// One meaning: whole words, and beginnings of words.
    private static let lexicon: [(meaning: Meaning, words: Set<String>, beginnings: [String])] = [
        (.other, ["accuracy", "magnitude", "norm"], ["accurac", "magnitud"]),
        (
            .quantity(.accelerometer), ["a", "gf", "gforce", "beschl"],
            ["acc", "acel", "akzel", "beschleun", "加速", "가속", "תאוצה", "ускорен"]
        ),
        (.quantity(.magnetometer), ["m", "b", "h", "mf", "mafi"], ["mag", "compass", "kompass", "磁", "地磁", "магн"]),
        (
            .quantity(.gyroscope), ["g", "w", "omega"],
            ["gyr", "giros", "angvel", "winkelgeschw", "drehrate", "角速度", "陀螺", "ジャイロ", "자이로", "гироск"]
        ),
        (
            .other,
            [
                "q", "orie", "rate", "euler", "bias", "offset", "std", "stdev", "var", "min", "max", "vel", "pos",
                "count", "roll", "pitch", "yaw", "lat", "lon", "lng", "long", "alt", "cos", "sin", "qw",
                "light", "lux", "step", "steps", "index", "idx", "id", "label", "battery", "voltage", "hr", "bpm",
                "rssi",
                "temp", "dt", "delta", "diff", "bearing", "gps",
            ],
            [
                "rot", "angular", "angle", "winkel", "orientation", "quat", "velocit", "speed", "position",
                "heading", "dreh", "latitud", "longitud", "altitud", "elevat", "azimut", "temperat", "pressur",
                "luftdruck", "humid", "locat", "covar", "barom", "proxim", "satell", "illumin", "distan",
            ]
        ),
        (
            .chip(.magnetometer),
            [
                "akm", "ak", "mmc", "yas", "hmc", "qmc", "bmm", "ist", "mxg", "lis2mdl", "lis3mdl", "iis2mdc",
                "lsm303agr",
            ], []
        ),
        (.chip(.accelerometer), ["adxl", "bma", "kxtj", "mma", "lis3dh", "lis2dh", "lis2dw"], []),
        (.chip(.gyroscope), ["itg", "l3gd", "l3g", "fxas"], []),
        (.uncalibrated, [], ["uncal"]),
        (
            .withoutGravity, ["free", "world", "ohne", "nograv", "dynamic"],
            ["lin", "lacc", "user", "without", "sans"]
        ),
        (.gravity, [], ["grav", "schwer"]),
        (.including, ["incl", "with", "mit"], ["includ"]),
        (
            .filler,
            [
                "field", "sensor", "axis", "achse", "eje", "asse", "axe", "raw", "absolute", "data", "value", "val",
                "cal",
                "calibrated", "of", "the", "force", "specific", "total", "component", "motion",
                "device", "in", "low", "noise", "wide", "range", "ln", "wr", "phone", "imu",
            ], []
        ),
    ]

    private static let timeWords: Set<String> = [
        "time", "times", "timestamp", "timestamps", "ts", "tv", "stamp", "stamps", "epoch", "elapsed", "datetime",
        "date",
        "datum", "clock", "hora", "heure", "uhrzeit", "temps", "tiempo", "tempo", "fecha", "sec", "secs", "second",
        "seconds",
        "millis", "msec", "msecs", "millisecond", "milliseconds", "micros", "usec", "microsecond", "microseconds",
        "tick", "ticks", "tow", "sow", "itow",
        "nanos", "nanosec", "nanosecond", "nanoseconds", "nsec", "nsecs", "sekunden", "segundos", "secondes", "utc",
        "время", "时间", "時間", "時刻", "시간", "זמן",
    ]
    /// Words beside which a word for time has another meaning.
    private static let notTime: Set<String> = [
        "zone", "delta", "diff", "difference", "interval", "step", "dt", "dtime", "duration",
    ]

    /// Splits a name without its unit; `axis` is one that is not in it.
    init(_ name: String, axis number: Int? = nil) {
        var words = Self.split(name)
        // AcX and GyX are names of a sketch for the MPU-6050; a board is a GY-521.
        if words.count == 2, ["ac", "gy"].contains(words[0]), ["x", "y", "z"].contains(words[1]),
            !name.contains(where: \.isNumber)
        {
            words[0] = words[0] == "ac" ? "acc" : "gyro"
        }
        // The g of gFx is a unit; the rest is an axis of a force.
        if words.count == 2, words[0] == "g", ["fx", "fy", "fz"].contains(words[1]) {
            words = ["gforce", String(words[1].suffix(1))]
        } else if let last = words.last, ["gfx", "gfy", "gfz"].contains(last) {
            words[words.count - 1] = "gforce"
            words.append(String(last.suffix(1)))
        }
        if words.contains("gforce") || words.contains("gf") || (words.contains("g") && words.contains("force")) {
            unit = TraceUnit("g")
            if words.contains("force") { words.removeAll { $0 == "g" || $0 == "force" }; words.append("gforce") }
        }
        isTime = Self.isTime(words)
        // `timestamp seconds` and `elapsedMs`; one letter may be an axis or a name.
        if isTime, unit == nil {
            unit = words.lazy.filter { $0.count > 2 }.compactMap { TraceUnit($0) }.first
            if unit == nil, let last = words.last, Self.shortUnits.contains(last) { unit = TraceUnit(last) }
        }
        removeAxis(&words)
        if let number, axis == nil { (axis, isAxisCertain) = (number, true) }
        Self.joinRates(&words)
        stem = words.joined(separator: " ")
        for word in words { record(word) }
        namedKind = kind
        // In als_B.x and wrist_w_x the letter is the body's or the frame's; in left_mx it belongs to the axis.
        if strange > 0, isAxisApart, words.contains(where: Self.frames.contains) { letter = nil }
        kind = kind ?? letter
    }

    /// Letters of sensors that may also be those of a body, the horizon and the world.
    static let frames: Set<String> = ["b", "h", "w"]

    /// Whether a name is that of a column which tells devices apart.
    static func areOfDevice(_ name: String) -> Bool {
        let words = split(name)
        let others: Set<String> = ["id", "name", "number", "no", "nr", "type", "address"]
        return words == ["i"]
            || words.contains(where: deviceWords.contains)
                && words.allSatisfy { deviceWords.contains($0) || others.contains($0) }
    }

    /// Whether a name is that of the fraction of a second beside whole ones, as in ROS and POSIX.
    static func areOfFraction(_ name: String) -> Bool {
        let words = split(name)
        return ["nanosec", "nanosecs", "nsec", "nsecs"].contains(words.last) || words.suffix(2) == ["tv", "usec"]
    }

    /// The order among times by their names: first the stamp that the sensor's driver wrote into the header of a message, last the time
    /// of an arrival, and what counts ticks of a clock.
    static func timeRank(_ name: String) -> Int {
        let words = split(name)
        if words.suffix(2) == ["header", "stamp"] { return 0 }
        let arrivals: Set<String> = ["arrival", "arrived", "received", "receive", "reception"]
        return areTicks(name) || !arrivals.isDisjoint(with: words) ? 2 : 1
    }

    /// Whether a name says that numbers are those of a clock whose speed it does not say.
    static func areTicks(_ name: String) -> Bool {
        let words: Set<String> = ["tick", "ticks", "raw"]
        return !words.isDisjoint(with: split(name))
    }

    /// A multiple of a unit of time in a name, such as the `100us` of `Time 100us`.
    static func multiple(in name: String) -> String? {
        name.split { " _,".contains($0) }.map(String.init).first { word in
            let unit = word.drop { $0.isNumber || $0 == "." || $0 == "/" }
            let number = word.dropLast(unit.count)
            guard !number.isEmpty, number != "1", case .time? = TraceUnit(String(unit)) else { return false }
            return true
        }
    }

    /// The unit of time that is the last word of a name, as of `Hour` and `gps_min`.
    static func unitOfTime(_ name: String) -> TimeUnit? {
        if let word = split(name).last, case .time(let unit)? = TraceUnit(word) { unit } else { nil }
    }

    static func withoutUnits(_ name: String) -> [String] { split(name).filter { TraceUnit($0) == nil } }

    private static let deviceWords: Set<String> = [
        "device", "sensor", "instance", "node", "side", "imu", "mac", "type", "id",
    ]

    /// The words without a meaning.
    static func unknown(in name: some StringProtocol) -> Set<String> {
        Set(split(String(name)).filter { meaning($0) == nil && !["x", "y", "z"].contains($0) })
    }

    /// The unit that flight controllers write without its seconds, as in `gyro_rad[0]`.
    var unitOfTurn: TraceUnit? {
        guard kind == .gyroscope, axis != nil else { return nil }
        let words = stem.split(separator: " ")
        if words.last == "rad" { return TraceUnit("rad/s") }
        return words.last == "deg" ? TraceUnit("deg/s") : nil
    }

    /// Whether no word has a meaning, as in the name of a place or a device.
    var saysNothing: Bool {
        axis == nil && namedKind == nil && !isTime && !isWithoutGravity && !isGravity && !isOther && !isUncalibrated
    }

    /// Joins the words of a rate of turn into one: rotation rate, angular velocity, gyro rotation.
    private static func joinRates(_ words: inout [String]) {
        let isTurning = { (word: String) in word.hasPrefix("rot") || word.hasPrefix("angular") || word == "ang" }
        let isRate = { (word: String) in
            word == "rate" || word == "vel" || word.hasPrefix("velocit") || word.hasPrefix("speed")
        }
        let isNamed = words.contains { meaning($0) == .quantity(.gyroscope) }
        guard isNamed || words.contains(where: isTurning) && words.contains(where: isRate) else { return }
        words.removeAll { isTurning($0) || isRate($0) }
        if !isNamed { words.append("gyro") }
    }

    private mutating func record(_ word: String) {
        switch Self.meaning(word) {
        case .quantity(let meant): if word.count == 1 { letter = letter ?? meant } else { kind = kind ?? meant }
        case .chip(let meant): letter = letter ?? meant
        case .other:
            isOther = true
            if word != "rate", !word.hasPrefix("rot") { isOtherThanTurn = true }
        case .uncalibrated: isUncalibrated = true
        case .withoutGravity: isWithoutGravity = true
        case .gravity: isGravity = isGravity || (kind ?? letter) == nil
        case .including:
            isGravity = false
            kind = kind ?? letter ?? .accelerometer
        case .filler, .time: break
        case nil: strange += 1
        }
    }

    /// In bytes: what is longer is no name, and would take long to parse.
    static let longestName = 512

    /// The words in lower case, without trailing digits; none of a text that is longer than ``longestName``.
    static func split(_ name: String) -> [String] {
        var words: [String] = []
        guard name.utf8.count <= longestName else { return [] }
        var word = ""
        var previous: Character?
        let characters = Array(name)
        func end() {
            while word.count > 1, let last = word.last, last.isNumber { word.removeLast() }
            if !word.isEmpty, !word.allSatisfy(\.isNumber) { words.append(word.lowercased()) }
            word = ""
        }
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber else {
                end()
                previous = nil
                continue
            }
            if let previous, character.isUppercase {
                let isBeforeLower = index + 1 < characters.count && characters[index + 1].isLowercase
                if previous.isLowercase || previous.isNumber || (previous.isUppercase && isBeforeLower) { end() }
            }
            word.append(character)
            previous = character
        }
        end()
        return words
    }

    private static func meaning(_ word: String) -> Meaning? {
        for row in lexicon where row.words.contains(word) || row.beginnings.contains(where: word.hasPrefix) {
            return row.meaning
        }
        return isTimeWord(word) ? .time : nil
    }

    private static func isTimeWord(_ word: String) -> Bool {
        timeWords.contains(word) || word.hasPrefix("time") && word != "timezone" || word.hasSuffix("time")
            || word.hasPrefix("zeit") || word.hasSuffix("zeit")
    }

    private static let shortUnits: Set<String> = ["ms", "us", "ns"]

    private static func isTime(_ words: [String]) -> Bool {
        if words == ["t"] || words.count == 1 && shortUnits.contains(words[0]) { return true }
        if words.first == "d", words.count == 2 { return false }
        return words.contains(where: isTimeWord) && !words.contains(where: notTime.contains)
    }

    /// Removes the axis: a word x, y or z, or that letter at an end of a known word.
    private mutating func removeAxis(_ words: inout [String]) {
        let letters = ["x", "y", "z"]
        if let place = words.lastIndex(where: letters.contains) {
            axis = letters.firstIndex(of: words[place])
            (isAxisCertain, isAxisApart) = (true, true)
            words.remove(at: place)
            return
        }
        for place in words.indices.reversed() {
            let word = words[place]
            let ends = [(word.suffix(1), word.dropLast(), fewest: 2), (word.prefix(1), word.dropFirst(), fewest: 4)]
            for (letter, rest, fewest) in ends where word.count >= fewest && Self.isQuantity(String(rest)) {
                guard let axis = letters.firstIndex(of: String(letter)) else { continue }
                self.axis = axis
                isAxisCertain = true
                words[place] = String(rest)
                return
            }
        }
    }

    private static func isQuantity(_ word: String) -> Bool {
        switch meaning(word) {
        case .quantity, .other, .withoutGravity, .gravity: true
        case .filler: word == "axis" || word == "achse" || word == "raw"
        case .chip, .including, .time, .uncalibrated, nil: false
        }
    }
}
