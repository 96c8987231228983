import Binnacle

/// The samples of one row of a trace, and the state of each stream; one object serves a file.
///
/// Rows are the hot path of reading, so the fields are in raw memory that is allocated once and accessed without checks of
/// uniqueness or exclusivity. It never leaves this class, and every index comes from the file's decoder, which has as many
/// streams as the memory.
final class TraceRow {
    private struct Stream {
        var axisCount = 0
        /// The stamp of the last sample that was kept.
        var lastTimeNanoseconds: Int64 = 0
        var hasLastTime = false
        /// The number of samples dropped since then because their stamps went backwards, and the line of the first.
        var backwardCount = 0
        var firstBackwardLine = 0
    }

    private struct Stamp {
        var timeNanoseconds: Int64 = 0
        var isSet = false
    }

    let streamCount: Int
    private let stamp: UnsafeMutablePointer<Stamp>
    private let streams: UnsafeMutablePointer<Stream>
    private let axes: UnsafeMutablePointer<Float>

    /// The largest plausible value: 10⁷ m/s² (a million g) or 10⁷ µT (10 T); the square of a larger one might overflow.
    static let largest: Float = 1e7
    /// An axis count that three further axes cannot raise to three.
    private static let rejected = -3

    init(streamCount: Int) {
        self.streamCount = streamCount
        stamp = .allocate(capacity: 1)
        stamp.initialize(to: Stamp())
        streams = .allocate(capacity: streamCount)
        streams.initialize(repeating: Stream(), count: streamCount)
        axes = .allocate(capacity: streamCount * 3)
        axes.initialize(repeating: 0, count: streamCount * 3)
    }

    deinit {
        stamp.deallocate()
        streams.deallocate()
        axes.deallocate()
    }

    var timeNanoseconds: Int64 {
        get { stamp.pointee.timeNanoseconds }
        set { stamp.pointee = Stamp(timeNanoseconds: newValue, isSet: true) }
    }

    var hasTime: Bool { stamp.pointee.isSet }

    /// Whether the row has all three axes of a stream.
    func hasSample(_ stream: Int) -> Bool { streams[stream].axisCount == 3 }

    /// The sample of a stream that has all three axes, in m/s² or µT.
    func sample(_ stream: Int) -> Sample {
        Sample(
            timeNanoseconds: timeNanoseconds, x: axes[stream * 3], y: axes[stream * 3 + 1], z: axes[stream * 3 + 2])
    }

    var isEmpty: Bool {
        for stream in 0..<streamCount where hasSample(stream) { return false }
        return true
    }

    /// Adds an axis of a stream's sample.
    func set(_ stream: Int, _ axis: Int, _ value: Float) {
        axes[stream * 3 + axis] = value
        streams[stream].axisCount += 1
    }

    /// Rejects a stream's sample, also if axes are still to come.
    func reject(_ stream: Int) { streams[stream].axisCount = Self.rejected }

    func removeAll() {
        for stream in 0..<streamCount { streams[stream].axisCount = 0 }
        stamp.pointee.isSet = false
    }

    /// Removes the streams with only one or two axes, and returns whether there were any; rejected ones were reported and do not
    /// count.
    func removeIncomplete() -> Bool {
        var found = false
        for stream in 0..<streamCount where !hasSample(stream) {
            found = found || streams[stream].axisCount > 0
            streams[stream].axisCount = 0
        }
        return found
    }

    /// The stamp of a stream's last kept sample; `nil` before the first.
    func lastTimeNanoseconds(_ stream: Int) -> Int64? {
        streams[stream].hasLastTime ? streams[stream].lastTimeNanoseconds : nil
    }

    /// The last kept stamp of any stream; `nil` before the first.
    var lastTimeNanoseconds: Int64? {
        var latest: Int64?
        for stream in 0..<streamCount where streams[stream].hasLastTime {
            latest = max(latest ?? .min, streams[stream].lastTimeNanoseconds)
        }
        return latest
    }

    /// The last kept stamp of the streams that have a sample in this row; `nil` before the first.
    var lastTimeOfSamples: Int64? {
        var latest: Int64?
        for stream in 0..<streamCount where streams[stream].hasLastTime && hasSample(stream) {
            latest = max(latest ?? .min, streams[stream].lastTimeNanoseconds)
        }
        return latest
    }

