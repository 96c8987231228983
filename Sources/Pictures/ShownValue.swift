package import Binnacle
import PlainText

/// How live views write values: `watch` by this code, and the page by the same rules, which it gets as ``rules``.
package enum ShownValue {
    /// Figures that say something only together with others.
    private static let hidden: Set<Figure.Name> = [
        .frame, .quaternionW, .quaternionX, .quaternionY, .quaternionZ, .gravityX, .gravityY, .gravityZ, .userX, .userY,
        .userZ, .rateX, .rateY, .rateZ,
    ]
    private static let units = Figure.Name.Unit.allCases.sorted { $0.rawValue.utf8.count > $1.rawValue.utf8.count }

    /// Words and unit of a value's name, as in "turn rate" and "°/s" of "turn_rate_dps".
    package static func split(_ name: String) -> (words: String, unit: String) {
        // The shortest unit ends every name.
        let unit = units.first { name.hasSuffix($0.rawValue) } ?? .ratio
        let words = name.dropLast(unit.rawValue.count)
        return (words.split(separator: "_").joined(separator: " "), unit.symbol)
    }

    /// A value with its unit, in three digits that count, as far as the figure has them; angles in tenths.
    package static func text(_ value: Double, of name: String) -> String {
        let unit = split(name).unit
        return number(value, isAngle: unit == "°", most: mostDecimals(Figure.Name(rawValue: name)) ?? 9) + unit
    }

    /// A limit as a value, unless that would round it: in the digits of the configuration.
    package static func text(limit: Double, of name: String) -> String {
        let (shown, unit) = (text(limit, of: name), split(name).unit)
        return exact(limit, String(shown.dropLast(unit.count))) + unit
    }

    /// A limit as a view writes it, unless that rounds it: in the digits of the configuration.
    static func exact(_ limit: Double, _ shown: String) -> String {
        let all = [shown] + (0...9).compactMap { Decimal.text(limit, decimals: $0) }
        return all.first { text in Double(text).map { abs($0 - limit) <= 1e-6 * abs(limit) } ?? false } ?? shown
    }

    /// A heading in degrees, rounded as it is written before it is made less than a turn: 359.97° is 0.0°.
    package static func heading(_ value: Double, within accuracy: Double?) -> String {
        let decimals = accuracy ?? 0 >= 10 ? 0 : 1
        let rounded = Decimal.text(value, decimals: decimals).flatMap { Double($0) } ?? value
        let turned = rounded.truncatingRemainder(dividingBy: 360)
        guard let accuracy else { return number(turned, isAngle: true) + "°" }
        return text(turned, within: accuracy, unit: "°")
    }

    /// A value that is off by no more than another one, as in "353.6° ± 3.9°".
    package static func text(_ value: Double, within accuracy: Double, unit: String) -> String {
        let decimals = accuracy >= 10 ? 0 : 1
        return [value, accuracy].map { (Decimal.text($0, decimals: decimals) ?? "-") + unit }.joined(separator: " ± ")
    }

    static func number(_ value: Double, isAngle: Bool = false, most: Int = 3) -> String {
        let size = value.magnitude
        let steps = [100, 10, 1, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6]
        let decimals = isAngle ? 1 : size == 0 ? 0 : steps.firstIndex { size >= $0 } ?? steps.count
        return Decimal.text(value, decimals: min(decimals, most)) ?? "-"
    }

    /// What a view shows of a detector besides its state, as in "field 49.1 µT".
    package static func text(_ figure: Figure) -> String? {
        guard !hidden.contains(figure.name) else { return nil }
        guard case .number(let value, _) = figure.value else { return figure.text }
        return "\(split(figure.name.rawValue).words) \(text(value, of: figure.name.rawValue))"
    }

    private static func mostDecimals(_ name: Figure.Name?) -> Int? {
        guard case .number(_, let decimals)? = name?.row.type else { return nil }
        return decimals
    }

    /// The same for the page: units by the ends of names, the decimals of figures, what is hidden, and the kinds that are thinned.
    static var rules: String {
        let decimals = Figure.Name.allCases.compactMap { name in
            mostDecimals(name).map { "\(JSONObject.quoted(name.rawValue)):\($0)" }
        }
        let course = EventKind.allCases.filter { !EventKind.listed.contains($0) }
        let pairs = units.map { JSONObject.texts([$0.rawValue, $0.symbol]) }
        return """
            {"units":\(JSONObject.list(pairs)),"decimals":{\(decimals.joined(separator: ","))},\
            "hidden":\(JSONObject.list(hidden.map { JSONObject.quoted($0.rawValue) }.sorted())),\
            "course":\(JSONObject.list(course.map { JSONObject.quoted($0.rawValue) }))}
            """
    }
}
