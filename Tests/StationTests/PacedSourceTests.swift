import Binnacle
import Station
import TestSupport
import Testing
import Traces

private let millisecond: Int64 = 1_000_000
private let second: Int64 = 1_000_000_000

/// A time that a test moves.
private final class TestClock {
    var nanoseconds: Int64
    init(_ nanoseconds: Int64) { self.nanoseconds = nanoseconds }
}

/// A recording of two streams; each row is a delivery, or several when they fit.
private final class RowSource: SampleSource {
    let streams: [SampleStream]
    /// What is said behind the last row, before the end.
    var failure: (any Error)?
    /// How often there is nothing yet, before the first row.
    var pendingCount = 0
    private var rows: [(stream: Int, time: Int64)]

    init(_ rows: [(stream: Int, time: Int64)], kinds: [SampleKind] = [.magnetometer, .accelerometer]) {
        self.rows = rows
        let sensor = Sensor(name: "phone")
        streams = kinds.map { SampleStream(sensor: sensor, kind: $0) }
    }

    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if pendingCount > 0 {
            pendingCount -= 1
            return .pending
        }
        guard !rows.isEmpty else {
            guard let failure else { return .ended }
            self.failure = nil
            return .failed([streams[0]], reason: failure)
        }
        var last = Int64.min
        while let row = rows.first, row.time >= last, !delivery.batches[row.stream].isFull {
            delivery.batches[row.stream].append(timeNanoseconds: row.time, x: Float(row.stream), y: 0, z: 0)
            last = row.time
            rows.removeFirst()
            if delivery.capacity == 1 { break }
        }
        return .samples
    }
}

@Suite struct PacedSourceTests {
    private let clock = TestClock(1000 * second)

    /// Plays by a clock that jumps to whenever the source says; each entry is the stream, its stamp and the time of
    /// play, in milliseconds, or an answer.
    private func play(
        _ source: PacedSource, most: Int = 20, in streams: [SampleStream]? = nil, capacity: Int = 1,
        unit: Int64 = millisecond, isStrict: Bool = true
    ) -> [String] {
        let delivery = SampleDelivery(streams: streams ?? source.streams, capacity: capacity)
        var entries: [String] = []
        for _ in 0..<1000 where entries.count < most {
            delivery.removeAll()
            let answer = source.fill(delivery)
            for (stream, batch) in delivery.batches.enumerated() {
                for index in 0..<batch.count {
                    let time = batch[index].timeNanoseconds / unit
                    entries.append("\(stream): \(time) at \((clock.nanoseconds - 1000 * second) / unit)")
                }
            }
            switch answer {
            case .samples: break
            case .pending:
                guard let due = source.nextDueNanoseconds else { return entries + ["pending"] }
                #expect(due > clock.nanoseconds)
                if isStrict {
                    clock.nanoseconds = due - 1
                    guard case .pending = source.fill(delivery) else { return entries + ["too early"] }
                }
                clock.nanoseconds = due
            case .failed(let streams, let reason):
                let places = streams.map { "\(delivery.index(of: $0.id) ?? -1) \($0.kind)" }
                entries.append("failed \(places): \(reason)")
            case .ended: return entries + ["ended"]
            }
        }
        return entries
    }

    private func paced(
        _ rows: [(stream: Int, time: Int64)], speed: Double = 1, shiftsToClock: Bool = false,
        capacity: Int = 1, reopen: @escaping PacedSource.Reopening = { () throws(StationError) in nil }
    ) -> PacedSource {
        let clock = clock
        return PacedSource(
            RowSource(rows.map { ($0, $1 * millisecond) }), speed: speed, shiftsToClock: shiftsToClock,
            capacity: capacity,
            clock: { clock.nanoseconds }, reopen: reopen)
    }

    private let rows: [(stream: Int, time: Int64)] = [(0, 5000), (1, 5003), (1, 5013), (0, 5020), (1, 5023), (1, 5033)]

