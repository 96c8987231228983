import Binnacle

/// What all readers of lines have in common: how rows become windows.
///
/// What the lines mean is up to a ``RowDecoder``; what may be passed over, and what may not, to ``RowRules``. This
/// is generic over the decoder, because a call for each row through a protocol costs 4 % of a replay.
struct RowReader<Decoder: RowDecoder> {
    /// Knows the format.
    private let decoder: Decoder
    /// What was passed over so far.
    var repairs: TraceRepairs { rules.repairs }

    private let lines: LineReader
    /// Which rows are believed.
    private var rules: RowRules
    /// The row read last.
    private let row: TraceRow
    /// Whether that row belongs to the next window.
    private var isRowHeld = false
    private var hasSample = false
    private var rowCount = 0
    /// Whether the row jumps far ahead, and the next one has not been looked at.
    private var isRowDoubted = false
    private let isCancelled: () -> Bool

    /// - Parameters:
    ///   - lines: Stands behind whatever head the file has.
    ///   - decoder: Has read that head.
    ///   - isCancelled: Whether the end of the file is one, or was made one.
    init(_ lines: LineReader, decoder: Decoder, isCancelled: @escaping () -> Bool) {
        self.lines = lines
        self.decoder = decoder
        self.isCancelled = isCancelled
        rules = RowRules(path: lines.path, place: .line, streamCount: decoder.contents.count)
        row = rules.row
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
            lines.text, after: last, longestStep: RowRules.jumpNanoseconds, into: window)
        guard plain.rowCount > 0 else { return nil }
        lines.take(lineCount: plain.rowCount, byteCount: plain.byteCount)
        for stream in window.indices {
            // A stream that has nothing in the window got nothing; one whose last stamp is an old one keeps it.
            guard let time = window[stream].lastTimeNanoseconds, time > last else { continue }
            row.keep(stream, timeNanoseconds: time)
        }
        hasSample = true
        rowCount += plain.rowCount
        rules.didUse()
        return plain
    }

    /// Makes sure, at the end of the file, that it was a trace and went on to the end.
    private func requireUse() throws(TraceError) {
        guard !isCancelled() else { return }
        guard hasSample else {
            let reason = decoder.whyNoSample(rowCount: rowCount)
            throw TraceError(.data, path: lines.path, line: reason.line ?? lines.lineNumber, reason.message)
        }
        try rules.requireEnd(at: lines.lineNumber)
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
                    rules.note(.torn, at: line.number, "the last line was not written to its end: skipped")
                    return .end
                }
                if let flaw { try rules.note(flaw, at: line.number) }
                isRowDoubted = rules.jumpsAhead
            }
            if isRowDoubted {
                // The next row has to be seen before this one can be believed.
                guard mayWait || lines.isLineReady else { return .notYet }
                isRowDoubted = false
                let number = lines.lineNumber
                rules.dropOutlier(following: try nextTime(), at: number)
            }
            try rules.dropBackwards(at: lines.lineNumber)
            if !row.isEmpty {
                rules.didUse()
                return .row
            }
        }
        return .notYet
    }

    /// The stamp of the next row, which stays the next one; `nil` when there is none, or it has none.
    private func nextTime() throws(TraceError) -> Int64? {
        while let next = try lines.next() {
            // Nothing is lost with a blank line, and one line can be put back.
            if next.isBlank { continue }
            let time = decoder.timeNanoseconds(of: next.bytes)
            lines.putBack()
            return time
        }
        return nil
    }
}

extension TraceRow {
    fileprivate func lowestRank(_ ranks: [Int]) -> Int {
        var lowest = Int.max
        for stream in ranks.indices where hasSample(stream) { lowest = min(lowest, ranks[stream]) }
        return lowest
    }
}

/// Reads a file of lines.
///
/// The decoder's type is known where this is created, and nowhere after: a window costs a call through a closure, and a
/// row none.
final class LineTraceReader: TraceReader {
    let path: String
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]

    private let lines: LineReader
    private let fillWindow: ([SampleBatch], [Int]) throws(TraceError) -> Bool
    private let readRepairs: () -> TraceRepairs

    /// - Parameters:
    ///   - lines: Stands behind whatever head the file has.
    ///   - decoder: Has read that head.
    ///   - isCancelled: Whether the end of the file is one, or was made one.
    init<Decoder: RowDecoder>(_ lines: LineReader, decoder: Decoder, isCancelled: @escaping () -> Bool) {
        self.lines = lines
        path = lines.path
        contents = decoder.contents
        notices = decoder.notices
        var rows = RowReader(lines, decoder: decoder, isCancelled: isCancelled)
        fillWindow = { window, ranks throws(TraceError) in try rows.fill(window, ranks: ranks) }
        readRepairs = { rows.repairs }
    }

    var repairs: TraceRepairs { readRepairs() }
    var fraction: Double? { lines.size.map { $0 > 0 ? Double(lines.consumed) / Double($0) : 1 } }

    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        try fillWindow(window, ranks)
    }
}
