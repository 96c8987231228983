import Binnacle
import PlainText
import SensorGeometry

/// The units in traces, and their conversion.
enum TraceUnit: Equatable {
    case time(TimeUnit)
    /// The order of dates in place of a unit of time.
    case date(DateOrder)
    /// A unit of a kind of sensor, with the factor that converts it to m/s², µT or rad/s.
    case measured(SampleKind, Double)

    /// The units of `--map`, for help and messages.
    static let known =
        "s, ms, us, ns, min, h, days, dmy, mdy, ymd, m/s2, cm/s2, mm/s2, g, mg, uT, nT, mT, T, gauss, mgauss, rad/s, mrad/s, deg/s, mdps"

    /// Parses a unit in any spelling; `nil` for an unknown one.
    init?(_ name: String) {
        let folded = Self.fold(name)
        // `deg_per_s` and `m_s2` stand for a quotient; `rad_s-1` is a product.
        let quotient = folded.split(separator: Character("_")).joined(separator: "/")
        guard let unit = Self.unit(folded) ?? Self.unit(quotient) else { return nil }
        self = unit
    }

    private static func unit(_ folded: String) -> TraceUnit? {
        switch folded {
        case "s", "sec", "secs", "second", "seconds": .time(.seconds)
        case "ms", "msec", "msecs", "millisecond", "milliseconds", "millis": .time(.milliseconds)
        case "us", "usec", "usecs", "microsecond", "microseconds", "micros": .time(.microseconds)
        case "ns", "nsec", "nsecs", "nanosec", "nanosecond", "nanoseconds", "nanos": .time(.nanoseconds)
        case "min", "mins", "minute", "minutes": .time(.minutes)
        case "h", "hr", "hrs", "hour", "hours": .time(.hours)
        case "day", "days": .time(.days)
        case "dmy": .date(.dayFirst)
        case "mdy": .date(.monthFirst)
        case "ymd": .date(.yearFirst)
        case "m/s2", "m/s/s", "m/s/2", "mps2", "mpss", "ms2", "ms-2", "m/s-2", "m/s**2":
            .measured(.accelerometer, 1)
        case "g", "gs", "g's", "gn", "g-force", "gforce", "g0": .measured(.accelerometer, Gravity.standard)
        case "mg", "milli-g", "millig": .measured(.accelerometer, Gravity.standard * 1e-3)
        case "mm/s2", "mms-2": .measured(.accelerometer, 1e-3)
        case "cm/s2", "cms-2", "gal": .measured(.accelerometer, 1e-2)
        case "ut", "utesla", "microt", "microtesla", "microteslas": .measured(.magnetometer, 1)
        case "nt", "ntesla", "nanotesla", "nanoteslas": .measured(.magnetometer, 1e-3)
        case "mt", "mtesla", "millitesla", "milliteslas": .measured(.magnetometer, 1e3)
        case "t", "tesla", "teslas": .measured(.magnetometer, 1e6)
        case "gauss", "ga": .measured(.magnetometer, 100)
        case "mgauss", "milligauss", "mga": .measured(.magnetometer, 0.1)
        case "rad/s", "rads-1", "rad/s-1", "radps": .measured(.gyroscope, 1)
        case "mrad/s", "mrads-1", "mradps", "millirad/s": .measured(.gyroscope, 1e-3)
        case "deg/s", "degs-1", "deg/s-1", "dps", "degps", "d/s": .measured(.gyroscope, Double.pi / 180)
        case "mdeg/s", "mdps", "mdegps", "millideg/s", "mdeg": .measured(.gyroscope, Double.pi / 180 * 1e-3)
        case "deg/h", "degh-1", "dph": .measured(.gyroscope, Double.pi / 180 / 3600)
        // The form of a clock's time may follow: `dd/mm/yyyy hh:mm:ss`.
        case _ where folded.hasPrefix("d/m/y") || folded.hasPrefix("dd/mm/yy"): .date(.dayFirst)
        case _ where folded.hasPrefix("m/d/y") || folded.hasPrefix("mm/dd/yy"): .date(.monthFirst)
        case _ where folded.hasPrefix("yy/m"): .date(.yearFirst)
        default: nil
        }
    }

    /// Parses a unit with an optional scale, as raw counts need it: `g/256` or `256/g` (256 counts are one g), `0.004g`.
    init?(scaled name: String) {
        if let unit = TraceUnit(name) {
            self = unit
            return
        }
        let folded = name.filter { $0 != " " }
        if let slash = folded.lastIndex(of: "/"), let divisor = Double(folded[folded.index(after: slash)...]),
            let unit = TraceUnit(String(folded[..<slash]))?.multiplied(by: 1 / divisor)
        {
            self = unit
            return
        }
        // No unit begins with e.
        let number = folded.prefix { $0.isNumber || ".e-".contains($0) }
        let rest = folded[number.endIndex...]
        guard let factor = Double(number), factor > 0 else { return nil }
        let scaled =
            rest.hasPrefix("/")
            ? TraceUnit(String(rest.dropFirst()))?.multiplied(by: 1 / factor)
            : TraceUnit(String(rest.hasPrefix("*") ? rest.dropFirst() : rest))?.multiplied(by: factor)
        guard let scaled else { return nil }
        self = scaled
    }

