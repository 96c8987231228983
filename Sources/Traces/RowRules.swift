import Binnacle

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
