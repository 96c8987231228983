import Binnacle
import Testing
import Traces

/// Dates that do not begin with a year of four digits: which of year, month and day comes first.
@Suite struct DateOrderTests {
    private struct Read {
        var days: [Int64] = []
        var notices: [String] = []
        var failures: [String] = []
    }

    /// Reads rows at these times, and gives the days since 1970.
    private func read(_ times: [String], header: String = "time", map: String? = nil) throws -> Read {
        let rows = times.map { "\($0),0,0,9.81\n" }.joined()
        let file = try TemporaryFile("\(header),ax_m_s2,ay_m_s2,az_m_s2\n" + rows)
        var hints = TraceHints()
        hints.map = try map.map { try ColumnMap([$0]) }
        let trace = try TraceFile(path: file.path, hints: hints)
        let source = TraceSource([
            (file: trace, sensors: TraceSource.nameSensors(of: [trace], given: [trace.contents.map { _ in nil }])[0])
        ])
        let collected = Collected(source)
        return Read(
            days: collected.samples[0].map { $0.timeNanoseconds / 86_400_000_000_000 },
            notices: trace.notices.map(\.message), failures: collected.failures.map { "\($0)" })
    }

    private static let march4: Int64 = 19_786
    private static let april3: Int64 = 19_816

    @Test func aDayAboveTwelveSaysTheOrderOfTheWholeFile() throws {
        // 4 March, and 13 March behind it.
        let dayFirst = try read(["04/03/2024 10:00:00", "13/03/2024 10:00:01"])
        #expect(dayFirst.days == [Self.march4, Self.march4 + 9])
        let monthFirst = try read(["04/03/2024 10:00:00", "04/13/2024 10:00:01"])
        #expect(monthFirst.days == [Self.april3, Self.april3 + 10])
        #expect(!(dayFirst.notices + monthFirst.notices).contains { $0.contains("month/day/year") })
    }

    @Test func anOrderThatNothingSaysIsAssumedAndTold() throws {
        let found = try read(["04/03/2024 10:00:00", "04/03/2024 10:00:01"])
        #expect(found.days == [Self.april3, Self.april3])
        #expect(
            found.notices.contains {
                $0.contains("the dates in 'time' are taken as month/day/year") && $0.contains("'time=#1:dmy'")
            }, "\(found.notices)")
        // A later date may differ.
        let same = try read(["03/03/2024 10:00:00", "03/03/2024 10:00:01"])
        #expect(same.notices.contains { $0.contains("taken as month/day/year") })
    }

    @Test(
        arguments: [
            ("time", "time=time:dmy"), ("Time (dd/mm/yyyy)", nil), ("Time (dd/mm/yyyy hh:mm:ss)", nil),
            ("time [D/M/Y]", nil),
        ] as [(String, String?)])
    func theOrderCanBeStated(header: String, map: String?) throws {
        let found = try read(["04/03/2024 10:00:00", "04/03/2024 10:00:01"], header: header, map: map)
        #expect(found.days == [Self.march4, Self.march4])
        #expect(!found.notices.contains { $0.contains("month/day/year") }, "\(found.notices)")
    }

    @Test func theColumnOfTheDatesMayBeTheOneBefore() throws {
        let found = try read(["04/03/2024,10:00:00", "31/03/2024,10:00:01"], header: "date,time")
        #expect(found.days == [Self.march4, Self.march4 + 27])
    }

    /// Who names the column of the dates, or its header, means that of the clock behind it.
    @Test(arguments: [
        ("date,time", "time=date:dmy"), ("date,time", "time=#1:dmy"), ("date,time", "time=time:dmy"),
        ("Date (dd/mm/yyyy),time", "time=time"),
    ])
    func theOrderMayBeThatOfTheColumnOfDates(header: String, map: String) throws {
        let found = try read(["04/03/2024,10:00:00", "04/03/2024,10:00:01"], header: header, map: map)
        #expect(found.days == [Self.march4, Self.march4] && found.failures.isEmpty)
    }

    @Test func aDamagedDateOfAKnownOrderIsOneRow() throws {
        var times = (10..<40).map { "14/03/2024 10:00:\($0)" }
        times[20] = "04/15/2024 10:00:30"
        let found = try read(times)
        #expect(found.days == Array(repeating: Self.march4 + 10, count: 29) && found.failures.isEmpty)
    }

    @Test(arguments: ["time", "date,time"])
    func aDateThatContradictsTheOrderEndsTheReading(header: String) throws {
        let blank = header == "time" ? " " : ","
        // More rows than are examined for what the header leaves open.
        let times = (0..<300).map { "04/03/2024\(blank)10:\(10 + $0 / 50):\(10 + $0 % 50)" }
        let found = try read(times + ["13/03/2024\(blank)23:00:00"], header: header)
        #expect(found.days.allSatisfy { $0 == Self.april3 })
        #expect(found.failures.count == 1)
        let column = header == "time" ? 1 : 2
        #expect(
            found.failures.first?.contains(
                "is day/month/year, and the dates before are taken as month/day/year: say which they are with "
                    + "--map 'time=#\(column):dmy'") == true, "\(found.failures)")
    }

    @Test(arguments: ["-", "."])
    func datesWithOtherSignsHaveAnOrderToo(sign: String) throws {
        func dates(_ texts: [String]) -> [String] {
            texts.enumerated().map { $1.replacing("/", with: sign) + " 10:00:0\($0)" }
        }
        let times = dates(["04/03/2024", "04/03/2024"])
        #expect(try read(times, map: "time=time:mdy").days == [Self.april3, Self.april3])
        let assumed = try read(times)
        #expect(assumed.days == [Self.march4, Self.march4])
        #expect(
            assumed.notices.contains { $0.contains("taken as day/month/year, and month/day/year is possible") },
            "\(assumed.notices)")
        let shown = try read(dates(["04/03/2024", "04/13/2024"]))
        #expect(shown.days == [Self.april3, Self.april3 + 10])
    }

    @Test(arguments: ["24/03/04 23:59:58", "24-03-04 23:59:58", "\"24/03/04,23:59:58\""])
    func aYearOfTwoDigitsMayBeFirst(text: String) throws {
        let times = [text, text.replacing("58", with: "59")]
        let open = try read(times)
        #expect(
            open.notices.contains { $0.contains("year/month/day is possible") && $0.contains("'time=#1:ymd'") },
            "\(open.notices)")
        #expect(try read(times, map: "time=time:ymd").days == [Self.march4, Self.march4])
        // The year does not change from day to day.
        let shown = try read([text, text.replacing("04", with: "05")])
        #expect(shown.days == [Self.march4, Self.march4 + 1])
        #expect(!shown.notices.contains { $0.contains("is possible") })
    }

    @Test func otherDatesHaveOneOrder() throws {
        #expect(try read(["04.03.2024 10:00:00", "04.03.2024 10:00:01"]).days == [Self.march4, Self.march4])
        #expect(try read(["2024/03/04 10:00:00", "2024/03/04 10:00:01"]).days == [Self.march4, Self.march4])
        #expect(try read(["4/Mar/2024 10:00:00", "4/Mar/2024 10:00:01"]).days == [Self.march4, Self.march4])
    }
}
