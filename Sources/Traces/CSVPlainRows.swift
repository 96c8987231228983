import Binnacle

/// Reads rows that hold nothing unusual straight into the columns of a window.
///
/// Such a row is terminated, has a number or nothing in each field that counts, all three axes of a stream or none, and
/// a stamp that follows those before it. In it nothing has to be repaired, reported or thought about; every other row is
/// left to ``RowReader``, which alone knows the rules. So this can only be faster, and never different.
///
/// The memory is allocated once and never leaves this class; what is in it is indexed by the numbers of the file's own
/// columns and streams.
final class CSVPlainRows {
    private let dialect: CSVDialect
    private let scanner: DecimalScanner
    private let timeExponent: Int
    private let columnCount: Int
    private let streamCount: Int
    /// For each column up to the last one needed: nothing, the time, or stream · 3 + axis.
    private let uses: UnsafeMutablePointer<Int>
    /// For each axis of each stream the factor that makes its values m/s² or µT.
    private let factors: UnsafeMutablePointer<Double>
    /// The axes of the row that is being read.
    private let axes: UnsafeMutablePointer<Float>
    /// Where each stream's samples go.
    private let rooms: UnsafeMutablePointer<SampleRoom>
    /// How many samples each stream got.
    private let counts: UnsafeMutablePointer<Int>

    /// With one bit for each axis in a word that says which are empty.
    private static let mostStreams = 21
    private static let quote = UInt8(ascii: "\"")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// - Parameters:
    ///   - uses: For each column up to the last one needed what it holds, as ``CSVDecoder`` numbers it.
    ///   - factors: For each stream the factor that makes its values m/s² or µT.
    init(_ dialect: CSVDialect, uses: [Int], factors: [Double], timeExponent: Int) {
        self.dialect = dialect
        scanner = DecimalScanner(dialect)
        self.timeExponent = timeExponent
        columnCount = uses.count
        streamCount = factors.count
        self.uses = .allocate(capacity: uses.count)
        self.factors = .allocate(capacity: factors.count * 3)
        axes = .allocate(capacity: factors.count * 3)
        rooms = .allocate(capacity: factors.count)
        counts = .allocate(capacity: factors.count)
        for (column, use) in uses.enumerated() { self.uses[column] = use }
        for axis in 0..<factors.count * 3 {
            self.factors[axis] = factors[axis / 3]
            axes[axis] = 0
        }
        for stream in 0..<factors.count { counts[stream] = 0 }
    }

    deinit {
        uses.deallocate()
        factors.deallocate()
        axes.deallocate()
        rooms.deallocate()
        counts.deallocate()
    }

    /// Reads rows until one is unusual or not whole, or one of the batches is full.
    ///
    /// - Parameters:
    ///   - text: Starts with a row; ``LineReader/padding`` bytes behind it are readable, of which the first ends a line.
    ///   - time: The latest stamp of any sample before, in nanoseconds.
    ///   - longestStep: A row whose stamp lies further behind that of the one before it is unusual.
    ///   - window: A batch for each stream; none is full.
    /// - Returns: How many rows were taken.
    func read(
        _ text: UnsafeBufferPointer<UInt8>, after time: Int64, longestStep: Int64, into window: [SampleBatch]
    ) -> PlainRows {
        var taken = PlainRows(lastTimeNanoseconds: time)
        guard let start = text.baseAddress, streamCount <= Self.mostStreams else { return taken }
        for stream in 0..<streamCount { rooms[stream] = window[stream].room }
        var isFull = false
        while !isFull {
            var limit = Int.max
            for stream in 0..<streamCount {
                counts[stream] = 0
                limit = min(limit, rooms[stream].count)
            }
            let before = taken.rowCount
            let isStopped = read(start, end: start + text.count, mostRows: limit, longestStep: longestStep, &taken)
            for stream in 0..<streamCount {
                window[stream].grow(by: counts[stream])
                isFull = isFull || window[stream].isFull
                rooms[stream] = window[stream].room
            }
            if isStopped || taken.rowCount == before { break }
        }
        return taken
    }

