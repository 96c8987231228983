import Binnacle
import Foundation
import Station
import TestSupport
import Testing
import Traces
import Workbench

/// Events beside labels.
@Suite struct EventScoreTests {
    private func marks(_ seconds: [Double], _ kind: EventKind = .shake, of recording: String? = nil) -> [EventScore
        .Mark]
    {
        seconds.map { EventScore.Mark(kind: kind, timeNanoseconds: Int64($0 * 1e9), recording: recording) }
    }

    @Test func eachLabelGetsTheNearestEvent() {
        let score = EventScore(
            marks([0.4, 9.2, 10.1, 30, 50]), marks([0, 10, 20, 50]), toleranceNanoseconds: 1_000_000_000)
        #expect(
            score.values == [
                .integer(4), .integer(3), .integer(1), .integer(2), .number(0.6, decimals: 3),
                .number(0.75, decimals: 3),
                .number((0.4 + 0.1 + 0) / 3, decimals: 3), .number((0.4 + 0.1 + 0) / 3, decimals: 3),
            ])
    }

    @Test func kindsAndRecordingsAreApart() {
        let score = EventScore(
            marks([1], of: "a") + marks([1], .shock, of: "b"), marks([1], of: "b") + marks([1], .shock, of: "b"),
            toleranceNanoseconds: 0)
        #expect(score.values.prefix(4) == [.integer(2), .integer(1), .integer(1), .integer(1)])
        #expect(
            EventScore([], marks([1]), toleranceNanoseconds: 0).values[4...5] == [.missing, .number(0, decimals: 3)])
    }

    private func table(_ events: String, _ labels: String, kinds: Set<EventKind>? = nil) throws -> (String, [String]) {
        let folder = try TemporaryFolder()
        try events.write(toFile: folder.path + "/e", atomically: true, encoding: .utf8)
        try labels.write(toFile: folder.path + "/l.csv", atomically: true, encoding: .utf8)
        let read = try EventLabels(path: folder.path + "/l.csv", kinds: kinds, tolerance: .seconds(1))
        let (table, notices) = try read.table(scoring: folder.path + "/e")
        return (String(decoding: table.bytes(.csv), as: UTF8.self), notices)
    }

    private func line(_ kind: String, _ seconds: Double, of recording: String? = nil) -> String {
        let name = recording.map { #""recording":"\#($0)","# } ?? ""
        return #"{\#(name)"seq":1,"kind":"\#(kind)","detector":"m","time_ns":\#(Int64(seconds * 1e9))}"# + "\n"
    }

    @Test func labelsAreReadInTheirForms() throws {
        let head = "kind,labels,found,missed,false,precision,recall,onset_mean_s,onset_abs_s\n"
        let events = line("shake", 5.5) + line("shock", 7) + #"{"kind":"recording.replayed","status":0}"# + "\n"
        for labels in [
            "time_s,kind\n5,shake\n", "kind;time_ns\r\n\"shake\";5000000000\r\n",
            "\u{FEFF}time_s,kind\n5,shake\n", "time_s\tkind\n5\tshake\n",
        ] {
            let (text, notices) = try table(events, labels)
            #expect(text == head + "shake,1,1,0,0,1.000,1.000,0.500,0.500\n")
            #expect(notices == ["without labels, and not scored: 1 × shock"])
        }
        let (text, notices) = try table(events, "time_s,note\n5,\"a, b\"\n", kinds: [.shake])
        #expect(text == head + "shake,1,1,0,0,1.000,1.000,0.500,0.500\n" && notices[0].hasSuffix("not used: note"))
        let both = try table(
            line("shake", 5, of: "x/a.csv") + line("shake", 5, of: "x/b.csv"),
            "time_s,kind,recording\n5,shake,a.csv\n5,shake,c.csv\n")
        #expect(both.0 == head + "shake,2,1,1,1,0.500,0.500,0.000,0.000\n" && both.1.count == 1)
    }

    /// A report waits until it is certain; what it reports was earlier.
    @Test func anEventCountsWhereItBeganOrEnded() throws {
        func line(_ kind: String, _ figures: String) -> String {
            "{\"seq\":1,\"kind\":\"\(kind)\",\"detector\":\"d\",\"sensor\":\"lid\",\"time_ns\":60000000000,\(figures)}\n"
        }
        let events =
            line("stationary", "\"onset_ns\":50000000000")
            + line("motion.ended", "\"peak_g\":0.1000,\"duration_s\":4.500,\"onset_ns\":30000000000")
            + line("shake", "\"peak_g\":1.0000")
        let labels = "time_s,kind\n50,stationary\n34.5,motion.ended\n60,shake\n"
        let rows = try table(events, labels).0.split(separator: "\n")
        #expect(rows.last?.hasPrefix("all,3,3,0,0,1.000,1.000,0.000,0.000") ?? false, "\(rows)")
    }

    /// The stamps of a daemon count from the boot, and its events have the wall clock's time beside.
    @Test func labelsInUTCAreComparedWithTheWallClock() throws {
        let labels = "time,kind\n2026-11-21T12:00:05Z,shake\n"
        let wall = line("shake", 5.5).replacing("}", with: #","wall_time":"2026-11-21T12:00:05.500000Z"}"#)
        #expect(try table(wall, labels).0.hasSuffix("shake,1,1,0,0,1.000,1.000,0.500,0.500\n"))
        let stamps = line("shake", 1_795_262_405.5)
        #expect(try table(stamps, labels).0.hasSuffix("shake,1,1,0,0,1.000,1.000,0.500,0.500\n"))
        let error = #expect(throws: StationError.self) { _ = try table(line("shake", 5.5), labels) }
        #expect(error?.description.contains("no wall-clock time (one is 5.500 s)") == true, "\(error as Any)")
    }

    @Test func labelsThatAreAllElsewhereAreReported() throws {
        let events = line("shake", 1000) + line("shock", 1010)
        let notices = try table(events, "time_s,kind\n0.5,shake\n10,shake\n").1
        let text = "they are from 0.500 s to 10.000 s, and it is from 1000.000 s to 1010.000 s"
        #expect(notices.contains { $0.hasSuffix(text) }, "\(notices)")
        #expect(try !table(events, "time_s,kind\n0.5,shake\n1011,shake\n").1.contains { $0.contains("outside") })
    }

    @Test func aPathThatIsAnotherRecordingsFileNameMeansItselfAlone() throws {
        let (text, _) = try table(
            line("shake", 5, of: "a.csv") + line("shake", 5, of: "x/a.csv"), "time_s,kind,recording\n5,shake,a.csv\n")
        #expect(text.hasSuffix("shake,1,1,0,1,0.500,1.000,0.000,0.000\n"), "\(text)")
    }

    @Test(arguments: [
        ("", "is empty"), ("a,b\n1,2\n", ":1: has no column time_s"), ("time_s\n1\n", ":1: has no column kind"),
        ("time_s,kind\n1\n", ":2: has 1 fields"), ("time_s,kind\nx,shake\n", ":2: `x` is no time_s"),
        ("time_s,kind\n1,shak\n", ":2: `shak` is no kind of event (did you mean `shake`?)"),
        ("time_s,kind\n1,\"shake\n2,shake\n", ":2: a quote is not closed"),
        ("time_s,kind\n1e300,shake\n", "is no time_s"), ("time_s,kind\n", "has no label"),
    ])
    func wrongLabelsAreRefused(labels: String, message: String) throws {
        let error = #expect(throws: StationError.self) { _ = try table(line("shake", 1), labels) }
        #expect(error?.status == .data && error?.description.contains(message) == true, "\(error as Any)")
    }

    @Test func recordingsHaveToBeToldApart() throws {
        let events = line("shake", 1, of: "a") + line("shake", 1, of: "b")
        #expect(throws: StationError.self) { _ = try table(events, "time_s,kind\n1,shake\n") }
        #expect(throws: StationError.self) {
            _ = try table(line("shake", 1), "time_s,kind,recording\n1,shake,a\n1,shake,b\n")
        }
        #expect(throws: StationError.self) { _ = try table("no JSON\n", "time_s,kind\n1,shake\n") }
    }

    @Test func valuesOfAKeyAreSplitAtTheirCommas() throws {
        #expect(try #require(Sweep.Key("a.b=1,2.5")).values == ["1", "2.5"])
        #expect(
            try #require(Sweep.Key(#"a.b=["x","y"],"p,q",{k = "1,2"}"#)).values == [
                #"["x","y"]"#, #""p,q""#, #"{k = "1,2"}"#,
            ])
        #expect(Sweep.Key("a.b=1,,2") == nil && Sweep.Key("a.b") == nil && Sweep.Key("=1") == nil)
    }
}
