import Binnacle
import Kernels

/// Decodes plain rows straight into the columns of a window.
///
/// A plain row is terminated, has a number or nothing in each column that is used, all three axes of a stream or none, and a
/// stamp later than those before it, so nothing has to be repaired or reported. All other rows are left to ``RowReader``;
/// decoding in bulk is faster and never gives a different result.
///
/// The memory is allocated once and never leaves this class; it is indexed by the numbers of the file's columns and streams.
final class CSVPlainRows {
    private struct Column {
        /// Nothing, the time, or stream · 3 + axis.
        let use: Int
        /// The factor that makes an axis m/s² or µT.
        let factor: Double
    }

    private struct Target {
        var room: SampleRoom
        var count = 0
    }

    private let dialect: CSVDialect
    private let scanner: DecimalScanner
    private let timeExponent: Int
    private let rowClock: RowClock?
    private let streamCount: Int
    private let columns: UnsafeMutablePointer<Column>
    /// The number of columns up to the last one that is used.
    private let columnCount: Int
    /// The axes of the current row.
    private let axes: UnsafeMutablePointer<Float>
    private let targets: UnsafeMutablePointer<Target>
    /// For each stream the least magnitude of an axis that may stand for a missing value.
    private let leastPlaceholders: UnsafeMutablePointer<Float>
    private let marks: MarkKernel
    private let words: UnsafeMutablePointer<UInt64>

    /// The limit of a word with one bit for each empty axis.
    private static let mostStreams = 21

    /// For `uses`, `factors` and `leastPlaceholders`, see ``CSVDecoder``.
    init(
        _ dialect: CSVDialect, uses: [Int], factors: [Double], leastPlaceholders: [Float], timeExponent: Int,
        rowClock: RowClock? = nil
    ) {
        self.dialect = dialect
        scanner = DecimalScanner(dialect)
        self.timeExponent = timeExponent
        self.rowClock = rowClock
        streamCount = factors.count / 3
        columnCount = uses.count
        columns = .allocate(capacity: uses.count)
        for (index, use) in uses.enumerated() {
            (columns + index).initialize(to: Column(use: use, factor: use < 0 ? 1 : factors[use]))
        }
        axes = .allocate(capacity: factors.count)
        axes.initialize(repeating: 0, count: factors.count)
        targets = .allocate(capacity: factors.count / 3)
        self.leastPlaceholders = .allocate(capacity: leastPlaceholders.count)
        for (stream, least) in leastPlaceholders.enumerated() {
            (self.leastPlaceholders + stream).initialize(to: least)
        }
        marks = MarkKernel((dialect.delimiter, dialect.otherMark, dialect.mark, CSVDialect.newline))
        words = .allocate(capacity: SeparatorMap.wordCount)
        words.initialize(repeating: 0, count: SeparatorMap.wordCount)
    }

    deinit {
        columns.deallocate()
        axes.deallocate()
        targets.deallocate()
        leastPlaceholders.deallocate()
        words.deallocate()
    }

    /// Decodes rows until one is incomplete or not plain, or one of the batches is full; no batch may be full at the start.
    ///
    /// The text starts with a row; ``LineReader/padding`` bytes after it are readable, and the first of them is a line end.
    func read(
        _ text: UnsafeBufferPointer<UInt8>, after time: Int64, longestStep: Int64, into window: [SampleBatch]
    ) -> PlainRows {
        var rows = PlainRows(lastTimeNanoseconds: time)
        guard let start = text.baseAddress, streamCount <= Self.mostStreams else { return rows }
        var mayContinue = true
        while mayContinue {
            var mostRows = Int.max
            for stream in 0..<streamCount {
                targets[stream] = Target(room: window[stream].room)
                mostRows = min(mostRows, targets[stream].room.count)
            }
            // Rows that lack a stream leave capacity for more rows.
            mayContinue = mostRows > 0 && read(start, start + text.count, longestStep, mostRows, &rows)
            for stream in 0..<streamCount { window[stream].grow(by: targets[stream].count) }
        }
        return rows
    }

