extension ConfigurationFaultTests {
    static let handlerFaults: [FaultyText] = [
        FaultyText("no events", motion + "|[handler.h]\nlog = true\n", "no `on`", "motion.began"),
        FaultyText("empty events", motion + "[handler.h]\nlog = true\non = |[]\n", "`on` is empty"),
        FaultyText("event no array", motion + "[handler.h]\nlog = true\non = |\"shake\"\n", "an array of strings"),
        FaultyText(
            "unknown event", motion + "[handler.h]\nlog = true\non = [\"shake\", |\"motion.begun\"]\n",
            "`on` cannot be `motion.begun`", "did you mean `motion.began`?"),
        FaultyText(
            "unknown event of a group", motion + "[handler.h]\nlog = true\non = [|\"motion.stop\"]\n",
            "`on` cannot be `motion.stop`", "one of `motion.began`, `motion.moving`, `motion.ended`, `motion.*`"),
        FaultyText("event twice", motion + "[handler.h]\nlog = true\non = [\"shake\", |\"shake\"]\n", "twice"),
        FaultyText("no such detector", handler + "log = true\ndetector = [|\"move\"]\n", "did you mean `moved`?"),
        FaultyText("no detectors", handler + "log = true\ndetector = |[]\n", "leave it out"),
        FaultyText("no action", motion + "|[handler.h]\non = [\"shake\"]\n", "[handler.h] does nothing", "log = true"),
        FaultyText(
            "two actions", handler + "log = true\n|command = [\"/bin/true\"]\n", "both `log` and `command`",
            "two handlers"),
        FaultyText("log false", handler + "log = |false\n", "can only be true"),
        FaultyText("log no boolean", handler + "log = |\"yes\"\n", "expected true or false, found a string"),
        FaultyText("command no array", handler + "command = |\"/bin/true\"\n", "an array of strings"),
        FaultyText("empty command", handler + "command = |[]\n", "`command` is empty", "path"),
        FaultyText("relative program", handler + "command = [|\"alarm\"]\n", "`alarm` has no folder"),
        FaultyText("program from an event", handler + "command = [|\"/bin/{kind}\"]\n", "chosen by an event"),
        FaultyText("argument no string", handler + "command = [\"/bin/true\", |1]\n", "found an integer"),
        FaultyText(
            "unknown placeholder", handler + "command = [\"/bin/true\", |\"{peak}\"]\n",
            "unknown placeholder `{peak}`", "did you mean `peak_g`?", "`{{`"),
        FaultyText("open brace", handler + "command = [\"/bin/true\", |\"a {kind\"]\n", "`{` is not closed", "`{{`"),
        FaultyText("lone brace", handler + "command = [\"/bin/true\", |\"a } b\"]\n", "`}` closes nothing", "`}}`"),
        FaultyText("empty placeholder", handler + "command = [\"/bin/true\", |\"{}\"]\n", "`{}`", "`detector`"),
        FaultyText("NUL in an argument", handler + "command = [\"/bin/true\", |\"a\\u0000\"]\n", "NUL"),
        FaultyText("unknown handler key", handler + "log = true\n|dekorate = []\n", "did you mean `decorate`?"),
    ]

    private static func decorated(_ marked: String) -> String {
        handler + "log = true\ndecorate = [" + marked + "]\n"
    }

    static let decoratorFaults: [FaultyText] = [
        FaultyText("decorate no array", handler + "log = true\ndecorate = |{ count = 1 }\n", "an array of tables"),
        FaultyText("decorator no table", decorated("|\"debounce\""), "expected a table, found a string"),
        FaultyText("empty decorator", decorated("|{}"), "one key, this one has 0", "debounce"),
        FaultyText(
            "two in one", decorated("|{ count = { every = 2 }, coalesce = { window_s = 1 } }"),
            "one key, this one has 2"),
        FaultyText("unknown decorator", decorated("{ |debunce = { for_s = 1 } }"), "did you mean `debounce`?"),
        FaultyText("no inner table", decorated("{ debounce = |2 }"), "expected a table, found an integer"),
        FaultyText("unknown inner key", decorated("{ debounce = { for_s = 1, |fur_s = 2 } }"), "did you mean `for_s`?"),
        FaultyText("missing inner key", decorated("{ quorum = |{ count = 2 } }"), "no `window_s`", "count = 2"),
        FaultyText("zero time", decorated("{ debounce = { |for_s = 0 } }"), "longer than 0 s"),
        FaultyText("rate of zero", decorated("{ rate_limit = { |per_minute = 0 } }"), "between 1 and 1000000"),
        FaultyText("fractional rate", decorated("{ rate_limit = { per_minute = |0.5 } }"), "expected an integer"),
        FaultyText("rate of many", decorated("{ rate_limit = { |per_minute = 9223372036854775807 } }"), "between"),
        FaultyText("no hour", decorated("{ quiet_hours = { from = |\"24:00\", to = \"07:00\" } }"), "time of day"),
        FaultyText("no minute", decorated("{ quiet_hours = { from = \"22:00\", to = |\"7:00\" } }"), "`7:00`", "23:59"),
        FaultyText(
            "bare time", decorated("{ quiet_hours = { from = |22:00:00, to = \"07:00\" } }"), "a string such as"),
        FaultyText(
            "same times", decorated("{ quiet_hours = { from = \"07:00\", |to = \"07:00\" } }"), "the same time as from"),
    ]
}
