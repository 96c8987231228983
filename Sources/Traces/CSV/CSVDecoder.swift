import Binnacle
import PlainText
import SensorGeometry

final class CSVDecoder: RowDecoder {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    let endsEveryLine: Bool
    let mayBeClock: Bool

    /// Receives rows that are only examined for their stamp.
    private let probe: TraceRow
    let plainRows: CSVPlainRows?
    /// A clock whose times state their zone never loses an hour.
    var counters: [CounterLap] {
        if rowClock != nil || hasZone { return [] }
        return if case .clock = time { [.hour] } else { CounterLap.all }
    }
    private let scanner: DecimalScanner
    private let time: CSVTime
    private let unit: TimeUnit
    /// The parts of the time in columns of their own.
    private let parts: [CSVTime.Part]
    /// Whether seconds from 60 on are in the column of the minutes.
    private let hasMinutes: Bool
    /// The stamps of a file without times.
    private let rowClock: RowClock?
    private let dialect: CSVDialect
    /// The fields of the header; empty without one.
    private let header: [String]
    /// The factor of each axis: stream · 3 + axis.
    private let factors: [Double]
    /// The offset added to each scaled axis; −0 for none, because it leaves −0 unchanged.
    private let lifts: [Double]
    let unitChecks: [UnitCheck?]
    /// For each stream the samples that stand for a missing value.
    private let placeholders: [[Placeholder]]
    /// For each stream the least magnitude of their axes.
    private let leastPlaceholders: [Float]
    /// Whether the last time of a clock stated its zone, and the unit of the first fraction behind a colon, in nanoseconds.
    private var hasZone = false
    private var fractionUnit: Int64 = 0
    /// For a clock without dates, the days passed so far and its last time, in nanoseconds.
    private var midnights: Int64 = 0
    private var lastClock: Int64?
    /// The last step of more than half a day: the time and the days before it, and the time after it.
    private var longStep: (clock: Int64, midnights: Int64, next: Int64)?
    /// The use of each column up to the last one needed: ``nothing``, ``time``, ``part`` minus the number of the part, or
    /// stream · 3 + axis.
    private let uses: [Int]

    /// The number of columns up to the last one needed.
    var columnCount: Int { uses.count }
    /// Whether rows can be decoded without the rows before them; without times in the file, a row's stamp depends on its number.
    var canReadChunks: Bool { plainRows != nil && rowClock == nil }

    static let part = -3
    static let nothing = -2
    static let time = -1

    /// Creates a decoder; with `isLineByLine` it never reads in bulk.
    init(_ head: CSVHead, isLineByLine: Bool) {
        scanner = DecimalScanner(head.dialect)
        dialect = head.dialect
        header = head.header
        let layout = head.layout
        time = layout.time
        if case .number(_, let stated, _) = layout.time { unit = stated } else { unit = .nanoseconds }
        parts = layout.time.parts
        hasMinutes = parts.contains { !$0.isFraction }
        if case .rate(let hertz) = layout.time { rowClock = RowClock(hertz: hertz) } else { rowClock = nil }
        contents = layout.streams.map { TraceFile.Content(sensor: $0.sensor, kind: $0.kind) }
        notices = head.notices
        endsEveryLine = layout.isRecording
        mayBeClock = layout.mayBeClock
        probe = TraceRow(streamCount: layout.streams.count)
        factors = layout.streams.flatMap(\.factors)
        lifts = layout.streams.flatMap { [-0.0, -0.0, $0.lift == 0 ? -0.0 : $0.lift] }
        unitChecks = layout.streams.map(\.lateCheck)
        placeholders = layout.streams.map { layout.isRecording ? [] : Placeholder.all(of: $0) }
        leastPlaceholders = placeholders.map { $0.map(\.x.magnitude).min() ?? .infinity }
        let times = layout.time.parts.map(\.column) + (layout.time.column.map { [$0] } ?? [])
        let last = (layout.streams.flatMap(\.columns) + times).reduce(0, max)
        var uses = Array(repeating: Self.nothing, count: last + 1)
        if let column = layout.time.column { uses[column] = Self.time }
        for (number, part) in layout.time.parts.enumerated() { uses[part.column] = Self.part - number }
        for (number, stream) in layout.streams.enumerated() {
            for (axis, column) in stream.columns.enumerated() { uses[column] = number * 3 + axis }
        }
        self.uses = uses
        var isPlain = !isLineByLine && !head.dialect.collapses
        if case .clock = layout.time { isPlain = false }
        if !layout.time.parts.isEmpty { isPlain = false }
        if unit.multiple != 1 || layout.streams.contains(where: { $0.lift != 0 }) { isPlain = false }
        plainRows =
            isPlain
            ? CSVPlainRows(
                head.dialect, uses: uses, factors: factors, leastPlaceholders: leastPlaceholders,
                timeExponent: unit.exponent, rowClock: rowClock) : nil
    }