    @Test func samplesComeAtTheirTimesWithTheirOwnStamps() {
        #expect(
            play(paced(rows)) == [
                "0: 5000 at 0", "1: 5003 at 3", "1: 5013 at 13", "0: 5020 at 20", "1: 5023 at 23", "1: 5033 at 33",
                "ended",
            ])
    }

    @Test func recordedTimePassesAsFastAsAsked() {
        #expect(
            play(paced(Array(rows[..<3]), speed: 0.5))
                == ["0: 5000 at 0", "1: 5003 at 6", "1: 5013 at 26", "ended"])
        clock.nanoseconds = 1000 * second
        // A time of play is rounded up to the nanosecond.
        #expect(
            play(paced(Array(rows[..<2]), speed: 3), unit: 1)
                == ["0: 5000000000 at 0", "1: 5003000000 at 1000000", "ended"])
    }

    @Test func aDeliveryComesWhenItsLastSampleIsDue() {
        #expect(
            play(paced(rows, capacity: 2), capacity: 4) == [
                "0: 5000 at 20", "0: 5020 at 20", "1: 5003 at 20", "1: 5013 at 20", "1: 5023 at 33", "1: 5033 at 33",
                "ended",
            ])
    }

    @Test func aStepBackInTimeIsNotWaitedFor() {
        #expect(
            play(paced([(0, 100), (0, 200), (1, 50), (1, 210)]))
                == ["0: 100 at 0", "0: 200 at 100", "1: 50 at 100", "1: 210 at 110", "ended"])
    }

    @Test func stampsMayBeMovedToTheClock() {
        #expect(
            play(paced(rows, shiftsToClock: true)) == [
                "0: 1000000 at 0", "1: 1000003 at 3", "1: 1000013 at 13", "0: 1000020 at 20", "1: 1000023 at 23",
                "1: 1000033 at 33", "ended",
            ])
    }

    @Test(arguments: [false, true])
    func aTraceMayBePlayedForEver(shiftsToClock: Bool) {
        let first: Int64 = shiftsToClock ? 1_000_000 : 5000
        var passes = 0
        let source = paced(rows, shiftsToClock: shiftsToClock) { [rows] () throws(StationError) in
            passes += 1
            return RowSource(rows.map { ($0, $1 * millisecond) })
        }
        // The usual interval of the accelerometer, the faster one, is 10 ms.
        let expected = (0..<18).map { number in
            let offset = rows[number % 6].time - 5000 + Int64(number / 6) * 43
            return "\(rows[number % 6].stream): \(first + offset) at \(offset)"
        }
        #expect(play(source, most: 18) == expected)
        #expect(passes == 2)
    }

    @Test func aTraceOfOneSampleOrWithoutLengthDoesNotSpin() {
        let one = paced([(0, 7)]) { () throws(StationError) in RowSource([(0, 7 * millisecond)]) }
        #expect(play(one, most: 3) == ["0: 7 at 0", "0: 1007 at 1000", "0: 2007 at 2000"])
        clock.nanoseconds = 1000 * second
        let short = paced([(0, 7), (0, 7)]) { () throws(StationError) in
            RowSource([(0, 7 * millisecond), (0, 7 * millisecond + 1)])
        }
        #expect(play(short, most: 4).last == "0: 1007 at 1000")
        let empty = paced([]) { () throws(StationError) in RowSource([]) }
        #expect(play(empty) == ["ended"])
        // Nothing is left: it does not ask for ever.
        let emptied = paced([(0, 7)]) { () throws(StationError) in RowSource([]) }
        #expect(play(emptied).last == "ended")
    }

    @Test func aTraceThatCannotBeOpenedAgainFails() {
        let source = paced([(0, 7), (1, 9)]) { () throws(StationError) in throw StationError(.noInput, "t.csv: gone") }
        #expect(
            play(source)
                == ["0: 7 at 0", "1: 9 at 2", #"failed ["0 magnetometer", "1 accelerometer"]: t.csv: gone"#, "ended"])
        #expect(source.nextDueNanoseconds == nil)
    }

    @Test func aStreamThatIsGoneWhenTheTraceIsOpenedAgainFails() {
        let source = paced([(0, 7), (1, 17)]) { () throws(StationError) in
            RowSource([(0, 0), (0, 10 * millisecond)], kinds: [.accelerometer])
        }
        let played = play(source, most: 5)
        #expect(played[2].hasPrefix(#"failed ["0 magnetometer"]"#))
        // No stream had two stamps in the first pass.
        #expect(played[3...] == ["1: 1017 at 1010", "1: 1027 at 1020"])
    }

    @Test func aFailureIsHandedOnAndTheNextPassBegins() {
        let first = RowSource([(0, 0), (0, 10 * millisecond), (1, 10 * millisecond)])
        first.failure = StationError(.data, "t.csv:4: torn")
        let clock = clock
        let source = PacedSource(first, clock: { clock.nanoseconds }) { () throws(StationError) in
            RowSource([(0, 0)])
        }
        #expect(
            play(source, most: 5) == [
                "0: 0 at 0", "0: 10 at 10", "1: 10 at 10", #"failed ["0 magnetometer"]: t.csv:4: torn"#, "0: 20 at 20",
            ])
    }

    @Test func aSourceThatHasNothingYetIsAskedAgain() {
        let inner = RowSource([(0, 0), (1, 10 * millisecond)])
        inner.pendingCount = 3
        let clock = clock
        let source = PacedSource(inner, shiftsToClock: true, clock: { clock.nanoseconds })
        // The play begins with the first sample.
        #expect(play(source, isStrict: false) == ["0: 1000030 at 30", "1: 1000040 at 40", "ended"])
    }

    @Test func streamsFindTheirPlacesInAnyDelivery() {
        let source = paced([(0, 0), (1, 10)]) { () throws(StationError) in RowSource([(0, 0), (1, 10 * millisecond)]) }
        let guests = ["one", "other"].map { SampleStream(sensor: Sensor(name: $0), kind: .accelerometer) }
        let streams = [guests[0], source.streams[1], guests[1], source.streams[0]]
        #expect(
            play(source, most: 4, in: streams)
                == ["3: 0 at 0", "1: 10 at 10", "3: 1010 at 1010", "1: 1020 at 1020"])
    }

    @Test(arguments: [false, true])
    func stampsAtBothEndsOfTimeDoNotTrap(shiftsToClock: Bool) {
        let rows: [(stream: Int, time: Int64)] = [(0, .min), (1, -1), (0, .max), (1, .max)]
        let clock = clock
        let source = PacedSource(RowSource(rows), shiftsToClock: shiftsToClock, clock: { clock.nanoseconds }) {
            () throws(StationError) in
            RowSource(rows)
        }
        #expect(play(source, most: 12).count == 12)
    }

    @Test func aTraceFileIsPlayedAgainFromItsStart() throws {
        let file = try TemporaryFile("time_ms,ax,ay,az\n0,1,0,9.8\n10,2,0,9.8\n20,3,0,9.8\n")
        let clock = clock
        func open() throws(StationError) -> TraceSource {
            do throws(TraceError) {
                return try TraceSource(paths: [file.path])
            } catch {
                throw StationError(error)
            }
        }
        let source = PacedSource(try open(), shiftsToClock: true, clock: { clock.nanoseconds }) {
            () throws(StationError) in
            try open()
        }
        #expect(
            play(source, most: 5) == [
                "0: 1000000 at 0", "0: 1000010 at 10", "0: 1000020 at 20", "0: 1000030 at 30", "0: 1000040 at 40",
            ])
    }
}
