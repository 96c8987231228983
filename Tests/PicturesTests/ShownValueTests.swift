import Binnacle
import Testing

import Pictures

/// How views write values: in digits that count, with the unit of the figure's row.
@Suite struct ShownValueTests {
    @Test(arguments: [
        ("heading_deg", 353.62, "353.6°"), ("roll_deg", -0.04, "0.0°"), ("field_uT", 49.06, "49.1 µT"),
        ("total_g", 0.99637, "0.996 g"),
        ("user_g", 0.01623, "0.0162 g"), ("drum_g", 0.01623, "0.016 g"), ("vibration_g", 0.00258, "0.00258 g"),
        ("velocity_mm_s", 1.2044, "1.20 mm/s"), ("illuminance_lux", 412.3, "412 lx"),
        ("turn_rate_dps", 7.2384, "7.24°/s"), ("age_s", 3.2, "3.20 s"),
        ("learned_percent", 62.54, "62.5 %"), ("strength_uT", 0, "0 µT"), ("cadence_per_min", 112, "112"),
    ]) func valuesHaveDigitsThatCount(name: String, value: Double, text: String) {
        #expect(ShownValue.text(value, of: name) == text)
    }

    @Test func anAccuracyDecidesTheDigits() {
        #expect(ShownValue.text(353.62, within: 3.9, unit: "°") == "353.6° ± 3.9°")
        #expect(ShownValue.text(123.4, within: 12.2, unit: "°") == "123° ± 12°")
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
