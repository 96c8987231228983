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
    /// Whether that row belongs to the next window.
    private var isRowHeld = false
    private var hasSample = false
    private var badInARow = 0
    private var lastBad: TraceRepairs.Kind?

    /// After so many rows without a usable sample, passing over them would mean losing the rest in silence.
    private static let mostBadInARow = 1000

    init(path: String, map: ColumnMap? = nil, assumedKind: SampleKind? = nil) throws(TraceError) {
        self.path = path
        lines = try LineReader(path: path)
        let head = try CSVHead(lines, map: map, assumedKind: assumedKind)
        layout = head.layout
        notices = head.notices
        parser = CSVRowParser(head)
        row = CSVRow(streamCount: layout.streams.count)
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
        while true {
            if !isRowHeld, !(try readRow()) {
                guard hasSample else {
                    throw TraceError(.data, path: path, line: lines.lineNumber, "has a header and no sample")
                }
                return false
            }
            let time = row.timeNanoseconds
            let rank = row.lowestRank(ranks)
            isRowHeld = time < lastTime || (time == lastTime && rank < lastRank)
            if isRowHeld { return true }
            if time > lastTime { lastRank = -1 }
            lastTime = time
            hasSample = true
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
            dropBackwards(line.number)
            guard row.isEmpty else {
                badInARow = 0
                return true
            }
            badInARow += 1
            guard badInARow <= Self.mostBadInARow else { throw tooManyBad(line.number) }
        }
        return false
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
        let first = line - Self.mostBadInARow
        let message =
            lastBad == .backwards
            ? "the clock was set back and stayed there: split the file at line \(first)"
            : "\(Self.mostBadInARow) lines from line \(first) on have no usable sample: the file is damaged, or no trace"
        return TraceError(.data, path: path, line: line, message)
    }
}

extension CSVRow {
    fileprivate func lowestRank(_ ranks: [Int]) -> Int {
        var lowest = Int.max
        for stream in ranks.indices where hasSample(stream) { lowest = min(lowest, ranks[stream]) }
        return lowest
    }
}