    /// Decodes at most `mostRows` rows, and returns whether there were that many.
    private func read(
        _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ longestStep: Int64, _ mostRows: Int,
        _ rows: inout PlainRows
    ) -> Bool {
        // The loop over the columns is one function: only then does the compiler keep its variables in registers.
        var separatorMap = SeparatorMap(marks, words, before: end)
        let delimiter = dialect.delimiter
        let (decimalMark, otherMark) = (dialect.mark, dialect.otherMark)
        let columns = columns
        let columnCount = columnCount
        let axes = axes
        let timeExponent = timeExponent
        let trailer = dialect.trailer
        var rowStart = start + rows.byteCount
        var lastTime = rows.lastTimeNanoseconds
        var rowCount = 0
        rows: while rowCount < mostRows, rowStart < end {
            var block = rowStart
            var separators = separatorMap.separators(from: block)
            var field = rowStart
            var time = Int64.min
            var empty: UInt64 = 0
            var column = 0
            var lineEnd: UnsafePointer<UInt8>
            repeat {
                if separators == 0 {
                    (block, separators) = separatorMap.next(behind: block)
                    guard separators != 0 else { break rows }
                }
                // The top bit does not change the result; it shows the compiler that the word is not zero.
                let mark = block + (separators | 1 << 63).trailingZeroBitCount
                separators &= separators &- 1
                var fieldEnd = mark
                while fieldEnd.pointee == decimalMark || fieldEnd.pointee == otherMark {
                    if separators == 0 {
                        (block, separators) = separatorMap.next(behind: block)
                        guard separators != 0 else { break rows }
                    }
                    fieldEnd = block + (separators | 1 << 63).trailingZeroBitCount
                    separators &= separators &- 1
                }
                lineEnd = fieldEnd
                if fieldEnd.pointee != delimiter {
                    guard column == columnCount &- 1 else { break rows }
                    if fieldEnd > field, fieldEnd[-1] == UInt8(ascii: "\r") { fieldEnd -= 1 }
                    if trailer != 0, fieldEnd > field, fieldEnd[-1] == trailer { fieldEnd -= 1 }
                }
                let use = columns[column].use
                if use >= 0 {
                    if field == fieldEnd {
                        empty |= 1 &<< UInt64(truncatingIfNeeded: use)
                    } else {
                        guard let value = axis(field, mark, fieldEnd, columns[column].factor) else { break rows }
                        axes[use] = value
                    }
                } else if use == CSVDecoder.time {
                    guard let stamp = stamp(field, mark, fieldEnd, timeExponent) else { break rows }
                    time = stamp
                } else {
                    // Quotes may contain separators, and blanks and a number sign may start a comment.
                    guard field.pointee > UInt8(ascii: "#") || field.pointee == delimiter else { break rows }
                }
                field = lineEnd + 1
                column &+= 1
            } while column < columnCount
            while lineEnd.pointee != CSVDialect.newline {
                if separators == 0 {
                    (block, separators) = separatorMap.next(behind: block)
                    guard separators != 0 else { break rows }
                }
                lineEnd = block + (separators | 1 << 63).trailingZeroBitCount
                separators &= separators &- 1
            }
            if let rowClock { time = rowClock.time(rowClock.rowCount + rowCount) }
            // A step of more than 63 bits is negative here.
            let step = time &- lastTime
            guard lineEnd < end, lineEnd - rowStart <= LineReader.longestLine, time > lastTime, step > 0,
                step <= longestStep, keep(time, empty)
            else { break rows }
            lastTime = time
            rowStart = lineEnd + 1
            rowCount &+= 1
        }
        rowClock?.addRows(rowCount)
        rows.rowCount += rowCount
        rows.byteCount = rowStart - start
        rows.lastTimeNanoseconds = lastTime
        return rowCount == mostRows
    }

    /// The value of an axis; `nil` when it is not a number or exceeds ``TraceRow/largest``.
    @inline(__always)
    private func axis(
        _ field: UnsafePointer<UInt8>, _ mark: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ factor: Double
    ) -> Float? {
        let value: Float
        if let number = MarkedNumber(field, mark: mark, end: end), number.mantissa < 1 << 53 {
            let magnitude = Float(number.magnitude * factor)
            value = Float(bitPattern: magnitude.bitPattern ^ (number.isNegative ? 0x8000_0000 : 0))
        } else {
            value = unmarkedAxis(field, end, factor)
        }
        return value.magnitude <= TraceRow.largest ? value : nil
    }

    /// A time in nanoseconds; `nil` when it is not a number or 64 bits cannot hold it.
    @inline(__always)
    private func stamp(
        _ field: UnsafePointer<UInt8>, _ mark: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ timeExponent: Int
    ) -> Int64? {
        guard let number = MarkedNumber(field, mark: mark, end: end) else { return unmarkedTime(field, end) }
        return DecimalScanner.Decimal.scaled(
            number.mantissa, timeExponent &- number.decimals, isNegative: number.isNegative)
    }

    /// The value of any number; NaN for anything else.
    @inline(never)
    private func unmarkedAxis(_ field: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ factor: Double) -> Float {
        var p = field
        guard let decimal = scanner.scanPlain(&p, end) else { return .nan }
        return Float(decimal.value(in: UnsafeBufferPointer(start: field, count: end - field)) * factor)
    }

    @inline(never)
    private func unmarkedTime(_ field: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        var p = field
        guard let decimal = scanner.scanPlain(&p, end) else { return nil }
        let text = UnsafeBufferPointer(start: field, count: end - field)
        return decimal.nanoseconds(in: text, unitExponent: timeExponent)
    }

