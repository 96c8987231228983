import Binnacle
import Testing

import Pictures

/// How views write values: in digits that count, with the unit of the figure's row.
@Suite struct ShownValueTests {
    @Test(arguments: [
        ("heading_deg", 353.62, "353.6°"), ("roll_deg", -0.04, "0.0°"), ("field_uT", 49.06, "49.1 µT"),
        ("total_g", 0.99637, "0.996 g"),
        ("user_g", 0.01623, "0.0162 g"), ("drum_g", 0.01623, "0.0162 g"), ("vibration_g", 0.00258, "0.00258 g"),
        ("velocity_mm_s", 1.2044, "1.20 mm/s"), ("illuminance_lux", 412.3, "412 lx"),
        ("turn_rate_dps", 7.2384, "7.24°/s"), ("age_s", 3.2, "3.20 s"),
        ("blade_mm_s", 0.000452, "0.000452 mm/s"), ("drum_g", 0.0000012, "0.00000120 g"),
        ("learned_percent", 62.54, "62.5 %"), ("strength_uT", 0, "0 µT"), ("cadence_per_min", 112, "112"),
    ]) func valuesHaveDigitsThatCount(name: String, value: Double, text: String) {
        #expect(ShownValue.text(value, of: name) == text)
    }

    @Test func anAccuracyDecidesTheDigits() {
        #expect(ShownValue.text(353.62, within: 3.9, unit: "°") == "353.6° ± 3.9°")
        #expect(ShownValue.text(123.4, within: 12.2, unit: "°") == "123° ± 12°")
    }

    /// A limit that its digits would round has those of the configuration.
    @Test(arguments: [
        ("user_g", 0.05, "0.0500 g"), ("user_g", 0.00004, "0.00004 g"), ("blade_mm_s", 0.00045, "0.000450 mm/s"),
        ("blade_mm_s", 1.2345, "1.2345 mm/s"), ("lean_deg", 25.5, "25.5°"), ("lean_deg", 25.25, "25.25°"),
        ("drum_g", Double(Float(0.1234)), "0.1234 g"), ("drum_g", 0, "0 g"),
    ]) func limitsAreNotRounded(name: String, value: Double, text: String) {
        #expect(ShownValue.text(limit: value, of: name) == text)
    }

    /// A heading that is rounded to a whole turn is north.
    @Test(
        arguments: [
            (359.97, nil, "0.0°"), (359.94, nil, "359.9°"), (359.97, 3.9, "0.0° ± 3.9°"), (359.6, 12.2, "0° ± 12°"),
            (359.4, 12.2, "359° ± 12°"), (359.6, 3.9, "359.6° ± 3.9°"),
        ] as [(Double, Double?, String)]) func noHeadingIsAWholeTurn(value: Double, accuracy: Double?, text: String)
    {
        #expect(ShownValue.heading(value, within: accuracy) == text)
    }

    @Test func namesBecomeWordsAndUnits() {
        #expect(ShownValue.split("turn_rate_dps") == ("turn rate", "°/s"))
        #expect(ShownValue.split("velocity_mm_s") == ("velocity", " mm/s"))
        #expect(ShownValue.split("state") == ("state", ""))
    }

    /// A quaternion's part says nothing alone; a figure with words is as it was.
    @Test func figuresThatSayNothingAloneAreLeftOut() {
        #expect(ShownValue.text(Figure(.quaternionX, .number(0.1, decimals: 6))) == nil)
        #expect(ShownValue.text(Figure(.off, .number(-120.08, decimals: 2))) == "off -120.1°")
        #expect(ShownValue.text(Figure(.band, .text("drum"))) == "band drum")
    }
}