    /// Decodes a line; a stream whose three fields are all empty has no sample, which is no flaw where another stream has one.
    func decode(_ bytes: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw? {
        var flaw = decodeFields(bytes, into: row)
        if let missing = rejectPlaceholders(row) { flaw = flaw ?? missing }
        if let found = flaw, found.kind == .notANumber, row.isEmpty, isOtherHeader(bytes) {
            flaw = RowFlaw(
                kind: .notANumber, column: 1, message: "another header, with other columns: split the file here",
                endsReading: true)
        }
        if let rowClock {
            // A row without a usable sample also advances the clock.
            row.timeNanoseconds = rowClock.next()
        }
        return flaw
    }

    /// Rejects samples that stand for a missing value; returns the flaw of the first.
    private func rejectPlaceholders(_ row: TraceRow) -> RowFlaw? {
        var flaw: RowFlaw?
        for stream in leastPlaceholders.indices where row.hasSample(stream) {
            let sample = row.sample(stream)
            guard sample.x.magnitude >= leastPlaceholders[stream],
                let found = placeholders[stream].first(where: {
                    $0.x == sample.x && $0.y == sample.y && $0.z == sample.z
                })
            else { continue }
            row.reject(stream)
            let words = "\(found.text) in all axes of the \(contents[stream].kind.rawValue) stands for a missing value"
            flaw = flaw ?? RowFlaw(kind: .placeholder, column: 1, message: words)
        }
        return flaw
    }

    /// Whether a line names columns of sensors, and not those of the header: rows of another form follow.
    private func isOtherHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !header.isEmpty else { return false }
        let names = dialect.fields(Array(line))
        guard names.prefix(uses.count) != header.prefix(uses.count),
            !names.contains(where: { dialect.number($0) != nil })
        else { return false }
        let axes = names.count { name in if case .axis = ColumnName(name).role { true } else { false } }
        return axes > 2
    }