    /// Adds the row's samples to their targets; `false` if a stream has only some of its axes, none has any, or one may have a number in
    /// place of a missing value.
    @inline(__always)
    private func keep(_ time: Int64, _ empty: UInt64) -> Bool {
        if empty != 0, !isWhole(empty) { return false }
        for stream in 0..<streamCount where empty &>> UInt64(truncatingIfNeeded: 3 &* stream) & 1 == 0 {
            let target = targets + stream
            let count = target.pointee.count
            let axes = axes + 3 &* stream
            if axes[0].magnitude >= leastPlaceholders[stream], axes[0].magnitude == axes[1].magnitude {
                removeRow(upTo: stream, empty)
                return false
            }
            target.pointee.room.times[count] = time
            target.pointee.room.x[count] = axes[0]
            target.pointee.room.y[count] = axes[1]
            target.pointee.room.z[count] = axes[2]
            target.pointee.count = count &+ 1
        }
        return true
    }

    /// Removes a row's samples of the streams before one.
    @inline(never)
    private func removeRow(upTo stream: Int, _ empty: UInt64) {
        for other in 0..<stream where empty >> UInt64(3 * other) & 1 == 0 { targets[other].count -= 1 }
    }

    /// Whether the empty axes are those of whole streams, but not of all streams.
    private func isWhole(_ empty: UInt64) -> Bool {
        var isAnyLeft = false
        for stream in 0..<streamCount {
            let missing = empty >> UInt64(3 * stream) & 7
            guard missing == 0 || missing == 7 else { return false }
            isAnyLeft = isAnyLeft || missing == 0
        }
        return isAnyLeft
    }
}

/// The extent of rows decoded in bulk.
struct PlainRows {
    var rowCount = 0
    /// Their length in bytes, with the line ends.
    var byteCount = 0
    /// The stamp of the last row, or of the sample before them, in nanoseconds.
    var lastTimeNanoseconds: Int64
}

/// The positions of delimiters, decimal separators and line ends in a text, found some kilobytes ahead, so that the position of a
/// separator depends on no number before it and the processor parses several numbers in parallel.
struct SeparatorMap {
    /// The maximum number of blocks examined at a time.
    private static let mostBlocks = 32
    /// A word for each block, and one more, which is read together with the last one and has no effect.
    static let wordCount = mostBlocks + 1

    private let marks: MarkKernel
    private let words: UnsafeMutablePointer<UInt64>
    private let end: UnsafePointer<UInt8>
    /// The byte of the lowest bit in the first word.
    private var start: UnsafePointer<UInt8>
    /// The last offset from the start for which 64 bytes are known; none at first.
    private var lastOffset = Int.min
    /// The number of blocks to examine next; it grows, because a run of plain rows may end after a row or two.
    private var blockCount = 2

    /// Begins with a text, after whose end 63 bytes are readable; the map overwrites ``wordCount`` initialised words.
    init(_ marks: MarkKernel, _ words: UnsafeMutablePointer<UInt64>, before end: UnsafePointer<UInt8>) {
        self.marks = marks
        self.words = words
        self.end = end
        start = end
    }

    /// A bit for each of the 64 bytes from a position that is a separator, also after the end of the text; the first in the
    /// lowest bit.
    ///
    /// The position lies before the end of the text and never decreases from call to call.
    @inline(__always)
    mutating func separators(from place: UnsafePointer<UInt8>) -> UInt64 {
        if place - start > lastOffset { examine(from: place) }
        let offset = place - start
        let (word, bit) = (words + offset &>> 6, UInt64(truncatingIfNeeded: offset & 63))
        // Shifted twice, because a shift by 64 bits would be one by none.
        return word[0] &>> bit | (word[1] &<< 1) &<< (63 &- bit)
    }

    /// Finds the next 64 bytes with a separator, after those from `place`; `separators` is 0 if there are none before the end.
    @inline(never)
    mutating func next(behind place: UnsafePointer<UInt8>) -> (UnsafePointer<UInt8>, separators: UInt64) {
        var place = place + MarkKernel.blockSize
        while place < end {
            let separators = separators(from: place)
            if separators != 0 { return (place, separators) }
            place += MarkKernel.blockSize
        }
        return (place, 0)
    }

    @inline(never)
    private mutating func examine(from place: UnsafePointer<UInt8>) {
        let blocks = (end - place + MarkKernel.blockSize - 1) / MarkKernel.blockSize
        let count = min(max(1, blocks), blockCount)
        blockCount = min(2 * blockCount, Self.mostBlocks)
        marks.mark(place, blockCount: count, into: words)
        start = place
        lastOffset = (count - 1) * MarkKernel.blockSize
    }
}
