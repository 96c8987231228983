import Binnacle
import PlainText

/// Decodes CSV, where each line is a row.
final class CSVDecoder: RowDecoder {
    let contents: [TraceFile.Content]
    let notices: [TraceNotice]
    let endsEveryLine: Bool

    /// Receives rows that are only examined for their stamp.
    private let probe: TraceRow
    let plainRows: CSVPlainRows?
    private let scanner: DecimalScanner
    private let timeExponent: Int
    private let factors: [Double]
    /// The use of each column up to the last one needed: ``nothing``, ``time``, or stream · 3 + axis.
    private let uses: [Int]

    static let nothing = -2
    static let time = -1

    /// Creates a decoder; with `isLineByLine` it never reads in bulk.
    init(_ head: CSVHead, isLineByLine: Bool) {
        scanner = DecimalScanner(head.dialect)
        timeExponent = head.timeExponent
        let layout = head.layout
        contents = layout.streams.map { TraceFile.Content(sensor: $0.sensor, kind: $0.kind) }
        notices = head.notices
        endsEveryLine = layout.isRecording
        probe = TraceRow(streamCount: layout.streams.count)
        factors = layout.streams.map(\.factor)
        let last = layout.streams.flatMap(\.columns).reduce(layout.timeColumn, max)
        var uses = Array(repeating: Self.nothing, count: last + 1)
        uses[layout.timeColumn] = Self.time
        for (number, stream) in layout.streams.enumerated() {
            for (axis, column) in stream.columns.enumerated() { uses[column] = number * 3 + axis }
        }
        self.uses = uses
        plainRows =
            isLineByLine
            ? nil : CSVPlainRows(head.dialect, uses: uses, factors: factors, timeExponent: head.timeExponent)
    }

    /// Decodes a line, in which a stream whose three fields are all empty has no sample and no flaw.
    func decode(_ bytes: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw? {
        row.removeAll()
        guard let start = bytes.baseAddress else { return nil }
        let end = start + bytes.count
        var p = start
        var flaw: RowFlaw?
        for use in uses {
            guard p <= end else {
                // Without a time the row would keep that of the previous row.
                if row.hasTime { _ = row.removeIncomplete() } else { row.removeAll() }
                return flaw ?? missing(at: bytes.count + 1)
            }
            if use == Self.nothing {
                scanner.skipField(&p, end)
            } else if use == Self.time {
                let field = p
                guard let time = time(&p, end) else {
                    row.removeAll()
                    return self.flaw(.notANumber, "\(text(field, p)) is not a time", field, start)
                }
                row.timeNanoseconds = time
            } else {
                let stream = use / 3
                let field = p
                if let decimal = scanner.scanPlain(&p, end) {
                    let value = Float(decimal.value(in: DecimalScanner.text(of: field, before: p)) * factors[stream])
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
        return flaw
    }

    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64? {
        _ = decode(line, into: probe)
        return probe.hasTime ? probe.timeNanoseconds : nil
    }

    func whyNoSample(rowCount: Int) -> (line: Int?, message: String) {
        (nil, rowCount > 0 ? "none of its \(rowCount) rows has a usable sample" : "has a header and no sample")
    }

    @inline(__always)
    private func time(_ p: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int64? {
        let field = p
        if let decimal = scanner.scanPlain(&p, end) {
            return decimal.nanoseconds(in: DecimalScanner.text(of: field, before: p), unitExponent: timeExponent)
        }
        guard case .number(let decimal, let text) = scanner.scanField(&p, end) else { return nil }
        return decimal.nanoseconds(in: text, unitExponent: timeExponent)
    }

    /// Decodes an axis that is not a plain number; numbers in quotes and empty fields are no flaws.
    private func readUnusual(
        _ p: inout UnsafePointer<UInt8>, _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ use: Int,
        _ row: TraceRow
    ) -> RowFlaw? {
        let field = p
        switch scanner.scanField(&p, end) {
        case .empty:
            return nil
        case .number(let decimal, let text):
            let value = Float(decimal.value(in: text) * factors[use / 3])
            guard value.magnitude <= TraceRow.largest else {
                return flaw(.beyondSensors, "a value beyond any sensor", field, start)
            }
            row.set(use / 3, use % 3, value)
            return nil
        case .notFinite:
            return flaw(.notFinite, "not a finite number", field, start)
        case .notANumber:
            return flaw(.notANumber, "\(text(field, p)) is not a number", field, start)
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

    /// A field for display: truncated, and without control characters.
    private func text(_ field: UnsafePointer<UInt8>, _ next: UnsafePointer<UInt8>) -> String {
        let length = max(0, next - field - 1)
        let shown = UnsafeBufferPointer(start: field, count: min(length, 24))
        return "'" + String(decoding: shown, as: UTF8.self).printable + (length > 24 ? "…'" : "'")
    }
}