    /// Reads rows into the rooms.
    ///
    /// - Returns: Whether it came to a row that it leaves.
    private func read(
        _ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>, mostRows: Int, longestStep: Int64,
        _ taken: inout PlainRows
    ) -> Bool {
        let delimiter = dialect.delimiter
        let otherMark = dialect.otherMark
        let columnCount = columnCount
        let uses = uses
        var cursor = SeparatorCursor(dialect, text: start, end: end)
        var rowStart = start + taken.byteCount
        var lastTime = taken.lastTimeNanoseconds
        var rowCount = 0
        defer {
            taken.rowCount += rowCount
            taken.byteCount = rowStart - start
            taken.lastTimeNanoseconds = lastTime
        }
        while rowCount < mostRows {
            guard rowStart < end else { return true }
            cursor.move(to: rowStart)
            var field = rowStart
            var time = Int64.min
            var empty: UInt64 = 0
            var column = 0
            var lineEnd: UnsafePointer<UInt8>?
            while column < columnCount {
                guard lineEnd == nil, let first = cursor.next() else { return true }
                var mark = first
                var fieldEnd = first
                if mark.pointee == CSVDialect.point || mark.pointee == otherMark, mark.pointee != delimiter {
                    guard let next = cursor.next() else { return true }
                    fieldEnd = next
                }
                let use = uses[column]
                if use == CSVDecoder.nothing {
                    guard isOrdinary(field.pointee) else { return true }
                    while fieldEnd.pointee == CSVDialect.point || fieldEnd.pointee == otherMark,
                        fieldEnd.pointee != delimiter
                    {
                        guard let next = cursor.next() else { return true }
                        fieldEnd = next
                    }
                }
                let next = fieldEnd + 1
                if fieldEnd.pointee != delimiter {
                    guard fieldEnd.pointee == CSVDialect.newline else { return true }
                    lineEnd = fieldEnd
                    if fieldEnd > field, fieldEnd[-1] == Self.carriageReturn { fieldEnd -= 1 }
                    mark = min(mark, fieldEnd)
                }
                if use >= 0 {
                    if field == fieldEnd {
                        empty |= 1 << UInt64(use)
                    } else {
                        guard let value = axis(field, mark, fieldEnd, factors[use]) else { return true }
                        axes[use] = value
                    }
                } else if use == CSVDecoder.time {
                    guard let stamp = stamp(field, mark, fieldEnd) else { return true }
                    time = stamp
                }
                field = next
                column += 1
            }
            while lineEnd == nil {
                guard let next = cursor.next() else { return true }
                if next.pointee == CSVDialect.newline { lineEnd = next }
            }
            // A step that is negative here is one of more than 63 bits.
            let step = time &- lastTime
            guard let lineEnd, lineEnd < end, lineEnd - rowStart <= LineReader.longestLine, time > lastTime, step > 0,
                step <= longestStep, keep(time, empty)
            else { return true }
            lastTime = time
            rowStart = lineEnd + 1
            rowCount += 1
        }
        return false
    }

    /// Puts the row's samples into the rooms.
    ///
    /// - Returns: Whether each stream had all of its axes or none, and one of them had some.
    @inline(__always)
    private func keep(_ time: Int64, _ empty: UInt64) -> Bool {
        if empty != 0 {
            var streamsLeft = streamCount
            for stream in 0..<streamCount {
                let missing = empty >> UInt64(3 * stream) & 7
                guard missing == 0 || missing == 7 else { return false }
                if missing == 7 { streamsLeft -= 1 }
            }
            guard streamsLeft > 0 else { return false }
        }
        for stream in 0..<streamCount where empty >> UInt64(3 * stream) & 1 == 0 {
            let count = counts[stream]
            rooms[stream].times[count] = time
            rooms[stream].x[count] = axes[3 * stream]
            rooms[stream].y[count] = axes[3 * stream + 1]
            rooms[stream].z[count] = axes[3 * stream + 2]
            counts[stream] = count + 1
        }
        return true
    }

    /// Whether a field that is passed over may start with a byte.
    ///
    /// What is in quotes may hold separators, and behind blanks and a number sign the line may be a comment.
    @inline(__always)
    private func isOrdinary(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: "#") || byte == dialect.delimiter
    }

    /// The value of an axis; `nil` when it is no number or beyond any sensor.
    @inline(__always)
    private func axis(
        _ field: UnsafePointer<UInt8>, _ mark: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ factor: Double
    ) -> Float? {
        let value: Double
        if let number = MarkedNumber(field, mark: mark, end: end), number.mantissa < 1 << 53 {
            value = number.value
        } else {
            guard let number = unusual(field, end) else { return nil }
            value = number
        }
        let axis = Float(value * factor)
        return axis.magnitude <= TraceRow.largest ? axis : nil
    }

    @inline(never)
    private func unusual(_ field: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Double? {
        var p = field
        guard let decimal = scanner.scanPlain(&p, end) else { return nil }
        return decimal.value(in: UnsafeBufferPointer(start: field, count: end - field))
    }

    /// A time in nanoseconds; `nil` when it is no number or 64 bits do not hold it.
    @inline(__always)
    private func stamp(
        _ field: UnsafePointer<UInt8>, _ mark: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> Int64? {
        guard let number = MarkedNumber(field, mark: mark, end: end) else { return unusualStamp(field, end) }
        return DecimalScanner.Decimal.scaled(
            number.mantissa, timeExponent - number.decimals, isNegative: number.isNegative)
    }

    @inline(never)
    private func unusualStamp(_ field: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        var p = field
        guard let decimal = scanner.scanPlain(&p, end) else { return nil }
        return decimal.nanoseconds(
            in: UnsafeBufferPointer(start: field, count: end - field), unitExponent: timeExponent)
    }
}
