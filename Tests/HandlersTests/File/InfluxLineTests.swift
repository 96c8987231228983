import Binnacle
import Foundation
import Handlers
import TestSupport
import Testing

/// A point, as a strict reader of the line protocol has it.
private struct Point: Equatable {
    var measurement = ""
    var tags: [String: String] = [:]
    /// The text of each field; a string without its quotes.
    var fields: [String: String] = [:]
    var nanoseconds: Int64 = 0
}

private enum Malformed: Error { case line(String) }

/// Parses one line by InfluxDB's page of the syntax; independent of the code that writes it.
private func parse(_ line: String) throws -> Point {
    var rest = Array(line.unicodeScalars)[...]
    func fail() -> Malformed { .line("\(line) at \(String(String.UnicodeScalarView(rest)))") }
    /// A measurement, a key or a tag's value, up to one of the ends that has no backslash before it.
    func name(until ends: Set<Unicode.Scalar>) throws -> String {
        var text = String.UnicodeScalarView()
        while let scalar = rest.first, !ends.contains(scalar) {
            rest = rest.dropFirst()
            guard scalar != "\n", scalar != "\r" else { throw fail() }
            if scalar == "\\", let next = rest.first, [",", "=", " "].contains(next) {
                text.append(next)
                rest = rest.dropFirst()
            } else {
                guard scalar != " ", scalar != ",", scalar != "=" else { throw fail() }
                text.append(scalar)
            }
        }
        guard !text.isEmpty else { throw fail() }
        return String(text)
    }
    func take(_ scalar: Unicode.Scalar) throws {
        guard rest.first == scalar else { throw fail() }
        rest = rest.dropFirst()
    }
    func field() throws -> String {
        if rest.first == "\"" {
            rest = rest.dropFirst()
            var text = String.UnicodeScalarView()
            while let scalar = rest.first, scalar != "\"" {
                guard scalar.value >= 0x20 else { throw fail() }
                rest = rest.dropFirst()
                if scalar == "\\" {
                    guard let next = rest.first, next == "\"" || next == "\\" else { throw fail() }
                    text.append(next)
                    rest = rest.dropFirst()
                } else {
                    text.append(scalar)
                }
            }
            try take("\"")
            return String(text)
        }
        let text = try name(until: [",", " "])
        let isNumber = text.wholeMatch(of: /-?\d+(\.\d+)?|-?\d+i/) != nil
        guard isNumber || text == "true" || text == "false" else { throw fail() }
        if text.hasSuffix("i"), Int64(text.dropLast()) == nil { throw fail() }
        return text
    }
    var point = Point()
    point.measurement = try name(until: [",", " "])
    while rest.first == "," {
        rest = rest.dropFirst()
        let key = try name(until: ["="])
        try take("=")
        guard point.tags.updateValue(try name(until: [",", " "]), forKey: key) == nil else { throw fail() }
    }
    try take(" ")
    repeat {
        if rest.first == "," { rest = rest.dropFirst() }
        let key = try name(until: ["="])
        try take("=")
        guard point.fields.updateValue(try field(), forKey: key) == nil else { throw fail() }
    } while rest.first == ","
    try take(" ")
    guard let time = Int64(String(String.UnicodeScalarView(rest))) else { throw fail() }
    point.nanoseconds = time
    return point
}

/// Lines for InfluxDB.
@Suite struct InfluxLineTests {
    private func line(_ event: Event) -> String { String(decoding: EventLineFormat.influx.line(event), as: UTF8.self) }

