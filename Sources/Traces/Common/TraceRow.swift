import Binnacle

/// The samples of one stamp, and the stamps of the rows before it; one object serves a whole file.
///
/// Rows are the hot path of reading, so the fields lie in raw memory that is allocated once and reached without
/// checks of uniqueness or exclusivity. It never leaves this class, and every index comes from the file's decoder,
/// which has as many streams as the memory has room for.
final class TraceRow {
    let streamCount: Int
    private let stamp: UnsafeMutablePointer<Int64>
    private let axisCounts: UnsafeMutablePointer<Int>
    private let axes: UnsafeMutablePointer<Float>
    private let lastStamps: UnsafeMutablePointer<Int64>
    private let haveLast: UnsafeMutablePointer<Bool>
    private let backCounts: UnsafeMutablePointer<Int>
    private let backLines: UnsafeMutablePointer<Int>
    private let isTimed: UnsafeMutablePointer<Bool>

    /// A million g, or 10 T: what is beyond 10⁷ m/s² or µT is a fault, and its square would leave Float's range.
    static let largest: Float = 1e7
    /// An axis count that three good axes cannot bring up to three.
    private static let spoilt = -3

    init(streamCount: Int) {
        self.streamCount = streamCount
        stamp = .allocate(capacity: 1)
        stamp.initialize(to: 0)
        axisCounts = .allocate(capacity: streamCount)
        axisCounts.initialize(repeating: 0, count: streamCount)
        axes = .allocate(capacity: streamCount * 3)
        axes.initialize(repeating: 0, count: streamCount * 3)
        lastStamps = .allocate(capacity: streamCount)
        lastStamps.initialize(repeating: 0, count: streamCount)
        haveLast = .allocate(capacity: streamCount)
        haveLast.initialize(repeating: false, count: streamCount)
        backCounts = .allocate(capacity: streamCount)
        backCounts.initialize(repeating: 0, count: streamCount)
        backLines = .allocate(capacity: streamCount)
        backLines.initialize(repeating: 0, count: streamCount)
        isTimed = .allocate(capacity: 1)
        isTimed.initialize(to: false)
    }

    deinit {
        stamp.deallocate()
        axisCounts.deallocate()
        axes.deallocate()
        lastStamps.deallocate()
        haveLast.deallocate()
        backCounts.deallocate()
        backLines.deallocate()
        isTimed.deallocate()
    }

    var timeNanoseconds: Int64 {
        get { stamp.pointee }
        set {
            stamp.pointee = newValue
            isTimed.pointee = true
        }
    }

    /// Whether the row has a stamp of its own.
    var hasTime: Bool { isTimed.pointee }

    /// Whether the row has all three axes of a stream.
    func hasSample(_ stream: Int) -> Bool { axisCounts[stream] == 3 }

    /// One axis of a stream's sample, in m/s² or µT.
    func axis(_ stream: Int, _ axis: Int) -> Float { axes[stream * 3 + axis] }

    var isEmpty: Bool {
        for stream in 0..<streamCount where hasSample(stream) { return false }
        return true
    }

    /// Adds an axis of a stream's sample.
    func set(_ stream: Int, _ axis: Int, _ value: Float) {
        axes[stream * 3 + axis] = value
        axisCounts[stream] += 1
    }

    /// Takes a stream's sample out, whatever comes of it yet.
    func spoil(_ stream: Int) { axisCounts[stream] = Self.spoilt }

    func removeSample(_ stream: Int) { axisCounts[stream] = 0 }

    func removeAll() {
        for stream in 0..<streamCount { axisCounts[stream] = 0 }
        isTimed.pointee = false
    }

    /// Takes out the streams that have one or two of their axes.
    ///
    /// - Returns: Whether there was one.
    func removeIncomplete() -> Bool {
        var found = false
        for stream in 0..<streamCount where axisCounts[stream] != 3 && axisCounts[stream] != 0 {
            // A spoilt one has been complained about.
            if axisCounts[stream] > 0 { found = true }
            axisCounts[stream] = 0
        }
        return found
    }

    /// The stamp of the last sample of a stream that was kept; `nil` before the first.
    func lastTimeNanoseconds(_ stream: Int) -> Int64? { haveLast[stream] ? lastStamps[stream] : nil }

    /// The last stamp of any stream that was kept; `nil` before the first.
    var lastTimeNanoseconds: Int64? {
        var latest: Int64?
        for stream in 0..<streamCount where haveLast[stream] { latest = max(latest ?? .min, lastStamps[stream]) }
        return latest
    }

    /// Makes the row's stamp the last one of a stream.
    func keep(_ stream: Int) {
        keep(stream, timeNanoseconds: stamp.pointee)
    }

    /// Makes a stamp the last one of a stream whose samples did not go through the row.
    func keep(_ stream: Int, timeNanoseconds: Int64) {
        lastStamps[stream] = timeNanoseconds
        haveLast[stream] = true
        backCounts[stream] = 0
    }