    func keep(_ stream: Int, timeNanoseconds: Int64) {
        streams[stream].lastTimeNanoseconds = timeNanoseconds
        streams[stream].hasLastTime = true
        streams[stream].backwardCount = 0
    }

    /// Removes a sample whose stamp goes backwards, and returns how many in a row the stream has lost that way.
    func dropBackwards(_ stream: Int, line: Int) -> Int {
        streams[stream].axisCount = 0
        if streams[stream].backwardCount == 0 { streams[stream].firstBackwardLine = line }
        streams[stream].backwardCount += 1
        return streams[stream].backwardCount
    }

    /// The longest current run of samples that went backwards in any stream, and the line of its first.
    var longestBackwards: (count: Int, firstLine: Int) {
        var longest = (count: 0, firstLine: 0)
        for stream in 0..<streamCount where streams[stream].backwardCount > longest.count {
            longest = (streams[stream].backwardCount, streams[stream].firstBackwardLine)
        }
        return longest
    }
}

struct RowFlaw {
    let kind: TraceRepairs.Kind
    /// The position of the byte in the line, from 1.
    let column: Int
    let message: String
    /// Whether the rows before were read wrongly, so that reading fails.
    var endsReading = false

    /// The message about bytes that are 0, which no recorder writes; `nil` without one.
    static func zeroBytes(in bytes: some Sequence<UInt8>) -> String? {
        let count = bytes.count { $0 == 0 }
        return count > 0 ? "\(count) zero bytes, as a power failure leaves them" : nil
    }
}

/// The plausibility rules for rows in all formats: what is skipped, and what ends the reading.
///
/// A reader decodes into ``row`` and calls the members in this order; ``jumpsAhead`` is true when it first has to read the stamp
/// of the next row.
struct RowRules {
    /// The format's word for the position that it counts.
    enum Place: String {
        case line, row, message
    }

    let path: String
    let place: Place
    let row: TraceRow
    private(set) var repairs = TraceRepairs()
    /// The time of the laps of a counter that have ended, which all later stamps of the file are behind by.
    private(set) var lapsNanoseconds: Int64 = 0
    private var damagedInARow = 0
    private var firstDamaged = 0

    /// The number of unusable rows in a row after which reading fails, so that the remainder is not lost silently.
    static let mostInARow = 1000
    /// The number of backward stamps in a row at the end of a file that mean the clock was set back.
    static let fewestLost = 10
    /// A longer step ahead is accepted only if the next row confirms it.
    static let jumpNanoseconds: Int64 = 10_000_000_000

    init(path: String, place: Place, streamCount: Int) {
        self.path = path
        self.place = place
        row = TraceRow(streamCount: streamCount)
    }

    mutating func record(
        _ kind: TraceRepairs.Kind, at number: Int?, column: Int? = nil, _ message: @autoclosure () -> String
    ) {
        repairs.record(kind, path: path, line: number, column: column, message())
    }

    /// Counts and reports a row's flaw; throws ``TraceError`` after a thousand damaged rows in a row, and where the flaw says that
    /// rows before were read wrongly.
    mutating func record(_ flaw: RowFlaw, at number: Int) throws(TraceError) {
        if flaw.endsReading { throw TraceError(.data, path: path, line: number, column: flaw.column, flaw.message) }
        record(flaw.kind, at: number, column: flaw.column, flaw.message)
        guard row.isEmpty, flaw.kind.isDamage else { return }
        if damagedInARow == 0 { firstDamaged = number }
        damagedInARow += 1
        guard damagedInARow > Self.mostInARow else { return }
        throw TraceError(
            .data, path: path, line: number,
            "\(Self.mostInARow) \(place)s from \(place) \(firstDamaged) on have no usable sample: the file is damaged, or no trace"
        )
    }

    /// Ends a run of damaged rows.
    mutating func didUse() { damagedInARow = 0 }

