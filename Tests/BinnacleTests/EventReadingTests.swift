import Binnacle
import PlainText
import Testing

@Suite struct EventReadingTests {
    @Test(arguments: EventKind.allCases)
    func everyEventGivesItsLineAgain(kind: EventKind) throws {
        var event = Event(kind: kind, detector: "moved", sensor: "lid", sequence: .max, timeNanoseconds: .min)
        event.wallNanoseconds = 1_795_262_144_000_123_000
        event.isSimulated = true
        event.figures = Figure.Name.allCases.enumerated().map { index, name in
            let values: [Figure.Value] = [
                .number(0.25, decimals: 4), .number(-1234.5, decimals: 1), .integer(-9_007_199_254_740_993),
                .text("a\"b\\c\n\u{1}\u{7F}é🧭\u{2028}"), .number(.nan, decimals: 2), .number(12, decimals: 0),
            ]
            return Figure(name, values[index % values.count])
        }
        #expect(try Event(json: event.json).json == event.json)
    }

    @Test func whatIsAbsentStaysAbsent() throws {
        let event = Event(kind: .sensorsNoneLeft, sequence: 1, timeNanoseconds: 0)
        #expect(try Event(json: event.json) == event)
    }

    @Test func aKeyOfANewerVersionIsPassedOver() throws {
        let line = #"{"seq":1,"kind":"shock","new":{"a":[1]},"detector":null,"sensor":null,"time_ns":5,"also":2}"#
        #expect(try Event(json: line) == Event(kind: .shock, sequence: 1, timeNanoseconds: 5))
    }

    @Test(
        arguments: [
            ("", "column 1: the text ends where a value should be"),
            ("{", "column 2: a key in quotes is missing"),
            ("nul", "column 1: no value begins like this"),
            (#"{"seq":1,"kind":"shock"}"#, "column 1: a key of an event is missing or of the wrong type"),
            (#"{"seq":1,"kind":"unheard","time_ns":5}"#, "column 1: a key of an event is missing or of the wrong type"),
            (#"{"seq":-1,"kind":"shock","time_ns":5}"#, "column 1: a key of an event is missing or of the wrong type"),
            (#"{"seq":1,"seq":1}"#, "column 10: the key stands twice"),
            (#"{"seq":1} {}"#, "column 11: something follows the value"),
            ("[[[[[[[[[[", "column 9: nested deeper than 8 levels"),
            ("\"\u{1}\"", "column 2: a control character stands in a string"),
            (#""\ud800""#, "column 2: half of a surrogate pair"),
            (#""\ud800\u0041""#, "column 2: half of a surrogate pair"),
            (#""\u00g0""#, "column 4: four hexadecimal digits are missing"),
            (#""\x""#, "column 3: no such escape"), (#""abc"#, "column 5: the string has no end"),
            ("01", "column 2: something follows the value"), ("1.", "column 3: a digit is missing"),
            ("-", "column 2: a digit is missing"), ("1e+", "column 4: a digit is missing"),
            ("[1,]", "column 4: no value begins like this"), ("[1 2]", "column 4: a comma or ] is missing"),
            (#"{"a" 1}"#, "column 6: a colon is missing after the key"),
            (#"{"a":1 "b":2}"#, "column 8: a comma or } is missing"),
        ])
    func whatIsWrongIsSaidWithItsPlace(line: String, reason: String) {
        #expect(throws: JSONReader.SyntaxError.self) { try Event(json: line) }
        do { _ = try Event(json: line) } catch { #expect("\(error)" == reason) }
    }

    @Test func bytesThatAreNoUTF8AreRefused() {
        do throws(JSONReader.SyntaxError) {
            _ = try JSONReader.value(of: [0x22, 0xFF, 0x22])
            Issue.record("it was taken")
        } catch {
            #expect(error.description == "column 2: the string is not UTF-8")
        }
    }

    @Test func escapesAreUndone() throws {
        let value = try JSONReader.value(of: #" "\"\\\/\b\f\n\r\t\u00e9\ud83e\udded" "#.utf8)
        #expect(value == .string("\"\\/\u{8}\u{C}\n\r\té🧭"))
    }
}

@Suite struct WallTimeReadingTests {
    @Test(
        arguments: [
            0, -1000, 1_795_262_144_000_123_000, 951_826_623_999_999_000, -8_520_336_000_000_000_000,
            9_183_110_400_000_000_000, 9_223_372_036_854_775_000, -9_223_372_036_854_775_000, 951_782_400_000_000_000,
            4_107_542_400_000_000_000,
        ] as [Int64])
    func aTimeThatWasWrittenIsReadAgain(nanoseconds: Int64) {
        #expect(WallTime.nanoseconds(WallTime.text(nanoseconds)) == nanoseconds)
    }

    /// The clock may stand at its end, and events of such a time are still read.
    @Test(arguments: [Int64.min, .max]) func theEndsOfTheClockAreReadToTheMicrosecond(nanoseconds: Int64) {
        let text = WallTime.text(nanoseconds)
        #expect(WallTime.nanoseconds(text).map(WallTime.text) == text)
        #expect(LocalTime.nanoseconds(text) != nil)
        #expect(LocalTime.text(nanoseconds).prefix(4) == text.prefix(4))
    }

    @Test func theSmallerPartsMayBeLeftOut() {
        let day = WallTime.nanoseconds("2026-11-21T00:00:00.000000Z")
        #expect(day != nil)
        for text in ["2026-11-21", "2026-11-21Z", "2026-11-21T00:00", "2026-11-21T00:00:00Z"] {
            #expect(WallTime.nanoseconds(text) == day)
        }
    }

    @Test func decimalsAreOneToNine() {
        let second = WallTime.nanoseconds("2026-11-21T00:00:01Z") ?? 0
        for (text, nanoseconds) in [(".3", 300_000_000), (".315", 315_000_000), (".000000001Z", 1)] as [(String, Int64)]
        {
            #expect(WallTime.nanoseconds("2026-11-21T00:00:01" + text) == second + nanoseconds, "\(text)")
        }
    }

    @Test(
        arguments: [
            "", "2026", "2026-13-01", "2026-00-01", "2026-01-32", "2026-02-29", "2026-1-1", "2026-01-01T24:00",
            "2026-01-01T00:60",
            "2026-01-01T00:00:60", "2026-01-01T00:00:00.", "2026-01-01T00:00:00.0123456789", "2026-01-01 00:00",
            "1600-01-01", "9999-01-01",
            "1677-09-20",
            "2262-04-12", "2262-12-31", "x",
        ])
    func whatIsNoTimeIsRefused(text: String) {
        #expect(WallTime.nanoseconds(text) == nil)
    }
}
