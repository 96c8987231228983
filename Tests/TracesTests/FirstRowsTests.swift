import Binnacle
import Foundation
import TestSupport
import Testing
import Traces

/// What the first rows of a table show that its header does not say, and what is refused for it.
@Suite struct FirstRowsTests {
    private func read(
        _ text: String, map: String? = nil, rateHz: Double? = nil
    ) throws -> (streams: [SampleKind], samples: [[Sample]], notices: [String]) {
        let file = try TemporaryFile(text)
        var hints = TraceHints()
        hints.map = try map.map { try ColumnMap([$0]) }
        hints.rateHz = rateHz
        let trace = try TraceFile(path: file.path, hints: hints)
        let sensors = TraceSource.nameSensors(of: [trace], given: [trace.contents.map { _ in nil }])[0]
        let source = TraceSource([(file: trace, sensors: sensors)])
        return (source.streams.map(\.kind), Collected(source).samples, trace.notices.map(\.message))
    }

    private func refusal(_ text: String, map: String? = nil, rateHz: Double? = nil) throws -> TraceError {
        try #require(throws: TraceError.self) { try read(text, map: map, rateHz: rateHz) }
    }

    private static func rows(_ count: Int = 120, _ row: (Int) -> String) -> String {
        (0..<count).map { row($0) + "\n" }.joined()
    }

    /// Gravity that turns slowly, in g, from a direction of its own for each device.
    private static func vector(_ row: Int, device: Int = 0, size: Double = 1) -> String {
        let angle = Double(row) / 400 + Double(device)
        return [0.3 * sin(angle), 0.95 * sin(angle + 1), 0.95 * cos(angle + 1)]
            .map { String(format: "%.4f", size * $0) }.joined(separator: ",")
    }

    // MARK: - Numbers of rows

    @Test(arguments: ["t", "Time", "Timestamp"])
    func aTimeThatCountsRowsIsNone(name: String) throws {
        let text = "\(name),ax,ay,az\n" + Self.rows { "\($0 + 5),\(Self.vector($0))" }
        let error = try refusal(text)
        #expect(error.remedy == .options(["--rate", "100"]))
        #expect(error.message.contains("rises by 1 with each row") && error.message.contains("'time=#1:s'"), "\(error)")
        let played = try read(text, rateHz: 50)
        #expect(played.samples[0][1].timeNanoseconds == 20_000_000)
        #expect(try read(text, map: "time=#1:s").samples[0][1].timeNanoseconds == 6_000_000_000)
        // A rate before the rows replaces them, and one of 1 Hz confirms them.
        #expect(try read("Sampling rate: 50 Hz\n" + text).samples[0][1].timeNanoseconds == 20_000_000)
        #expect(try read("Sampling rate: 1 Hz\n" + text).samples[0][1].timeNanoseconds == 6_000_000_000)
    }

    @Test func aRowASecondIsPlayed() throws {
        let times: [(name: String, stamp: (Int) -> String)] = [
            ("time_s", { "\($0)" }), ("t [s]", { "\($0)" }), ("seconds", { "\($0)" }), ("time", { "\($0).0" }),
            ("timestamp", { "\(1_700_000_000 + $0)" }), ("time", { "\($0 + $0 / 50)" }),
        ]
        for (name, stamp) in times {
            let found = try read("\(name),ax,ay,az\n" + Self.rows { "\(stamp($0)),\(Self.vector($0))" })
            #expect(
                found.samples[0][1].timeNanoseconds - found.samples[0][0].timeNanoseconds == 1_000_000_000, "\(name)")
        }
    }

    @Test(arguments: [("seq", 2), ("Packet number", 2), ("seq", 1), ("frame", 5)])
    func aCounterIsNotOfferedAsATime(name: String, step: Int) throws {
        let error = try refusal("\(name),ax,ay,az\n" + Self.rows { "\(115 + $0 * step + $0 % 2),\(Self.vector($0))" })
        #expect(error.remedy == .options(["--rate", "100"]), "\(error)")
        #expect(error.message.contains("Nothing says how many samples a second"))
        // Stamps since 1970, and longer steps, are times.
        let times = try refusal("seq,ax,ay,az\n" + Self.rows { "\($0 * 20),\(Self.vector($0))" })
        #expect(times.remedy == .options(["--map", "time=seq:ms"]))
    }

    @Test func anEmptyColumnIsNoTime() throws {
        let text =
            "PacketCounter,SampleTimeFine,Acc_X,Acc_Y,Acc_Z\n"
            + Self.rows { "\(65_400 + $0),,\(Self.vector($0, size: 9.81))" }
        #expect(try refusal(text).remedy == .options(["--rate", "100"]))
        #expect(try read(text, rateHz: 100).samples[0].count == 120)
    }

    // MARK: - Times that go back

    @Test func timesThatGoBackAgainAndAgainAreRefused() throws {
        let unpadded =
            "Time,aX,aY,aZ\n"
            + Self.rows { row in
                let tenThousandths = row * 10_000 / 15
                return "13:16:\(10 + tenThousandths / 10_000).\(tenThousandths % 10_000),\(Self.vector(row))"
            }
        let error = try refusal(unpadded)
        #expect(error.message.contains("lie before an earlier one, first in row 3"), "\(error)")
        #expect(error.message.contains("leading zeros"))
        // A clock that is set back once, single rows out of order, and midnight.
        let set = try read(
            "time_s,ax,ay,az\n" + Self.rows { "\(Double($0 - ($0 > 60 ? 20 : 0)) / 50),\(Self.vector($0))" })
        #expect(set.samples[0].count == 101)
        let some = try read(
            "time_s,ax,ay,az\n" + Self.rows { "\(Double($0 % 30 == 7 ? $0 - 3 : $0) / 50),\(Self.vector($0))" })
        #expect(some.samples[0].count == 116)
        let days = try read(
            "time,ax,ay,az\n" + Self.rows { "\($0 * 7 % 24 < 10 ? "0" : "")\($0 * 7 % 24):00:00,\(Self.vector($0))" })
        #expect(days.samples[0].count == 120)
    }
}
