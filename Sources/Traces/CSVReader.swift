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
    private var rowCount = 0
    /// Whether the row jumps far ahead, and the next one has not been looked at.
    private var isRowDoubted = false
    private var damagedInARow = 0
    private var firstDamaged = 0
    private let isCancelled: () -> Bool

    /// After so many rows that cannot be used, passing over them would mean losing the rest in silence.
    private static let mostInARow = 1000
    /// With so many at the end of a file a clock was set back; fewer are a hiccup.
    private static let fewestLost = 10
    /// A longer step ahead is believed only when the next row does not take it back.
    private static let jumpNanoseconds: Int64 = 10_000_000_000

    init(
        path: String, map: ColumnMap?, assumedKind: SampleKind?, isCancelled: @escaping () -> Bool
    ) throws(TraceError) {
        self.path = path
        self.isCancelled = isCancelled
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
            if !isRowHeld {
                // Whoever writes into a pipe may be slow: what is there is handed over before the next wait.
                switch try readRow(mayWait: isEmpty) {
                case .row: break
                case .notYet: return true
                case .end:
                    try requireUse()
                    return false
                }
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
        guard !isCancelled() else { return }
        guard hasSample else {
            let message =
                rowCount > 0 ? "none of its \(rowCount) rows has a usable sample" : "has a header and no sample"
            throw TraceError(.data, path: path, line: lines.lineNumber, message)
        }
        if row.longestStepBack.count >= Self.fewestLost { throw clockSetBack() }
    }

    private enum Reading { case row, notYet, end }

    /// Reads lines until one has a sample that can be used.
    ///
    /// - Parameter mayWait: Whether there is nothing to hand over meanwhile; otherwise a line that is not there yet
    ///   ends the reading for now.
    /// - Returns: Whether there is such a row, or none yet, or none ever.
    /// - Throws: ``TraceError`` when the rest of the file cannot be used.
    private func readRow(mayWait: Bool) throws(TraceError) -> Reading {
        while mayWait || lines.isLineReady {
            if !isRowDoubted {
                guard let line = try lines.next() else { return .end }
                if line.isBlank { continue }
                rowCount += 1
                let flaw = parser.parse(line.bytes, into: row)
                if !line.isTerminated, flaw != nil || layout.isRecording {
                    repairs.note(
                        .torn, path: path, line: line.number, "the last line was not written to its end: skipped")
                    return .end
                }
                if let flaw { try note(flaw) }
                isRowDoubted = jumpsAhead
            }
            if isRowDoubted {
                // The next row has to be seen before this one can be believed.
                guard mayWait || lines.isLineReady else { return .notYet }
                isRowDoubted = false
                try dropOutlier()
            }
            try dropBackwards()
            if !row.isEmpty {
                damagedInARow = 0
                return .row
            }
        }
        return .notYet
    }

    /// Whether the row's stamp is far ahead of everything before it.
    private var jumpsAhead: Bool {
        guard !row.isEmpty, let last = row.lastTimeNanoseconds else { return false }
        return row.timeNanoseconds > Units.later(last, by: Self.jumpNanoseconds)
    }

    /// Takes out a row whose stamp is far ahead of its neighbours on both sides.
    ///
    /// One corrupt stamp would otherwise put everything after it into the past.
    private func dropOutlier() throws(TraceError) {
        guard let last = row.lastTimeNanoseconds else { return }
        let line = lines.lineNumber
        while let next = try lines.next() {
            // Nothing is lost with a blank line, and one line can be put back.
            if next.isBlank { continue }
            _ = parser.parse(next.bytes, into: probe)
            lines.putBack()
            break
        }
        // The next row may be of another stream, whose stamps lag a little behind, also where all go on after a pause.
        guard probe.hasTime, probe.timeNanoseconds >= Units.later(last, by: -Self.jumpNanoseconds),
            probe.timeNanoseconds < Units.later(row.timeNanoseconds, by: -Self.jumpNanoseconds / 2)
        else { return }
        repairs.note(
            .outlier, path: path, line: line,
            "time jumps to \(row.timeNanoseconds) ns and back in the next row: row skipped")
        row.removeAll()
    }

    /// Takes out the samples that lie before the previous one of their stream.
    private func dropBackwards() throws(TraceError) {
        let time = row.timeNanoseconds
        for stream in 0..<row.streamCount where row.hasSample(stream) {
            guard let last = row.lastTimeNanoseconds(stream), time <= last else {
                row.keep(stream)
                continue
            }
            let line = lines.lineNumber
            if time == last {
                repairs.note(.repeated, path: path, line: line, "the stamp \(time) ns repeats the one before it")
                continue
            }
            repairs.note(
                .backwards, path: path, line: line, "time goes back from \(last) ns to \(time) ns: sample skipped")
            if row.stepBack(stream, line: line) > Self.mostInARow { throw clockSetBack() }
        }
    }

    /// Accounts for a flaw; a thousand damaged rows on end are the end.
    ///
    /// A sensor that drops out, with NaN or without a value, damages nothing.
    private func note(_ flaw: CSVRowFlaw) throws(TraceError) {
        let line = lines.lineNumber
        repairs.note(flaw.kind, path: path, line: line, column: flaw.column, flaw.message)
        guard row.isEmpty, flaw.kind == .notANumber || flaw.kind == .incomplete else { return }
        if damagedInARow == 0 { firstDamaged = line }
        damagedInARow += 1
        guard damagedInARow > Self.mostInARow else { return }
        throw TraceError(
            .data, path: path, line: line,
            "\(Self.mostInARow) rows from line \(firstDamaged) on have no usable sample: the file is damaged, or no trace"
        )
    }

    private func clockSetBack() -> TraceError {
        TraceError(
            .data, path: path, line: lines.lineNumber,
            "the clock was set back and stayed there: split the file at line \(row.longestStepBack.firstLine)")
    }
}

extension CSVRow {
    fileprivate func lowestRank(_ ranks: [Int]) -> Int {
        var lowest = Int.max
        for stream in ranks.indices where hasSample(stream) { lowest = min(lowest, ranks[stream]) }
        return lowest
    }
}
