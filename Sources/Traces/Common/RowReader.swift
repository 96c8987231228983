import Binnacle

/// The rows of a file one after another: lines of text, or messages.
protocol RowInput: AnyObject {
    var path: String { get }
    /// In bytes; `nil` for a pipe.
    var size: Int64? { get }
    /// The number of bytes returned as rows.
    var consumed: Int64 { get }
    /// The number of rows so far.
    var lineNumber: Int { get }
    /// Whether the next row can be read without waiting for the writer of a pipe.
    var isLineReady: Bool { get }
    /// Whether a mapped file shrank, so that its rows may be invalid.
    var hasShrunk: Bool { get }

    /// The next row, valid until the one after it; `nil` at the end.
    func next() throws(TraceError) -> LineReader.Line?
    /// Returns the last row again at the next ``next()``; allowed once after each.
    func putBack()
}

/// Reads a file of rows: decodes them with a ``RowDecoder``, applies ``RowRules``, and fills windows.
final class RowReader: TraceReader {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    var path: String { lines.path }
    var repairs: TraceRepairs { rules.repairs }
    var fraction: Double? { lines.size.map { $0 > 0 ? Double(lines.consumed) / Double($0) : 1 } }

    private let lines: any RowInput
    /// The text whose plain rows are read in bulk; `nil` if the format has none.
    private let text: LineReader?
    private let decoder: any RowDecoder
    private let isCancelled: () -> Bool
    /// Starts the decoding on several threads; called before the first row is read.
    private var readAhead: (() -> Void)?
    private var rules: RowRules
    private let row: TraceRow
    /// Whether the last row belongs to the next window.
    private var isRowHeld = false
    private var hasSample = false
    private var rowCount = 0
    /// Whether the row jumps far ahead, or a counter may have begun again before it, and the next stamp has not been read yet.
    private var isRowDoubted = false
    /// Whether the next jump ahead may show that the times are no seconds.
    private var mayBeClock: Bool
    /// For each stream the pending unit check; empty when there is nothing to check.
    private var unitChecks: [LateUnitCheck?]

