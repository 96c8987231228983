import Binnacle

/// What all readers of lines have in common: which rows are believed, and how they become windows.
///
/// What the lines mean is up to a ``RowDecoder``; what may be passed over, and what may not, is the same for all. This
/// is generic over the decoder, and a reader holds it with its own one, because a call that is made for each row
/// through a protocol costs 4 % of a replay.
struct RowReader<Decoder: RowDecoder> {
    /// Knows the format.
    let decoder: Decoder
    private(set) var repairs = TraceRepairs()

    /// How much of the file was read, from 0 to 1; `nil` for a pipe.
    var fraction: Double? {
        lines.size.map { $0 > 0 ? Double(lines.consumed) / Double($0) : 1 }
    }

    var path: String { lines.path }

    private let lines: LineReader
    /// The row read last.
    private let row: TraceRow
    /// Whether that row belongs to the next window.
    private var isRowHeld = false
    private var hasSample = false
    private var rowCount = 0
    /// Whether the row jumps far ahead, and the next one has not been looked at.
    private var isRowDoubted = false
    private var damagedInARow = 0
    private var firstDamaged = 0
    private let isCancelled: () -> Bool

    /// - Parameters:
    ///   - lines: Stands behind whatever head the file has.
    ///   - decoder: Has read that head.
    ///   - isCancelled: Whether the end of the file is one, or was made one.
    init(_ lines: LineReader, decoder: Decoder, isCancelled: @escaping () -> Bool) {
        self.lines = lines
        self.decoder = decoder
        self.isCancelled = isCancelled
        row = TraceRow(streamCount: decoder.contents.count)
    }