    /// Whether the row's stamp is so far ahead of all before it that the next stamp has to be read first.
    var jumpsAhead: Bool {
        guard !row.isEmpty, let last = row.lastTimeNanoseconds else { return false }
        return row.timeNanoseconds > Units.later(last, by: Self.jumpNanoseconds)
    }

    /// Drops a row whose stamp is far ahead of both the previous and the next one.
    mutating func dropOutlier(following: Int64?, at number: Int) {
        // Otherwise everything after one corrupt stamp would go backwards. The next row may be of another stream, whose stamps
        // lag slightly, also after a pause of all streams.
        guard let last = row.lastTimeNanoseconds, let following,
            following >= Units.later(last, by: -Self.jumpNanoseconds),
            following < Units.later(row.timeNanoseconds, by: -Self.jumpNanoseconds / 2)
        else { return }
        let time = row.timeNanoseconds
        record(.outlier, at: number, "time jumps to \(time) ns and back in the next row: row skipped")
        row.removeAll()
    }

    /// The counter that seems to have begun again before the row, which the next stamp has to confirm; the latest stamp of another
    /// stream says nothing, because its rows may all stand before those of this one.
    func endedLap(of counters: @autoclosure () -> [CounterLap]) -> CounterLap? {
        guard let last = row.lastTimeOfSamples, row.timeNanoseconds < last else { return nil }
        return counters().first { $0.mayEnd(between: last, and: row.timeNanoseconds) }
    }

    /// Continues the time behind the end of a counter, unless the next row shows that the stamp was a stray one.
    mutating func begin(behind lap: CounterLap, following: Int64?, at number: Int) {
        // The next row may be of another stream, whose stamps lag slightly.
        let (start, end) = (-lap.nanoseconds / 1_000, lap.nanoseconds / 2)
        if let following {
            guard following > Units.later(row.timeNanoseconds, by: start),
                following < Units.later(row.timeNanoseconds, by: end)
            else { return }
        }
        lapsNanoseconds = Units.later(lapsNanoseconds, by: lap.nanoseconds)
        row.timeNanoseconds = Units.later(row.timeNanoseconds, by: lap.nanoseconds)
        record(.continued, at: number, "the time falls, as \(lap.words) do at their end: it is continued")
    }

    /// Throws ``TraceError`` where the first jump ahead is that of hours, minutes and seconds without signs between them at the end of a
    /// minute, as from 141559.9 to 141600.
    func refuseClock(at number: Int) throws(TraceError) {
        guard let last = row.lastTimeNanoseconds, last >= 0 else { return }
        let (before, after) = (last / 1_000_000_000, row.timeNanoseconds / 1_000_000_000)
        let isHour = before % 10_000 == 5959
        guard before % 100 == 59, after % 100 == 0, after - before == (isHour ? 4041 : 41) else { return }
        throw TraceError(
            .data, path: path, line: number,
            "the times jump from \(before) to \(after), as hours, minutes and seconds do that are written as one number (hhmmss): write "
                + "them as hh:mm:ss, or say with --map time=COLUMN:s that they are seconds")
    }

    /// Drops the samples whose stamps lie before the previous one of their stream.
    mutating func dropBackwards(at number: Int) throws(TraceError) {
        let time = row.timeNanoseconds
        for stream in 0..<row.streamCount where row.hasSample(stream) {
            guard let last = row.lastTimeNanoseconds(stream), time <= last else {
                row.keep(stream, timeNanoseconds: time)
                continue
            }
            if time == last {
                record(.repeated, at: number, "the stamp \(time) ns repeats the one before it")
                continue
            }
            record(.backwards, at: number, "time goes back from \(last) ns to \(time) ns: sample skipped")
            if row.dropBackwards(stream, line: number) > Self.mostInARow { throw clockSetBack(at: number) }
        }
    }

    /// Throws ``TraceError`` at the end of the file if a stream's clock was set back.
    func requireEnd(at number: Int) throws(TraceError) {
        if row.longestBackwards.count >= Self.fewestLost { throw clockSetBack(at: number) }
    }

    private func clockSetBack(at number: Int) -> TraceError {
        TraceError(
            .data, path: path, line: number,
            "the clock was set back and stayed there: split the file at \(place) \(row.longestBackwards.firstLine)")
    }
}