    /// Takes a sample out that lies in its stream's past.
    ///
    /// - Returns: How many of the stream have been taken out since the last one that was kept.
    func stepBack(_ stream: Int, line: Int) -> Int {
        removeSample(stream)
        if backCounts[stream] == 0 { backLines[stream] = line }
        backCounts[stream] += 1
        return backCounts[stream]
    }

    /// The most samples in the past with which a stream stands now, and the line of their first.
    var longestStepBack: (count: Int, firstLine: Int) {
        var longest = (count: 0, firstLine: 0)
        for stream in 0..<streamCount where backCounts[stream] > longest.count {
            longest = (backCounts[stream], backLines[stream])
        }
        return longest
    }
}

/// What is wrong with a row.
struct RowFlaw {
    let kind: TraceRepairs.Kind
    /// The byte in the line, from 1.
    let column: Int
    let message: String
}

/// Which rows are believed, in whatever format they come: what may be passed over, and what may not.
///
/// A reader decodes into ``row``, asks of each row what there is to ask, in the order of the members here, and looks for the
/// next one's stamp where one is in doubt.
struct RowRules {
    /// What the format calls the places that it counts.
    enum Place: String {
        case line, row
    }

    let path: String
    let place: Place
    /// The row read last.
    let row: TraceRow
    private(set) var repairs = TraceRepairs()
    private var damagedInARow = 0
    private var firstDamaged = 0

    /// After so many rows that cannot be used, passing over them would mean losing the rest in silence.
    static let mostInARow = 1000
    /// With so many at the end of a file a clock was set back; fewer are a hiccup.
    static let fewestLost = 10
    /// A longer step ahead is believed only when the next row does not take it back.
    static let jumpNanoseconds: Int64 = 10_000_000_000

    init(path: String, place: Place, streamCount: Int) {
        self.path = path
        self.place = place
        row = TraceRow(streamCount: streamCount)
    }

    /// Accounts for something else that was passed over.
    mutating func note(
        _ kind: TraceRepairs.Kind, at number: Int?, column: Int? = nil, _ message: @autoclosure () -> String
    ) {
        repairs.note(kind, path: path, line: number, column: column, message())
    }

    /// Accounts for a flaw of the row; a thousand damaged ones on end are the end.
    mutating func note(_ flaw: RowFlaw, at number: Int) throws(TraceError) {
        note(flaw.kind, at: number, column: flaw.column, flaw.message)
        guard row.isEmpty, flaw.kind.isDamage else { return }
        if damagedInARow == 0 { firstDamaged = number }
        damagedInARow += 1
        guard damagedInARow > Self.mostInARow else { return }
        throw TraceError(
            .data, path: path, line: number,
            "\(Self.mostInARow) \(place)s from \(place) \(firstDamaged) on have no usable sample: the file is damaged, or no trace"
        )
    }

    /// Takes note of a row that is used.
    mutating func didUse() { damagedInARow = 0 }

    /// Whether the row's stamp is far ahead of everything before it, so that the next one has to be seen first.
    var jumpsAhead: Bool {
        guard !row.isEmpty, let last = row.lastTimeNanoseconds else { return false }
        return row.timeNanoseconds > Units.later(last, by: Self.jumpNanoseconds)
    }

    /// Takes out a row whose stamp is far ahead of its neighbours on both sides.
    ///
    /// One corrupt stamp would otherwise put everything after it into the past.
    ///
    /// - Parameters:
    ///   - following: The stamp of the next row; `nil` when there is none.
    ///   - number: Where the row stands.
    mutating func dropOutlier(following: Int64?, at number: Int) {
        // The next row may be of another stream, whose stamps lag a little behind, also where all go on after a pause.
        guard let last = row.lastTimeNanoseconds, let following,
            following >= Units.later(last, by: -Self.jumpNanoseconds),
            following < Units.later(row.timeNanoseconds, by: -Self.jumpNanoseconds / 2)
        else { return }
        let time = row.timeNanoseconds
        note(.outlier, at: number, "time jumps to \(time) ns and back in the next row: row skipped")
        row.removeAll()
    }

    /// Takes out the samples that lie before the previous one of their stream.
    mutating func dropBackwards(at number: Int) throws(TraceError) {
        let time = row.timeNanoseconds
        for stream in 0..<row.streamCount where row.hasSample(stream) {
            guard let last = row.lastTimeNanoseconds(stream), time <= last else {
                row.keep(stream)
                continue
            }
            if time == last {
                note(.repeated, at: number, "the stamp \(time) ns repeats the one before it")
                continue
            }
            note(.backwards, at: number, "time goes back from \(last) ns to \(time) ns: sample skipped")
            if row.stepBack(stream, line: number) > Self.mostInARow { throw clockSetBack(at: number) }
        }
    }

    /// Makes sure, at the end of the file, that no stream ends in its own past.
    func requireEnd(at number: Int) throws(TraceError) {
        if row.longestStepBack.count >= Self.fewestLost { throw clockSetBack(at: number) }
    }

    private func clockSetBack(at number: Int) -> TraceError {
        TraceError(
            .data, path: path, line: number,
            "the clock was set back and stayed there: split the file at \(place) \(row.longestStepBack.firstLine)")
    }
}
