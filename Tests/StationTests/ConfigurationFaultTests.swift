import Station
import TableReading
import Testing

/// Every fault gives one message, at its place, that says what is wrong and what would be right.
@Suite struct ConfigurationFaultTests {
    @Test(arguments: syntaxFaults + sensorFaults + motionFaults + northFaults + handlerFaults + decoratorFaults)
    func oneMessageAtItsPlace(_ fault: FaultyText) throws {
        let found = problems(fault.text)
        try #require(found.count == 1, "\(found.map(\.description))")
        #expect(found[0].line == fault.line && found[0].column == fault.column, "\(found[0])")
        for word in fault.words { #expect(found[0].description.contains(word), "\(found[0]) lacks: \(word)") }
        #expect(found[0].description.hasPrefix("t.toml:\(fault.line):\(fault.column): "))
    }

    static let chassis = "[sensor.chassis]\nsource = \"simulated\"\n"
    static let motion = chassis + "[motion.moved]\naccelerometer = \"chassis\"\n"
    static let north = chassis + "[north.bow]\naccelerometer = \"chassis\"\nmagnetometer = \"chassis\"\n"
    static let handler = motion + "[handler.alarm]\non = [\"shake\"]\n"

    static let syntaxFaults: [FaultyText] = [
        FaultyText("no value", "a = |\n", "syntax error", "value"),
        FaultyText("duplicate key", chassis + "source = |\"simulated\"", "redefine", "source"),
        FaultyText("duplicate table", chassis + "|[sensor.chassis]\n", "redefine"),
        FaultyText("three brackets", "[[|[", "syntax error", "key"),
        FaultyText("unknown table", "[|sensors.chassis]\n", "unknown", "did you mean `sensor`?"),
        FaultyText(
            "unknown key", "|verbose = true\n", "unknown",
            "`sensor`, `motion`, `north`, `attitude`, `orientation`, `hinge`, `tap`, `steps`, `stationary`, `vibration`, `light`, `proximity`, `handler`"
        ),
        FaultyText("section kind is no table", "sensor = |3\n", "expected", "found an integer"),
        FaultyText("section is no table", "[sensor]\nchassis = |true\n", "[sensor.chassis]", "found a boolean"),
        FaultyText("array of tables", "|[[sensor.chassis]]\nsource = \"simulated\"", "found an array"),
        FaultyText("bad name", "[sensor.|\"a b\"]\nsource = \"simulated\"", "`a b` cannot be a name", "letters"),
        FaultyText("empty name", "[sensor.|\"\"]\nsource = \"simulated\"", "cannot be a name"),
        FaultyText(
            "long name", "[sensor.|\(String(repeating: "n", count: 65))]\nsource = \"simulated\"", "cannot be a name",
            "…"),
        FaultyText("terminal escape", "|\"a\\u001b[2J\" = 1\n", "`a\\u{1b}[2J`"),
    ]

    static let sensorFaults: [FaultyText] = [
        FaultyText("no source", "|[sensor.a]\n", "[sensor.a] has no `source`", "`iio`"),
        FaultyText("unknown source", "[sensor.a]\nsource = |\"ioi\"\n", "cannot be `ioi`", "did you mean `iio`?"),
        FaultyText("source no string", "[sensor.a]\nsource = |1.5\n", "expected a string, found a number"),
        FaultyText("no match", "|[sensor.a]\nsource = \"evdev\"\n", "no `match`", "accel_3d"),
        FaultyText("empty match", "[sensor.a]\nsource = \"iio\"\nmatch = |{}\n", "`match` is empty", "at least one"),
        FaultyText("match no table", "[sensor.a]\nsource = \"iio\"\nmatch = |\"x\"\n", "expected a table"),
        FaultyText(
            "unknown match key", "[sensor.a]\nsource = \"iio\"\nmatch = { |nmae = \"x\" }\n",
            "unknown key `nmae` in match",
            "did you mean `name`?"),
        FaultyText("match value", "[sensor.a]\nsource = \"iio\"\nmatch = { name = |7 }\n", "found an integer"),
        FaultyText("empty match value", "[sensor.a]\nsource = \"iio\"\nmatch = { name = |\"\" }\n", "`name` is empty"),
        FaultyText(
            "property", "[sensor.a]\nsource = \"iio\"\nmatch = { property = { ID_BUS = |3 } }\n",
            "`ID_BUS`: expected a string, found an integer"),
        FaultyText(
            "property no table", "[sensor.a]\nsource = \"iio\"\nmatch = { property = |\"x\" }\n", "udev properties"),
        FaultyText("match refused", chassis + "|match = { name = \"x\" }\n", "no meaning", "`auto`, `iio` and `evdev`"),
        FaultyText("no file", "|[sensor.a]\nsource = \"trace\"\n", "no `file`", "recording"),
        FaultyText("file refused", chassis + "|file = \"a.csv\"\n", "no meaning", "`trace`"),
        FaultyText("NUL", "[sensor.a]\nsource = \"trace\"\nfile = |\"a\\u0000b\"\n", "NUL"),
        FaultyText("unknown sensor key", chassis + "|colour = \"red\"\n", "unknown key `colour`", "one of `source`"),
    ]

    static let motionFaults: [FaultyText] = [
        FaultyText("no sensor named", "|[motion.m]\n", "[motion.m] has no `accelerometer`"),
        FaultyText(
            "no such sensor", chassis + "[motion.m]\naccelerometer = |\"chasis\"\n", "no sensor `chasis`",
            "did you mean `chassis`?"),
        FaultyText("no sensor at all", "[motion.m]\naccelerometer = |\"a\"\n", "no sensor `a`", "none is defined"),
        FaultyText("misspelt key", motion + "|treshold_g = 1\n", "unknown key", "did you mean `threshold_g`?"),
        FaultyText("no unit", motion + "|threshold = 1\n", "unknown key", "did you mean `threshold_g`?"),
        FaultyText("wrong type", motion + "threshold_g = |\"1\"\n", "`threshold_g`: expected a number, found a string"),
        FaultyText("date", motion + "quiet_s = |07:30:00\n", "found a date or a time"),
        FaultyText("impossible threshold", motion + "|threshold_g = 0\n", "threshold_g (0.0)", "above 0"),
        FaultyText("release above default", motion + "|release_g = 0.1\n", "above threshold_g (0.05)"),
        FaultyText("negative time", motion + "|quiet_s = -1\n", "quiet_s (-1.0) is negative"),
        FaultyText("long time", motion + "|quiet_s = 1e10\n", "longer than 1000000000 s"),
        FaultyText("zero time", motion + "|gravity_s = 0\n", "gravity_s", "longer than 0 s"),
        FaultyText("not a number", motion + "|shake_g = nan\n", "finite"),
        FaultyText("infinite", motion + "|gap_s = inf\n", "finite"),
        FaultyText("too large for single precision", motion + "|shock_g = 1e300\n", "too large"),
        FaultyText("shock at rest", motion + "|shock_g = 1\n", "not above 1 g"),
        FaultyText("nothing to detect", motion + "|detect = []\n", "detect is empty"),
        FaultyText("detect no array", motion + "detect = |\"shake\"\n", "expected an array of strings"),
        FaultyText("detect unknown", motion + "detect = [|\"shaek\"]\n", "did you mean `shake`?"),
        FaultyText("detect twice", motion + "detect = [\"shake\", |\"shake\"]\n", "twice"),
        FaultyText("measure", motion + "measure = |\"size\"\n", "`user_acceleration`, `magnitude`"),
    ]

    static let northFaults: [FaultyText] = [
        FaultyText("no magnetometer", chassis + "|[north.n]\naccelerometer = \"chassis\"\n", "no `magnetometer`"),
        FaultyText("axis", north + "heading_axis = |\"y\"\n", "cannot be `y`", "`+y`"),
        FaultyText("upright axis", north + "upright_axis = |\"non\"\n", "did you mean `none`?"),
        FaultyText("axes along each other", north + "|upright_axis = \"-y\"\n", "lies along heading_axis"),
        FaultyText(
            "default does not fit",
            chassis + "|[north.n]\naccelerometer = \"chassis\"\nmagnetometer = \"chassis\"\n"
                + "heading_axis = \"+z\"\n", "upright_axis lies along heading_axis"),
        FaultyText("bearing", north + "|bearing_deg = 360\n", "not including 360"),
        FaultyText("wide tolerance", north + "|tolerance_deg = 200\n", "tolerance_deg (200.0)"),
        FaultyText("exit", north + "|exit_deg = 5\n", "from tolerance_deg (10.0) up to 180"),
        FaultyText(
            "exit of a refused tolerance", north + "exit_deg = 5\ntolerance_deg = |\"4\"\n", "expected a number"),
        FaultyText("field true", north + "field_range_uT = |true\n", "or false", "found a boolean"),
        FaultyText("field of one", north + "field_range_uT = |[20]\n", "two numbers", "[20, 70]"),
        FaultyText("field of words", north + "field_range_uT = |[20, \"x\"]\n", "two numbers"),
        FaultyText("field the wrong way", north + "|field_range_uT = [70, 20]\n", "lower one first"),
        FaultyText("field nan", north + "|field_range_uT = [20, nan]\n", "finite"),
        FaultyText("gate", north + "|gate_acceleration_g = 0\n", "gate_acceleration_g (0.0)", "above 0"),
        FaultyText("gate of a word", north + "gate_dip_deg = |\"off\"\n", "expected a number"),
        FaultyText("no hold", north + "|hold_s = 0\n", "longer than 0 s"),
        FaultyText("interference", north + "|interference_percent = 100\n", "below 100"),
        FaultyText("sector without an end", north + "sectors = [|{ name = \"a\", from_deg = 1 }]\n", "no `to_deg`"),
        FaultyText(
            "sector beyond", north + "|sectors = [{ name = \"a\", from_deg = 1, to_deg = 360 }]\n",
            "not including 360"),
        FaultyText(
            "sector twice",
            north
                + "sectors = [{ name = \"a\", from_deg = 1, to_deg = 3 }, |{ name = \"a\", from_deg = 5, to_deg = 9 }]\n",
            "two sectors are named `a`"),
        FaultyText("field below zero", north + "|field_range_uT = [-1, 20]\n", "from 0 upwards"),
        FaultyText(
            "shared name",
            motion + "[north.|moved]\n"
                + north.split(separator: "\n").suffix(2)
                .joined(separator: "\n"), "two detectors are named `moved`", "line 3"),
    ]
}
