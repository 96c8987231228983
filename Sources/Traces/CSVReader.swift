import Binnacle

/// Reads one CSV file as a sequence of windows, each in the order of arrival and with stamps that never fall.
final class CSVReader {
    let path: String
    let layout: CSVLayout
    /// What was assumed because the header does not say it.
    let notices: [TraceNotice]
    private(set) var repairs = TraceRepairs()

    /// How much of the file was read, from 0 to 1; `nil` for a pipe.
    var fraction: Double? {
        lines.size.map { $0 > 0 ? Double(lines.consumed) / Double($0) : 1 }
    }

    private let lines: LineReader
    private let parser: CSVRowParser
    /// The row read last.
    private let row: CSVRow
    /// The row after it, when that has to be looked at before the row can be believed.
    private let probe: CSVRow
    /// Whether that row belongs to the next window.
    private var isRowHeld = false
    private var hasSample = false
    private var badInARow = 0
    private var firstBad = 0
    private var lastBad: TraceRepairs.Kind?

    /// After so many rows without a usable sample, passing over them would mean losing the rest in silence.
    private static let mostBadInARow = 1000
    /// With so many at the end of a file a clock was set back; fewer are a hiccup.
    private static let fewestLost = 10
    /// A longer step ahead is believed only when the next row does not take it back.
    private static let jumpNanoseconds: Int64 = 10_000_000_000

    init(
        path: String, map: ColumnMap?, assumedKind: SampleKind?, isCancelled: @escaping () -> Bool
    ) throws(TraceError) {
        self.path = path
        lines = try LineReader(path: path, isCancelled: isCancelled)
        let head = try CSVHead(lines, map: map, assumedKind: assumedKind)
        layout = head.layout
        notices = head.notices
        parser = CSVRowParser(head)
        row = CSVRow(streamCount: layout.streams.count)
        probe = CSVRow(streamCount: layout.streams.count)
    }

    /// Appends samples to the batches of a window until one of them is full, the order of arrival steps back, or the
    /// file ends.
    ///
    /// - Parameters:
    ///   - window: A batch for each stream of the layout, empty.
    ///   - ranks: Each stream's place in the pipeline's order.
    /// - Returns: Whether there may be more.
    /// - Throws: ``TraceError`` when the file cannot be read any further; what is in the window by then is good.
    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        var lastTime = Int64.min
        var lastRank = -1
        var isEmpty = true
        while true {
            // Whoever writes into a pipe may be slow: what is there is handed over before the next wait.
            if !isEmpty, !isRowHeld, !lines.isLineReady { return true }
            if !isRowHeld, !(try readRow()) {
                try requireUse()
                return false
            }
            let time = row.timeNanoseconds
            let rank = row.lowestRank(ranks)
            isRowHeld = time < lastTime || (time == lastTime && rank < lastRank)
            if isRowHeld { return true }
            if time > lastTime { lastRank = -1 }
            lastTime = time
            hasSample = true
            isEmpty = false
            var isFull = false
            for stream in window.indices where row.hasSample(stream) {
                window[stream].append(
                    timeNanoseconds: time, x: row.axis(stream, 0), y: row.axis(stream, 1), z: row.axis(stream, 2))
                isFull = isFull || window[stream].isFull
                lastRank = max(lastRank, ranks[stream])
            }
            if isFull { return true }
        }
    }

    /// Makes sure, at the end of the file, that it was a trace and went on to the end.
    private func requireUse() throws(TraceError) {
        guard hasSample else {
            let message =
                badInARow > 0 ? "none of its \(badInARow) rows has a usable sample" : "has a header and no sample"
            throw TraceError(.data, path: path, line: lines.lineNumber, message)
        }
        if lastBad == .backwards, badInARow >= Self.fewestLost { throw clockSetBack(lines.lineNumber) }
    }

    /// Reads lines until one has a sample that can be used.
    ///
    /// - Returns: `false` at the end of the file.
    private func readRow() throws(TraceError) -> Bool {
        while let line = try lines.next() {
            if line.isBlank { continue }
            let flaw = parser.parse(line.bytes, into: row)
            if !line.isTerminated, flaw != nil || layout.isRecording {
                repairs.note(.torn, path: path, line: line.number, "the last line was not written to its end: skipped")
                return false
            }
            if let flaw { note(flaw.kind, line.number, flaw.column, flaw.message) }
            try dropOutlier(line.number)
            dropBackwards(line.number)
            guard row.isEmpty else {
                badInARow = 0
                return true
            }
            if badInARow == 0 { firstBad = line.number }
            badInARow += 1
            guard badInARow <= Self.mostBadInARow else { throw tooManyBad(line.number) }
        }
        return false
    }

    /// Takes out a row whose stamp is far ahead of its neighbours on both sides.
    ///
    /// One corrupt stamp would otherwise put everything after it into the past.
    private func dropOutlier(_ line: Int) throws(TraceError) {
        guard let last = row.lastTimeNanoseconds, !row.isEmpty,
            row.timeNanoseconds > Units.later(last, by: Self.jumpNanoseconds), let next = try lines.next()
        else { return }
        _ = parser.parse(next.bytes, into: probe)
        lines.putBack()
        guard !probe.isEmpty, probe.timeNanoseconds >= last, probe.timeNanoseconds < row.timeNanoseconds else { return }
        note(.outlier, line, nil, "time jumps to \(row.timeNanoseconds) ns and back in the next row: row skipped")
        row.removeAll()
    }

    /// Takes out the samples that lie before the previous one of their stream.
    private func dropBackwards(_ line: Int) {
        let time = row.timeNanoseconds
        for stream in 0..<row.streamCount where row.hasSample(stream) {
            guard let last = row.lastTimeNanoseconds(stream), time <= last else {
                row.keep(stream)
                continue
            }
            if time == last {
                note(.repeated, line, nil, "the stamp \(time) ns repeats the one before it")
            } else {
                note(.backwards, line, nil, "time goes back from \(last) ns to \(time) ns: sample skipped")
                row.removeSample(stream)
            }
        }
    }

    private func note(_ kind: TraceRepairs.Kind, _ line: Int, _ column: Int?, _ message: @autoclosure () -> String) {
        lastBad = kind
        repairs.note(kind, path: path, line: line, column: column, message())
    }

    private func tooManyBad(_ line: Int) -> TraceError {
        guard lastBad != .backwards else { return clockSetBack(line) }
        return TraceError(
            .data, path: path, line: line,
            "\(Self.mostBadInARow) lines from line \(firstBad) on have no usable sample: the file is damaged, or no trace"
        )
    }

    private func clockSetBack(_ line: Int) -> TraceError {
        TraceError(
            .data, path: path, line: line,
            "the clock was set back and stayed there: split the file at line \(firstBad)")
    }
}

extension CSVRow {
    fileprivate func lowestRank(_ ranks: [Int]) -> Int {
        var lowest = Int.max
        for stream in ranks.indices where hasSample(stream) { lowest = min(lowest, ranks[stream]) }
        return lowest
    }
}