    private func decodeFields(_ bytes: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw? {
        row.removeAll()
        guard let start = bytes.baseAddress else { return nil }
        var end = start + bytes.count
        if dialect.trailer != 0 || dialect.collapses {
            while end > start, end[-1] == dialect.trailer || end[-1] == CSVDialect.blank { end -= 1 }
        }
        if rowClock != nil { row.timeNanoseconds = 0 }
        var p = start
        var flaw: RowFlaw?
        /// The sum of the parts of the time that were read, and their number.
        var sum: (nanoseconds: Int64, count: Int) = (0, 0)
        for use in uses {
            if dialect.collapses {
                while p < end, p.pointee == CSVDialect.blank { p += 1 }
            }
            guard p <= end else {
                // A row without a time would keep the time of the previous row.
                if row.hasTime { _ = row.removeIncomplete() } else { row.removeAll() }
                return flaw ?? missing(at: bytes.count + 1)
            }
            if use == Self.nothing {
                scanner.skipField(&p, end)
            } else if use == Self.time {
                let field = p
                guard let time = stamp(&p, start, end) else {
                    row.removeAll()
                    return noTime(field, p, end, start)
                }
                guard !parts.isEmpty else {
                    row.timeNanoseconds = time
                    continue
                }
                guard !hasMinutes || 0..<60_000_000_000 ~= time else {
                    row.removeAll()
                    return self.flaw(.notANumber, wrong(field, p, "a number of seconds beside minutes"), field, start)
                }
                add(time, to: &sum, row)
            } else if use <= Self.part {
                let field = p
                let part = parts[Self.part - use]
                guard let time = number(of: part, &p, end) else {
                    row.removeAll()
                    let words =
                        part.isFraction ? "a fraction of a second" : "a whole number of \(part.unit.name) of a clock"
                    return self.flaw(.notANumber, wrong(field, p, words), field, start)
                }
                add(time, to: &sum, row)
            } else {
                let stream = use / 3
                let field = p
                if let decimal = scanner.scanPlain(&p, end) {
                    let value = axis(decimal.value(in: DecimalScanner.text(of: field, before: p)), use)
                    if value.magnitude <= TraceRow.largest {
                        row.set(stream, use % 3, value)
                        continue
                    }
                    p = field
                }
                guard let problem = readUnusual(&p, start, end, use, row) else { continue }
                flaw = flaw ?? problem
                row.reject(stream)
            }
        }
        if row.removeIncomplete(), flaw == nil { flaw = missing(at: bytes.count + 1) }
        if flaw == nil, row.isEmpty {
            flaw = RowFlaw(kind: .empty, column: bytes.count + 1, message: "the row has no value of a sensor")
        }
        return flaw
    }

    /// A value in the unit of samples.
    @inline(__always)
    private func axis(_ value: Double, _ use: Int) -> Float { Float(value * factors[use] + lifts[use]) }

    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64? {
        _ = decode(line, into: probe)
        return probe.hasTime ? probe.timeNanoseconds : nil
    }

    func whyNoSample(rowCount: Int) -> (line: Int?, message: String) {
        (nil, rowCount > 0 ? "none of its \(rowCount) rows has a usable sample" : "has a header and no sample")
    }

    @inline(__always)
    private func stamp(
        _ p: inout UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> Int64? {
        let field = p
        if case .clock(_, let followsDate, let dates, _) = time {
            return clock(&p, from: followsDate ? beginOfField(before: p, start) : p, end, dates.order)
        }
        var stamp: Int64?
        if let decimal = scanner.scanPlain(&p, end) {
            stamp = decimal.nanoseconds(in: DecimalScanner.text(of: field, before: p), unitExponent: unit.exponent)
        } else if case .number(let decimal, let text) = scanner.scanField(&p, end) {
            stamp = decimal.nanoseconds(in: text, unitExponent: unit.exponent)
        }
        guard unit.multiple != 1, let whole = stamp else { return stamp }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit.multiple)
        let (time, isBeyond) = product.subtractingReportingOverflow(unit.origin)
        return overflow || isBeyond ? nil : time
    }

    /// The nanoseconds of a part of the time; `nil` for a number that is none of it.
    private func number(
        of part: CSVTime.Part, _ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> Int64? {
        guard case .number(let decimal, let text) = scanner.scanField(&p, end),
            let number = decimal.nanoseconds(in: text, unitExponent: part.unit.exponent), number >= 0
        else { return nil }
        let (time, isBeyond) = number.multipliedReportingOverflow(by: part.unit.multiple)
        return isBeyond || time >= part.endSeconds * 1_000_000_000 ? nil : time
    }

    /// Adds a part of the time; the row has it once all are there.
    private func add(_ time: Int64, to sum: inout (nanoseconds: Int64, count: Int), _ row: TraceRow) {
        sum = (Units.later(sum.nanoseconds, by: time), sum.count + 1)
        guard sum.count > parts.count else { return }
        row.timeNanoseconds =
            parts.contains { $0.unit == .hours } ? sinceFirstDay(sum.nanoseconds) ?? sum.nanoseconds : sum.nanoseconds
    }

    private func beginOfField(before field: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>) -> UnsafePointer<UInt8>
    {
        var first = field
        while first > start, first[-1] == dialect.delimiter { first -= 1 }
        while first > start, first[-1] != dialect.delimiter { first -= 1 }
        return first
    }

    /// The time of a clock, whose text may begin in the field before; a clock without a date starts again at midnight.
    private func clock(
        _ p: inout UnsafePointer<UInt8>, from begin: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>,
        _ order: DateOrder?
    ) -> Int64? {
        var first = begin
        scanner.skipField(&p, end)
        var last = min(p - 1, end)
        func isMargin(_ byte: UInt8) -> Bool { byte == CSVDialect.blank || byte == UInt8(ascii: "\"") }
        while first < last, isMargin(first.pointee) { first += 1 }
        while first < last, isMargin(last[-1]) { last -= 1 }
        guard let clock = ClockTime(UnsafeBufferPointer(start: first, count: last - first), order: order)
        else { return nil }
        hasZone = clock.hasZone
        if fractionUnit == 0 { fractionUnit = clock.fractionUnit }
        // Without leading zeros a fraction of microseconds may have the digits of one of milliseconds.
        guard clock.fractionUnit == 0 || clock.fractionUnit == fractionUnit else { return nil }
        return clock.hasDate ? clock.nanoseconds : sinceFirstDay(clock.nanoseconds)
    }

    /// The time since the first midnight of a time of the day; `nil` if it is out of range.
    private func sinceFirstDay(_ clock: Int64) -> Int64? {
        let day: Int64 = 86_400_000_000_000
        count(clock, day: day)
        let (passed, isBeyond) = midnights.multipliedReportingOverflow(by: day)
        let (stamp, isStampBeyond) = passed.addingReportingOverflow(clock)
        return isBeyond || isStampBeyond ? nil : stamp
    }

    /// Counts the midnights up to a time of a clock without dates.
    ///
    /// A row out of order, at midnight or with a stray time, seems to begin a day, which does not count once the times
    /// step back.
    private func count(_ clock: Int64, day: Int64) {
        defer { lastClock = clock }
        guard let last = lastClock, (clock - last).magnitude > day / 2 else { return }
        let second: Int64 = 1_000_000_000
        // Behind a second, a recording that begins again at the same time of another day is likelier.
        if let step = longStep, (clock - step.clock).magnitude < 60 * second, (last - step.next).magnitude < second {
            midnights = step.midnights
            longStep = nil
            return
        }
        longStep = (last, midnights, clock)
        if clock < last { midnights += 1 }
    }

    /// Decodes an axis that is not a plain number; a number in quotes or an empty field is no flaw.
    private func readUnusual(
        _ p: inout UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ use: Int,
        _ row: TraceRow
    ) -> RowFlaw? {
        let field = p
        switch scanner.scanField(&p, end) {
        case .empty:
            return nil
        case .number(let decimal, let text):
            let value = axis(decimal.value(in: text), use)
            guard value.magnitude <= TraceRow.largest else {
                return flaw(.beyondSensors, "a value beyond any sensor", field, start)
            }
            row.set(use / 3, use % 3, value)
            return nil
        case .notFinite:
            return flaw(.notFinite, "not a finite number", field, start)
        case .notANumber:
            return flaw(.notANumber, wrong(field, p, "a number"), field, start)
        }
    }

    private func flaw(
        _ kind: TraceRepairs.Kind, _ message: String, _ field: UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>
    ) -> RowFlaw {
        RowFlaw(kind: kind, column: field - start + 1, message: message)
    }

    private func missing(at column: Int) -> RowFlaw {
        RowFlaw(kind: .incomplete, column: column, message: "the row ends too early, or an axis has no value")
    }

    /// The flaw of a field that should be a time.
    private func noTime(
        _ field: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>,
        _ start: UnsafePointer<UInt8>
    ) -> RowFlaw {
        var p = field
        if case .clock(let column, let followsDate, let dates, _) = time, let taken = dates.order {
            let first = followsDate ? beginOfField(before: field, start) : field
            for other in DateOrder.allCases where other != taken {
                p = field
                guard clock(&p, from: first, end, other) != nil else { continue }
                let words = "\(text(first, next)) is \(other.words)"
                let message =
                    dates.isAssumed
                    ? "\(words), and the dates before are taken as \(taken.words): say which they are with "
                        + "--map 'time=#\(column + 1):\(other.rawValue)'"
                    : "\(words), and the other dates are \(taken.words)"
                return RowFlaw(
                    kind: .notANumber, column: first - start + 1, message: message, endsReading: dates.isAssumed)
            }
            p = field
        }
        let isBeyond =
            if case .number = scanner.scanField(&p, end), case .number = time { true } else {
                ClockTime.isBeyond(UnsafeBufferPointer(start: field, count: max(0, next - field - 1)))
            }
        if isBeyond {
            return flaw(
                .beyondTime, "\(text(field, next)) lies outside of the years 1677 to 2262 that nanoseconds count",
                field, start)
        }
        let wanted = fractionUnit == 0 ? "a time" : "a time with all digits of the fraction, as .066 for 66 ms has them"
        return flaw(.notANumber, wrong(field, next, wanted), field, start)
    }

    /// What is wrong with a field that should be something else.
    private func wrong(_ field: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>, _ wanted: String) -> String {
        let bytes = UnsafeBufferPointer(start: field, count: max(0, next - field - 1))
        if let zeros = RowFlaw.zeroBytes(in: bytes) { return zeros }
        let isGrouped =
            bytes.count < 24 && CSVDialect.hasThousands(String(decoding: bytes, as: UTF8.self).trimmingQuotes())
        return "\(text(field, next)) is not \(wanted)\(isGrouped ? ": remove the separators of thousands" : "")"
    }

    /// A field for display: truncated, and without control characters.
    private func text(_ field: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>) -> String {
        let length = max(0, next - field - 1)
        let shown = UnsafeBufferPointer(start: field, count: min(length, 24))
        return "'" + String(decoding: shown, as: UTF8.self).printable + (length > 24 ? "…'" : "'")
    }
}

extension String {
    fileprivate func trimmingQuotes() -> String { String(trimmingBlanks().filter { $0 != "\"" }) }
}

/// A sample whose axes are all the same number, one that programs write for a missing value, in the unit of samples.
private struct Placeholder {
    let number: Double
    let x: Float
    let y: Float
    let z: Float
    var text: String { number == number.rounded() ? "\(Int(number))" : "\(number)" }

    private static let nines: [Double] = [99.99, 999, 999.9, 999.99, 9999, 9999.9, 9999.99, 99_999, 99_999.99]

    /// Those of a stream that are far from what such a sensor usually measures; the least of 16 bits is where a blow may end, and counts
    /// only beyond all sensors.
    static func all(of stream: CSVLayout.Stream) -> [Placeholder] {
        let least = -32_768.0
        return (nines + nines.map { -$0 } + [least]).compactMap { number -> Placeholder? in
            let axes = stream.factors.map { number * $0 }
            let far = (number == least ? 10 : 1) * Quantity.of(stream.kind).possible.upperBound
            guard length(Vector3(axes[0], axes[1], axes[2])) > far else { return nil }
            return Placeholder(number: number, x: Float(axes[0]), y: Float(axes[1]), z: Float(axes[2] + stream.lift))
        }
    }
}

/// The stamps of rows without times: one period after another.
final class RowClock {
    private let hertz: Double
    private(set) var rowCount = 0

    init(hertz: Double) { self.hertz = hertz }

    /// The stamp of the next row, in nanoseconds.
    func next() -> Int64 {
        defer { rowCount += 1 }
        return time(rowCount)
    }

    /// The stamp of a row, from 0, in nanoseconds.
    func time(_ row: Int) -> Int64 { Int64(exactly: (Double(row) * 1e9 / hertz).rounded()) ?? .max }

    /// Counts rows that were read elsewhere.
    func addRows(_ count: Int) { rowCount += count }
}
