import PlainText

/// A sampling rate that a text states: a number before "Hz", or one that a word such as "rate" names.
struct StatedRate {
    let hertz: Double
    /// Whether the number has a unit, that of a rate or that of a period.
    let hasUnit: Bool
    /// Whether a word such as "rate" belongs to the number, or "recorded at" and the like.
    let isNamed: Bool

    /// Rates that a text may state; no sensor has others.
    static let possible = 0.001...1e5

    /// A number of a text, with the words that belong to it.
    private struct Number {
        /// `nil` for what is no number with a decimal point, such as a version.
        let value: Double?
        let before: [String]
        var unit: String?
        var behind: [String] = []
        /// The word before "rate" or "frequency", with nothing but a blank between them.
        var owner: String?
        /// The text behind the number.
        let rest: Substring
    }

    private static let names: Set = ["rate", "frequency", "freq", "fs", "odr"]
    private static let periods: Set = ["interval", "period", "every", "time"]
    /// Words of other quantities with such units, beside those that begin with "filter".
    private static let others: Set = [
        "cutoff", "corner", "pass", "lowpass", "highpass", "bandpass", "lpf", "hpf", "notch", "bandwidth", "bw", "baud",
        "heart",
    ]
    /// What the word before "rate" begins with where that is the rate of the samples.
    private static let ofSamples = [
        "sampl", "resampl", "record", "log", "captur", "acq", "collect", "stream", "data", "output", "update", "measur",
        "report",
        "poll", "publish", "scan", "read", "sensor", "imu", "acc", "gyr", "mag", "nominal", "mean", "average",
        "effective", "actual",
        "true", "fixed", "constant", "target", "request", "config", "select", "expect", "original", "native", "max",
        "default", "device",
        "raw",
    ]
    private static let articles: Set = ["the", "a", "at", "with", "set"]
    /// Units of other rates.
    private static let otherUnits: Set = [
        "bps", "kbps", "mbps", "bit", "bits", "baud", "rpm", "bpm", "l", "ml", "kb", "mb", "kib", "mib",
        "percent",
    ]
    /// What the words before "at" begin with that say that it is about the recording.
    private static let recordings = ["record", "log", "captur", "acqui", "collect", "stream", "data", "format"]
    private static let factors = ["hz": 1.0, "khz": 1000]

    /// The one rate of several statements, of which those with a word such as "rate" take precedence; `nil` if they differ.
    static func agreed(_ rates: [StatedRate]) -> Double? {
        let named = rates.filter(\.isNamed)
        let values = Set((named.isEmpty ? rates : named).map(\.hertz))
        return values.count == 1 ? values.first : nil
    }

    static func all(in text: String) -> [StatedRate] {
        numbers(in: text.lowercased().replacing("cut-off", with: "cutoff")).compactMap { number in
            let words = number.before + number.behind
            guard let value = number.value, !words.contains(where: { others.contains($0) || $0.hasPrefix("filter") })
            else { return nil }
            let isSampling = words.contains { $0.hasPrefix("sampl") }
            guard !isOfOther(number, isSampling: isSampling) else { return nil }
            let isRecorded =
                number.before.last == "at" && words.contains { word in recordings.contains { word.hasPrefix($0) } }
            let isNamed = isSampling || isRecorded || !names.isDisjoint(with: words)
            if let unit = number.unit, unit.hasSuffix("hz") {
                guard let factor = factors[unit], possible.contains(value * factor) else { return nil }
                return StatedRate(hertz: value * factor, hasUnit: true, isNamed: isNamed)
            }
            // The unit may stand in brackets behind the name.
            let unit = number.unit ?? number.before.last ?? ""
            var rate: Double?
            if case .time(let unit)? = TraceUnit(unit) {
                let isPeriod =
                    words.contains("rate") || words.contains("odr")
                    || isSampling && !periods.isDisjoint(with: words)
                rate = isPeriod ? 1 / (value * unit.inSeconds) : nil
            } else if let last = number.before.last {
                rate = names.contains(last) ? value : isNamed ? factors[last].map { value * $0 } : nil
            }
            guard let rate, (2...10_000).contains(rate) else { return nil }
            return StatedRate(hertz: rate, hasUnit: number.unit != nil, isNamed: true)
        }
    }

    /// Whether a rate is that of something else, as in "GPS rate: 1 Hz", "flow rate 12 l/min" and "6000 per minute".
    private static func isOfOther(_ number: Number, isSampling: Bool) -> Bool {
        let adjacent = number.rest.drop { " _([".contains($0) }
        if number.unit == nil, adjacent.first?.isLetter ?? false {
            let words = adjacent.split(maxSplits: 2) { !$0.isLetter }.map(String.init)
            if otherUnits.contains(words[0]) { return true }
            if words[0] == "per", let unit = words.dropFirst().first {
                return ["m", "h", "d"].contains { unit.hasPrefix($0) }
            }
        }
        if zip(number.before, number.before.dropFirst()).contains(where: { $0 == "of" && ["gps", "gnss"].contains($1) })
        {
            return true
        }
        guard !isSampling, let owner = number.owner, !articles.contains(owner), !names.contains(owner) else {
            return false
        }
        return !ofSamples.contains(where: owner.hasPrefix)
    }

    /// The numbers of a text in lower case.
    ///
    /// A number has the words before it; one without any has those behind it, up to a comma or semicolon.
    private static func numbers(in text: String) -> [Number] {
        func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
        var numbers: [Number] = []
        var words: [String] = []
        var (areBehind, isAdjacent, isNewPart) = (false, false, false)
        var (owner, previous) = (String?.none, String?.none)
        var rest = text[...]
        while let first = rest.first {
            if isDigit(first) {
                var digits = rest.prefix { isDigit($0) || $0 == "." || $0 == "," }
                while let last = digits.last, !isDigit(last) { digits.removeLast() }
                let tail = rest[digits.endIndex...]
                if tail.first == "e" {
                    let exponent = tail.dropFirst().prefix { isDigit($0) || "+-".contains($0) }
                    if exponent.contains(where: isDigit) { digits = rest[..<exponent.endIndex] }
                }
                rest = rest[digits.endIndex...]
                numbers.append(Number(value: Double(digits), before: words, owner: owner, rest: rest))
                (owner, previous) = (nil, nil)
                (areBehind, isAdjacent, isNewPart) = (words.isEmpty, true, false)
                words = []
            } else if first.isLetter {
                let word = String(rest.prefix(while: \.isLetter))
                rest = rest.dropFirst(word.count)
                if ["rate", "frequency", "freq"].contains(word), let previous {
                    if areBehind { numbers[numbers.count - 1].owner = previous } else { owner = previous }
                }
                previous = word
                if isAdjacent, isUnit(word) {
                    numbers[numbers.count - 1].unit = word
                } else if areBehind {
                    numbers[numbers.count - 1].behind.append(word)
                } else {
                    words = isNewPart ? [word] : words + [word]
                    isNewPart = false
                }
                isAdjacent = false
            } else {
                if first == "," || first == ";" { (areBehind, isNewPart) = (false, true) }
                if first != " ", first != "_" { previous = nil }
                isAdjacent = isAdjacent && " _([".contains(first)
                rest.removeFirst()
            }
        }
        return numbers
    }

    private static func isUnit(_ word: String) -> Bool {
        if case .time? = TraceUnit(word) { return true }
        return word.hasSuffix("hz")
    }
}