    /// Reads the lines after the header, which the decoder has consumed.
    init(
        _ lines: any RowInput, decoder: any RowDecoder, text: LineReader? = nil, place: RowRules.Place = .line,
        readAhead: (() -> Void)? = nil, isCancelled: @escaping () -> Bool
    ) {
        self.lines = lines
        self.text = text
        self.decoder = decoder
        self.readAhead = readAhead
        self.isCancelled = isCancelled
        mayBeClock = decoder.mayBeClock
        contents = decoder.contents
        notices = decoder.notices
        let checks = decoder.unitChecks.map { $0.map { LateUnitCheck($0) } }
        unitChecks = checks.contains { $0 != nil } ? checks : []
        rules = RowRules(path: lines.path, place: place, streamCount: decoder.contents.count)
        row = rules.row
    }

    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        // No threads are needed if the file is only opened for its contents.
        readAhead.take()?()
        let result = Result { () throws(TraceError) in try read(window, ranks: ranks) }
        guard !lines.hasShrunk else {
            for batch in window { batch.removeAll() }
            throw MappedFile.shrunk(path)
        }
        let hasMore = try result.get()
        if !unitChecks.isEmpty { checkUnits(window, isLast: !hasMore) }
        return hasMore
    }

    /// Checks the first samples against the units that the header states.
    private func checkUnits(_ window: [SampleBatch], isLast: Bool) {
        for stream in unitChecks.indices {
            unitChecks[stream]?.add(window[stream])
            guard let check = unitChecks[stream], check.isDue || isLast else { continue }
            unitChecks[stream] = nil
            if let message = check.contradiction { rules.record(.contradicted, at: nil, message) }
        }
        if unitChecks.allSatisfy({ $0 == nil }) { unitChecks = [] }
    }

    private func read(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool {
        var lastTime = Int64.min
        var lastRank = -1
        var isEmpty = true
        while true {
            if !isRowHeld {
                if let plain = try readPlainRows(window) {
                    lastTime = plain.lastTimeNanoseconds
                    lastRank = -1
                    isEmpty = false
                    for stream in window.indices where window[stream].lastTimeNanoseconds == lastTime {
                        lastRank = max(lastRank, ranks[stream])
                    }
                    if window.contains(where: \.isFull) { return true }
                }
                // A pipe may be slow: deliver what has arrived before waiting.
                switch try readRow(mayWait: isEmpty) {
                case .row: break
                case .skipped: continue
                case .notYet: return true
                case .end:
                    try requireSamples()
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
                window[stream].append(row.sample(stream))
                isFull = isFull || window[stream].isFull
                lastRank = max(lastRank, ranks[stream])
            }
            if isFull { return true }
        }
    }

    /// What reads rows in bulk, which knows nothing of the laps of a counter.
    private var plainRows: CSVPlainRows? { rules.lapsNanoseconds == 0 ? decoder.plainRows : nil }

    /// Reads plain rows in bulk, or takes those read ahead; `nil` when the next row is not plain.
    private func readPlainRows(_ window: [SampleBatch]) throws(TraceError) -> PlainRows? {
        // Plain rows cannot follow a row that is still in doubt.
        guard let plainRows = self.plainRows, let text, !isRowDoubted else { return nil }
        var taken: PlainRows?
        while let rows = try text.appendRows(after: row.lastTimeNanoseconds, into: window) {
            keep(rows, window)
            taken = rows
            if window.contains(where: \.isFull) { return taken }
        }
        // Plain rows are compared with a previous stamp.
        guard let last = row.lastTimeNanoseconds else { return taken }
        let rows = plainRows.read(text.text, after: last, longestStep: RowRules.jumpNanoseconds, into: window)
        guard rows.rowCount > 0 else { return taken }
        text.advance(lineCount: rows.rowCount, byteCount: rows.byteCount)
        keep(rows, window)
        return rows
    }

    /// Records plain rows, which are in the window, as the last rows of their streams.
    private func keep(_ rows: PlainRows, _ window: [SampleBatch]) {
        let last = row.lastTimeNanoseconds
        for stream in window.indices {
            // A stream without new samples has an empty batch or an older last stamp.
            guard let time = window[stream].lastTimeNanoseconds, last.map({ time > $0 }) ?? true else { continue }
            row.keep(stream, timeNanoseconds: time)
        }
        hasSample = true
        rowCount += rows.rowCount
        rules.didUse()
    }

    /// Throws ``TraceError`` at the end of the file if it had no samples or a clock was set back.
    private func requireSamples() throws(TraceError) {
        guard !isCancelled() else { return }
        guard hasSample else {
            let reason = decoder.whyNoSample(rowCount: rowCount)
            throw TraceError(.data, path: path, line: reason.line ?? lines.lineNumber, reason.message)
        }
        try rules.requireEnd(at: lines.lineNumber)
    }

    private enum Reading { case row, skipped, notYet, end }

    /// Reads lines until a row has a usable sample, or, if rows are read in bulk, a single line; without `mayWait` only lines
    /// that have arrived.
    private func readRow(mayWait: Bool) throws(TraceError) -> Reading {
        while mayWait || lines.isLineReady {
            if !isRowDoubted {
                guard let line = try lines.next() else { return .end }
                if line.isBlank {
                    // Plain rows may follow.
                    if plainRows != nil { return .skipped }
                    continue
                }
                rowCount += 1
                let flaw = decoder.decode(line.bytes, into: row)
                if !line.isTerminated, flaw != nil || decoder.endsEveryLine {
                    // The message is made while the rules change.
                    let place = rules.place
                    let zeros = RowFlaw.zeroBytes(in: line.bytes).map { " (\($0))" } ?? ""
                    rules.record(
                        .torn, at: line.number, "the last \(place) was not written to its end\(zeros): skipped")
                    return .end
                }
                if let flaw { try rules.record(flaw, at: line.number) }
                if row.hasTime { row.timeNanoseconds = Units.later(row.timeNanoseconds, by: rules.lapsNanoseconds) }
                isRowDoubted = rules.jumpsAhead || rules.endedLap(of: decoder.counters) != nil
            }
            if isRowDoubted {
                guard mayWait || lines.isLineReady else { return .notYet }
                isRowDoubted = false
                let number = lines.lineNumber
                let following = try nextTime()
                if let lap = rules.endedLap(of: decoder.counters) {
                    rules.begin(behind: lap, following: following, at: number)
                } else {
                    rules.dropOutlier(following: following, at: number)
                    if mayBeClock, !row.isEmpty {
                        try rules.refuseClock(at: number)
                        mayBeClock = false
                    }
                }
            }
            try rules.dropBackwards(at: lines.lineNumber)
            if !row.isEmpty {
                rules.didUse()
                return .row
            }
            if plainRows != nil { return .skipped }
        }
        return .notYet
    }

    /// The stamp of the next row, which is not consumed; `nil` without a row or a stamp.
    private func nextTime() throws(TraceError) -> Int64? {
        while let next = try lines.next() {
            // Blank lines can be dropped; only one line can be put back.
            if next.isBlank { continue }
            let time = decoder.timeNanoseconds(of: next.bytes)
            lines.putBack()
            return time.map { Units.later($0, by: rules.lapsNanoseconds) }
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