    private func multiplied(by number: Double) -> TraceUnit? {
        guard number.isFinite, number > 0, case .measured(let kind, let factor) = self else { return nil }
        return .measured(kind, factor * number)
    }

    /// Words of rates as their symbols; the longer spelling of a word comes first.
    private static let symbols = [
        ("squared", "2"), ("degrees", "deg"), ("degree", "deg"), ("radians", "rad"), ("radian", "rad"), ("metres", "m"),
        ("metre", "m"),
        ("meters", "m"), ("meter", "m"), ("seconds", "s"), ("second", "s"), ("secs", "s"), ("sec", "s"),
    ]

    /// Special letters become ASCII; blanks, dots, parentheses and exponent signs go.
    private static let letters: [Character: String] = [
        "\u{B5}": "u", "\u{3BC}": "u", "\u{B2}": "2", "\u{B0}": "deg", "\u{BA}": "deg", "\u{2DA}": "deg",
        "\u{207B}": "-", "\u{B9}": "1", "^": "",
        " ": "", ".": "", "\u{B7}": "", "\u{22C5}": "", "(": "", ")": "", "{": "", "}": "", "\u{2212}": "-",
    ]

    /// Lower case, with ``letters`` replaced, and with a slash for `per`.
    private static func fold(_ name: String) -> String {
        let name = name.lowercased()
        // By bytes: characters and the search of the standard library take a tenth of the time of a short replay.
        var folded =
            name.utf8.allSatisfy { $0 < 0x80 }
            ? name.utf8.filter { !" .^(){}".utf8.contains($0) }
            : name.reduce(into: []) { $0 += (letters[$1] ?? String($1)).utf8 }
        if folded.starts(with: "in".utf8), folded.count > 3 { folded.removeFirst(2) }
        let star = UInt8(ascii: "*")
        let hasPower = zip(folded, folded.dropFirst()).contains { $0 == star && $1 == star }
        if !hasPower { folded.removeAll { $0 == star } }
        func replace(_ word: String, by other: String) {
            guard folded.contains(word.utf8) else { return }
            folded = Array(folded.pieces(between: word.utf8).joined(separator: other.utf8))
        }
        for separator in ["_per_", "per"] { replace(separator, by: "/") }
        // The words of times alone are units as they are.
        if folded.contains(UInt8(ascii: "/")) || folded.contains(UInt8(ascii: "_")) {
            for (word, symbol) in symbols { replace(word, by: symbol) }
        }
        return String(decoding: folded, as: UTF8.self)
    }

    /// The unit for a kind of sensor (g is the standard gravity or gauss); `nil` when it cannot measure that kind.
    func meant(for kind: SampleKind) -> TraceUnit? {
        switch (self, kind) {
        case (.measured(kind, _), _): self
        case (.measured(.accelerometer, Gravity.standard), .magnetometer): .measured(.magnetometer, 100)
        case (.measured(.accelerometer, Gravity.standard * 1e-3), .magnetometer): .measured(.magnetometer, 0.1)
        default: nil
        }
    }

    /// The kind of sensor that it measures; `nil` for times and dates.
    var kind: SampleKind? { if case .measured(let kind, _) = self { kind } else { nil } }

    /// The factor that converts values to m/s², µT or rad/s; 1 for times and dates.
    var factor: Double { if case .measured(_, let factor) = self { factor } else { 1 } }
}

/// A unit of time: a multiple of a power of ten of nanoseconds.
struct TimeUnit: Equatable {
    let exponent: Int
    let multiple: Int64
    let name: String
    let option: String
    /// 1970 in the count of this unit, in nanoseconds.
    var origin: Int64 = 0

    static let seconds = TimeUnit(exponent: 9, multiple: 1, name: "seconds", option: "s")
    static let milliseconds = TimeUnit(exponent: 6, multiple: 1, name: "milliseconds", option: "ms")
    static let microseconds = TimeUnit(exponent: 3, multiple: 1, name: "microseconds", option: "us")
    static let nanoseconds = TimeUnit(exponent: 0, multiple: 1, name: "nanoseconds", option: "ns")
    static let minutes = TimeUnit(exponent: 10, multiple: 6, name: "minutes", option: "min")
    static let hours = TimeUnit(exponent: 11, multiple: 36, name: "hours", option: "h")
    static let days = TimeUnit(exponent: 11, multiple: 864, name: "days", option: "days")
    /// The days of dates in spreadsheets, which count from 30 December 1899.
    static let spreadsheetDays = TimeUnit(
        exponent: 11, multiple: 864, name: "days", option: "days", origin: 25_569 * 86_400_000_000_000)

    var inSeconds: Double { DecimalPowers.exact[exponent] * Double(multiple) * 1e-9 }
}
