import Binnacle

/// The words of a column's name, and what they mean.
///
/// Names are split at blanks, signs, and where capitals begin; a word is known by its beginning, so that other spellings,
/// endings and languages are understood without a list of apps.
struct ColumnWords {
    /// The axis (0, 1, 2 for x, y, z).
    private(set) var axis: Int?
    /// Whether the axis is a word of its own, or follows a known word.
    private(set) var isAxisCertain = false
    private(set) var kind: SampleKind?
    /// The kind that a single letter stands for, unless a longer word says another: serial numbers have letters, too.
    private var letter: SampleKind?
    private(set) var isTime = false
    private(set) var isWithoutGravity = false
    /// Whether gravity itself is meant.
    private(set) var isGravity = false
    /// Whether another quantity is meant.
    private(set) var isOther = false
    /// The unit that a word stands for.
    private(set) var unit: TraceUnit?
    /// The number of words that are not understood.
    private(set) var strange = 0
    /// All words but the axis.
    private(set) var stem = ""

    private enum Meaning {
        case accelerometer, magnetometer, gyroscope, other, withoutGravity, gravity, including, time, filler
    }

    /// One meaning: whole words, and beginnings of words.
    private static let lexicon: [(meaning: Meaning, words: Set<String>, beginnings: [String])] = [
        (.other, ["accuracy", "magnitude", "norm", "total"], ["accurac", "magnitud"]),
        (
            .accelerometer, ["a", "gf", "gforce", "beschl"],
            ["acc", "acel", "akzel", "beschleun", "加速度", "תאוצה", "ускорен"]
        ),
        (.magnetometer, ["m", "b", "h", "mf", "mafi"], ["mag", "compass", "kompass", "磁"]),
        (.gyroscope, ["g", "w", "omega"], ["gyr", "winkelgeschw", "drehrate"]),
        (
            .other,
            [
                "q", "orie", "rate", "euler", "bias", "offset", "std", "stdev", "var", "min", "max",
                "vel",
                "pos", "count", "temp", "dt", "delta", "diff", "bearing", "gps",
            ],
            [
                "rot", "angular", "angle", "winkel", "orientation", "quat", "velocit", "speed", "position",
                "heading", "dreh",
            ]
        ),
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
                "calibrated", "uncal", "uncalibrated", "of", "the", "force", "specific", "total", "component", "motion",
                "device", "in",
                "low", "noise", "wide", "range", "ln", "wr", "phone", "imu",
            ], []
        ),
    ]

    private static let timeWords: Set<String> = [
        "time", "times", "timestamp", "timestamps", "ts", "stamp", "stamps", "epoch", "elapsed", "datetime", "date",
        "datum",
        "clock", "hora", "heure", "uhrzeit", "temps", "tiempo", "tempo", "fecha", "sec", "secs", "second", "seconds",
        "millis", "msec", "msecs", "millisecond", "milliseconds", "micros", "usec", "microsecond", "microseconds",
        "nanos", "nanosecond", "nanoseconds", "sekunden", "segundos", "secondes", "utc", "время", "时间", "時間", "זמן",
    ]
    /// Words with which a word for time means something else.
    private static let notTime: Set<String> = [
        "zone", "delta", "diff", "difference", "interval", "step", "dt", "duration",
    ]

    /// Splits a name without its unit.
    init(_ name: String) {
        var words = Self.split(name)
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
        if isTime, unit == nil { unit = words.lazy.filter { $0.count > 2 }.compactMap { TraceUnit($0) }.first }
        takeAxis(&words)
        Self.joinRates(&words)
        stem = words.joined(separator: " ")
        for word in words { note(word) }
        kind = kind ?? letter
    }

    /// Makes one word of those that mean a rate of turn together: rotation rate, angular velocity, gyro rotation.
    private static func joinRates(_ words: inout [String]) {
        let isTurning = { (word: String) in word.hasPrefix("rot") || word.hasPrefix("angular") }
        let isRate = { (word: String) in
            word == "rate" || word == "vel" || word.hasPrefix("velocit") || word.hasPrefix("speed")
        }
        let isNamed = words.contains { meaning($0) == .gyroscope }
        guard isNamed || words.contains(where: isTurning) && words.contains(where: isRate) else { return }
        words.removeAll { isTurning($0) || isRate($0) }
        if !isNamed { words.append("gyro") }
    }

    private mutating func note(_ word: String) {
        switch Self.meaning(word) {
        case .accelerometer: take(.accelerometer, word)
        case .magnetometer: take(.magnetometer, word)
        case .gyroscope: take(.gyroscope, word)
        case .other: isOther = true
        case .withoutGravity: isWithoutGravity = true
        case .gravity: isGravity = isGravity || (kind ?? letter) == nil
        case .including:
            isGravity = false
            kind = kind ?? letter ?? .accelerometer
        case .filler, .time: break
        case nil: strange += 1
        }
    }

    private mutating func take(_ meant: SampleKind, _ word: String) {
        if word.count == 1 { letter = letter ?? meant } else { kind = kind ?? meant }
    }

    /// The words in lower case, without digits behind them.
    static func split(_ name: String) -> [String] {
        var words: [String] = []
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

    private static func isTime(_ words: [String]) -> Bool {
        if words == ["t"] { return true }
        return words.contains(where: isTimeWord) && !words.contains(where: notTime.contains)
    }

    /// Removes the axis: a word x, y or z, or such a letter at an end of a known word.
    private mutating func takeAxis(_ words: inout [String]) {
        let letters = ["x", "y", "z"]
        if let place = words.lastIndex(where: letters.contains) {
            axis = letters.firstIndex(of: words[place])
            isAxisCertain = true
            words.remove(at: place)
            return
        }
        for place in words.indices.reversed() {
            let word = words[place]
            guard word.count > 1 else { continue }
            if let axis = letters.firstIndex(of: String(word.suffix(1))), Self.isQuantity(String(word.dropLast())) {
                self.axis = axis
                isAxisCertain = true
                words[place] = String(word.dropLast())
                return
            }
            if word.count > 3, let axis = letters.firstIndex(of: String(word.prefix(1))),
                Self.isQuantity(String(word.dropFirst()))
            {
                self.axis = axis
                isAxisCertain = true
                words[place] = String(word.dropFirst())
                return
            }
        }
    }

    private static func isQuantity(_ word: String) -> Bool {
        switch meaning(word) {
        case .accelerometer, .magnetometer, .gyroscope, .other, .withoutGravity, .gravity: true
        case .filler: word == "axis" || word == "achse" || word == "raw"
        case .including, .time, nil: false
        }
    }
}
