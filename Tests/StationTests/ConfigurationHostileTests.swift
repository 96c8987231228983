import Configuration
import Station
import TableReading
import Testing

/// Texts that mean harm, or that are no texts, and texts with many faults.
@Suite struct ConfigurationHostileTests {
    /// A text and a word of its one message; its description is its name, for the text is long.
    struct Harm: Sendable, CustomTestStringConvertible {
        let name: String
        let text: [UInt8]
        let word: String

        var testDescription: String { name }

        init(_ name: String, _ text: [UInt8], _ word: String) {
            (self.name, self.text, self.word) = (name, text, word)
        }
    }

    @Test(arguments: [
        Harm("nested arrays", repeated("[", 200_000, after: "a = "), "depth"),
        Harm("nested tables", repeated("{a=", 200_000, after: "a = "), "depth"),
        Harm("a dotted key", repeated("a.", 400_000) + Array("a = 1".utf8), "more than 16 parts"),
        Harm("a dotted header", repeated("a.", 400_000, after: "[") + Array("a]".utf8), "more than 16 parts"),
        Harm("brackets", repeated("[", 400_000), "syntax error"),
        Harm("NUL", Array("a = 1\n".utf8) + [0] + Array("b = 2\n".utf8), "syntax error"),
        Harm("NUL in a comment", Array("# ".utf8) + [0], "syntax error"),
        Harm("invalid UTF-8", Array("# ".utf8) + [0xFF, 0xFE], "utf-8"),
        Harm("NUL in a comment before more", Array("# \0\na = 1\n".utf8), "syntax error"),
        Harm("a bell in a comment before more", Array("# \u{7}\na = 1\n".utf8), "syntax error"),
        Harm("a deletion in a comment before more", Array("# \u{7F}\na = 1\n".utf8), "syntax error"),
        Harm("a return in a comment before more", Array("# \r \na = 1\n".utf8), "syntax error"),
        Harm(
            "invalid UTF-8 in a comment before more", Array("# ".utf8) + [0xFF, 0xFE] + Array("\na = 1\n".utf8), "utf-8"
        ),
        Harm("UTF-16", [0xFF, 0xFE, 0x61, 0, 0x3D, 0, 0x31, 0], "utf-8"),
        Harm("an Arabic letter as a key", Array("\u{FEFB} = 1".utf8), "syntax error"),
        Harm("an unfinished string", Array("a = \"\"\"".utf8), "end-of-file"),
    ])
    func noTOML(_ harm: Harm) throws {
        let found = problems(harm.text)
        try #require(found.count == 1)
        #expect(found[0].description.contains(harm.word), "\(found[0])")
    }

    @Test func dotsInStringsAreNotCounted() throws {
        let dots = String(repeating: ".", count: 100)
        let text =
            ConfigurationFaultTests.handler + """
                command = ["/bin/true", "\(dots)\\"\(dots)", '\(dots)', \"""\n\(dots)"\(dots)\"""\", '''\(dots)'''''] # \(dots)
                """
        #expect(try parse(text).handlers.count == 1)
    }

    /// Wherever there may be one.
    @Test(arguments: ["#", "# '", "# '''", "# \"\"\" [", "# = 3\r", "# \u{B5}T", "#\t a.b.c"])
    func whatACommentSaysChangesNothing(comment: String) throws {
        func text(_ comment: String) -> String {
            """
            \(comment)
            [handler.h] \(comment)
            on = ["shake", \(comment)
              "shock"] \(comment)
            command = ["/bin/true", "# no comment", '# nor this', \"""
            # nor this\""", \(comment)
              '''# nor this'''] \(comment)

            """
        }
        let configuration = try parse(text(comment))
        #expect(try configuration == parse(text("")))
        #expect("\(configuration)".matches(of: /# no/).count == 4)
        for fault in ["retry = 3", "[[[", "a = \u{7}"] {
            let found = problems("\(text(comment))\(fault) \(comment)\n").map(\.description)
            #expect(found == problems("\(text(""))\(fault) #\n").map(\.description))
            #expect(found.count == 1 && found[0].hasPrefix("t.toml:8:"))
        }
    }

    @Test func aTextAboveTheLimitIsRefused() throws {
        let limit = ConfigurationFile.largestSize
        #expect(try Configuration.parse(Self.repeated("#", limit), path: "t") == Configuration())
        #expect(throws: ConfigurationError.file(path: "t", .tooLarge(limit: limit))) {
            try Configuration.parse(Self.repeated("#", limit + 1), path: "t")
        }
    }

    @Test func allFaultsAreToldInTheOrderOfTheFile() {
        let text = """
            [handler.h]
            on = ["shaek", "gaps"]
            command = ["true", "{x}"]
            decorate = [{ debounce = {} }, { count = { every = 0 } }]
            [motion.m]
            accelerometer = "b"
            threshold_g = -1
            quiet_s = "1"
            [sensor.a]
            source = "trace"
            [wibble]
            """
        #expect(
            problems(text).map(\.description) == [
                "t.toml:2:7: `on` cannot be `shaek` (did you mean `shake`?)",
                "t.toml:2:16: `on` cannot be `gaps` (did you mean `gap`?)",
                "t.toml:3:12: the program `true` has no folder, and none is searched (such as /usr/local/bin/alarm, or "
                    + "./alarm beside this file)",
                "t.toml:3:20: unknown placeholder `{x}` (did you mean `qx`?; write `{{` and `}}` for braces)",
                "t.toml:4:26: debounce has no `for_s` (write { debounce = { for_s = 2 } })",
                "t.toml:4:44: every (0) is not between 1 and 1000000",
                "t.toml:6:17: no sensor `b` (one of `a`)",
                "t.toml:7:1: threshold_g (-1.0) has to be a number above 0",
                "t.toml:8:11: `quiet_s`: expected a number, found a string",
                "t.toml:9:1: [sensor.a] has no `file` (it names the recording)",
                "t.toml:11:2: unknown table or key `wibble` (one of `sensor`, `motion`, `north`, `attitude`, `orientation`, `hinge`, `tap`, `steps`, `stationary`, `vibration`, `light`, `proximity`, `handler`, `position`, `store`, `socket`, `dbus`)",
            ])
    }

    /// One mistake is one message: a faulty section can still be referred to.
    @Test func aFaultySensorCanBeReferredTo() {
        let text = "[sensor.a]\nsource = \"no\"\n[motion.m]\naccelerometer = \"a\"\n"
        #expect(problems(text).map(\.line) == [2])
    }

    @Test func countlessFaultsAreCutShort() {
        let found = problems((0..<2000).map { "key\($0) = 1\n" }.joined())
        #expect(found.count == 501)
        #expect(found.last?.message == "and 1500 more problems")
    }

    private static func repeated(_ text: String, _ count: Int, after start: String = "") -> [UInt8] {
        Array(start.utf8) + Array(repeatElement(text.utf8, count: count).joined())
    }
}