    @Test func aPoint() throws {
        var event = event(7, kind: .shock, [Figure(.peak, .number(2.5, decimals: 4)), Figure(.onset, .integer(-5))])
        event.wallNanoseconds = 1_795_596_815_250_123_987
        event.identity = "a-b"
        event.isSimulated = true
        #expect(
            line(event) == "binnacle,kind=shock,detector=moved,sensor=chassis seq=7i,identity=\"a-b\",simulated=true,"
                + "peak_g=2.5000,onset_ns=-5i 1795596815250123000")
        #expect(
            try parse(line(event))
                == Point(
                    measurement: "binnacle", tags: ["kind": "shock", "detector": "moved", "sensor": "chassis"],
                    fields: [
                        "seq": "7i", "identity": "a-b", "simulated": "true", "peak_g": "2.5000", "onset_ns": "-5i",
                    ],
                    nanoseconds: 1_795_596_815_250_123_000))
    }

    /// Without a wall clock, the stamp of the sample is the time.
    @Test func aReplayHasTheTimeOfItsTrace() throws {
        #expect(try parse(line(event())).nanoseconds == 1_000_000_007)
    }

    @Test(
        arguments: [
            "plain", "a b", "a,b", "a=b", "a\"b", "a\\b", "a\\", "\\", "\\ ", "a\\,b", "==,,  ", "ä ö 🧭", "a\nb",
            "a\r\tb", "\u{7f}",
        ])
    func namesAndTexts(text: String) throws {
        var event = event(1, kind: .detectorFailed, [Figure(.reason, .text(text)), Figure(.sector, .text(text))])
        event.detector = text
        let point = try parse(line(event))
        let spaced = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }))
        let name = spaced.hasSuffix("\\") ? spaced + " " : spaced
        #expect(point.tags["detector"] == name && point.tags["sector"] == name)
        let said = String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    scalar == "\n" ? ["\\", "n"] : scalar.value < 0x20 || scalar.value == 0x7f ? [" "] : [scalar]
                }))
        #expect(point.fields["reason"] == said)
        #expect(!line(event).contains("\n"))
    }

    @Test func whatIsNoNumberOrEmptyIsLeftOut() throws {
        var event = event(
            1, kind: .heading, [Figure(.heading, .number(.nan, decimals: 2)), Figure(.sector, .text(""))])
        event.detector = nil
        event.sensor = ""
        #expect(
            try parse(line(event))
                == Point(
                    measurement: "binnacle", tags: ["kind": "heading"], fields: ["seq": "1i"],
                    nanoseconds: 1_000_000_007))
    }

    /// Two points with the same measurement, tags and time are one for the database, so names are tags.
    @Test func twoSectorsAtOneSampleAreTwoPoints() throws {
        let points = try ["port", "starboard"].map {
            try parse(line(event(1, kind: .sectorEntered, [Figure(.sector, .text($0))])))
        }
        #expect(points[0].tags != points[1].tags)
    }

    /// The type of a field never changes, or the database refuses the point.
    @Test func everyKindOfEventIsAPoint() throws {
        for kind in EventKind.allCases {
            let figures = kind.row.figures.map { name -> Figure in
                switch name.row.type {
                case .number: Figure(name, name.number(1.5))
                case .integer, .stamp: Figure(name, .integer(3))
                case .word, .text: Figure(name, .text("x y"))
                }
            }
            let point = try parse(line(event(1, kind: kind, figures)))
            #expect(point.fields.count + point.tags.count == figures.count + 4, "\(kind)")
            // An event that is delivered again after a restart comes from its JSON in the store.
            var first = event(1, kind: kind, figures)
            for wall in [1_795_596_815_250_123_987, -1, Int64.min, .max] {
                first.wallNanoseconds = wall
                #expect(try line(Event(json: first.json)) == line(first))
            }
        }
    }

    /// An incomplete line of its own is removed; a whole one that lacks its end, and one of another program, is ended.
    @Test(arguments: [
        ("binnacle,kind=sho", ""), ("other,a=b c=", "other,a=b c=\n"), ("whole\nbinn", "whole\n"),
        ("binnacle,kind=a\"b seq=1i 1700000000000000000", "binnacle,kind=a\"b seq=1i 1700000000000000000\n"),
        ("binnacle,kind=shock,sensor=a\\ 1", ""), ("binnacle,kind=shock seq=1i", ""),
        // A point of 1970: the time stamp is cut.
        ("binnacle,kind=shock seq=1i 179601", ""),
        ("binnacle,kind=handler.failed seq=1i,reason=\"after 12", ""),
    ])
    func anIncompleteLineIsRepaired(left: String, kept: String) throws {
        let folder = try TemporaryFolder(["lines": left])
        let path = folder.path + "/lines"
        let reports = Reports()
        let handler = try ThreadedHandler(name: "lines", FileAppender.plan(path, as: .influx), report: reports.add)
        handler.handle(event(1))
        try waitUntil("a line; told: \(reports.all)") { handler.unfinishedCount == 0 }
        #expect(contents(of: path) == kept + line(event(1)) + "\n")
        handler.end(within: .zero)
    }
}