    /// Appends samples to the batches of a window until one of them is full, the order of arrival steps back, or the
    /// file ends.
    ///
    /// - Parameters:
    ///   - window: A batch for each stream of the file, empty.
    ///   - ranks: Each stream's place in the pipeline's order.
    /// - Returns: Whether there may be more.
    /// - Throws: ``TraceError`` when the file cannot be read any further; what is in the window by then is good.
    mutating func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        var lastTime = Int64.min
        var lastRank = -1
        var isEmpty = true
        while true {
            if !isRowHeld {
                if let plain = takePlainRows(window) {
                    lastTime = plain.lastTimeNanoseconds
                    lastRank = -1
                    isEmpty = false
                    var isFull = false
                    for stream in window.indices where !window[stream].isEmpty {
                        isFull = isFull || window[stream].isFull
                        if window[stream].lastTimeNanoseconds == lastTime { lastRank = max(lastRank, ranks[stream]) }
                    }
                    if isFull { return true }
                }
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

    /// Takes the rows that need no thought; `nil` when the next one does.
    private mutating func takePlainRows(_ window: [SampleBatch]) -> PlainRows? {
        // What the first row's stamp is compared with, and what a doubted one is, is not for here.
        guard !isRowDoubted, let last = row.lastTimeNanoseconds else { return nil }
        let plain = decoder.takePlainRows(
            lines.text, after: last, longestStep: RowLimits.jumpNanoseconds, into: window)
        guard plain.rowCount > 0 else { return nil }
        lines.take(lineCount: plain.rowCount, byteCount: plain.byteCount)
        for stream in window.indices {
            // A stream that has nothing in the window got nothing; one whose last stamp is an old one keeps it.
            guard let time = window[stream].lastTimeNanoseconds, time > last else { continue }
            row.keep(stream, timeNanoseconds: time)
        }
        hasSample = true
        rowCount += plain.rowCount
        damagedInARow = 0
        return plain
    }

    /// Makes sure, at the end of the file, that it was a trace and went on to the end.
    private func requireUse() throws(TraceError) {
        guard !isCancelled() else { return }
        guard hasSample else {
            let reason = decoder.whyNoSample(rowCount: rowCount)
            throw TraceError(.data, path: path, line: reason.line ?? lines.lineNumber, reason.message)
        }
        if row.longestStepBack.count >= RowLimits.fewestLost { throw clockSetBack() }
    }

    private enum Reading { case row, notYet, end }

    /// Reads lines until one has a sample that can be used.
    ///
    /// - Parameter mayWait: Whether there is nothing to hand over meanwhile; otherwise a line that is not there yet
    ///   ends the reading for now.
    /// - Returns: Whether there is such a row, or none yet, or none ever.
    /// - Throws: ``TraceError`` when the rest of the file cannot be used.
    private mutating func readRow(mayWait: Bool) throws(TraceError) -> Reading {
        while mayWait || lines.isLineReady {
            if !isRowDoubted {
                guard let line = try lines.next() else { return .end }
                if line.isBlank { continue }
                rowCount += 1
                let flaw = decoder.decode(line.bytes, into: row)
                if !line.isTerminated, flaw != nil || decoder.endsEveryLine {
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
        return row.timeNanoseconds > Units.later(last, by: RowLimits.jumpNanoseconds)
    }

    /// Takes out a row whose stamp is far ahead of its neighbours on both sides.
    ///
    /// One corrupt stamp would otherwise put everything after it into the past.
    private mutating func dropOutlier() throws(TraceError) {
        guard let last = row.lastTimeNanoseconds else { return }
        let line = lines.lineNumber
        var following: Int64?
        while let next = try lines.next() {
            // Nothing is lost with a blank line, and one line can be put back.
            if next.isBlank { continue }
            following = decoder.timeNanoseconds(of: next.bytes)
            lines.putBack()
            break
        }
        // The next row may be of another stream, whose stamps lag a little behind, also where all go on after a pause.
        guard let following, following >= Units.later(last, by: -RowLimits.jumpNanoseconds),
            following < Units.later(row.timeNanoseconds, by: -RowLimits.jumpNanoseconds / 2)
        else { return }
        repairs.note(
            .outlier, path: path, line: line,
            "time jumps to \(row.timeNanoseconds) ns and back in the next row: row skipped")
        row.removeAll()
    }

    /// Takes out the samples that lie before the previous one of their stream.
    private mutating func dropBackwards() throws(TraceError) {
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
            if row.stepBack(stream, line: line) > RowLimits.mostInARow { throw clockSetBack() }
        }
    }

    /// Accounts for a flaw; a thousand damaged lines on end are the end.
    private mutating func note(_ flaw: RowFlaw) throws(TraceError) {
        let line = lines.lineNumber
        repairs.note(flaw.kind, path: path, line: line, column: flaw.column, flaw.message)
        guard row.isEmpty, flaw.kind.isDamage else { return }
        if damagedInARow == 0 { firstDamaged = line }
        damagedInARow += 1
        guard damagedInARow > RowLimits.mostInARow else { return }
        throw TraceError(
            .data, path: path, line: line,
            "\(RowLimits.mostInARow) lines from line \(firstDamaged) on have no usable sample: the file is damaged, or no trace"
        )
    }

    private func clockSetBack() -> TraceError {
        TraceError(
            .data, path: path, line: lines.lineNumber,
            "the clock was set back and stayed there: split the file at line \(row.longestStepBack.firstLine)")
    }
}

/// Constants of ``RowReader``, which as a generic type cannot have any.
private enum RowLimits {
    /// After so many rows that cannot be used, passing over them would mean losing the rest in silence.
    static let mostInARow = 1000
    /// With so many at the end of a file a clock was set back; fewer are a hiccup.
    static let fewestLost = 10
    /// A longer step ahead is believed only when the next row does not take it back.
    static let jumpNanoseconds: Int64 = 10_000_000_000
}

extension TraceRow {
    fileprivate func lowestRank(_ ranks: [Int]) -> Int {
        var lowest = Int.max
        for stream in ranks.indices where hasSample(stream) { lowest = min(lowest, ranks[stream]) }
        return lowest
    }
}
