/// Decodes the lines of one trace format; ``RowReader`` has what all formats share.
protocol RowDecoder: AnyObject {
    var contents: [TraceFile.Content] { get }
    /// Assumptions made where the header is incomplete.
    var notices: [TraceNotice] { get }
    /// Whether the format terminates every line, so that an unterminated line is torn.
    var endsEveryLine: Bool { get }

    /// Whether times that are taken as seconds may be hours, minutes and seconds without signs between them, as in 141503.20.
    var mayBeClock: Bool { get }

    /// The counters that its times may be of, which begin again at their end.
    var counters: [CounterLap] { get }

    /// Decodes rows without flaws in bulk, with the same result as ``decode(_:into:)``; `nil` if the format cannot.
    var plainRows: CSVPlainRows? { get }

    /// For each stream the check of its unit against the first samples, if it is pending.
    var unitChecks: [UnitCheck?] { get }

    /// Fills the cleared row with the samples that a line completes, often none, and returns the first flaw; samples in the row
    /// are valid even then.
    ///
    /// The line is neither blank nor a comment, and the padding bytes that ``DecimalScanner`` reads follow it.
    func decode(_ line: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw?

    /// The stamp of a line, in nanoseconds; `nil` when it has none.
    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64?

    /// The message for a file that ended without a sample, and the line to report if it is not the last.
    func whyNoSample(rowCount: Int) -> (line: Int?, message: String)
}

extension RowDecoder {
    var mayBeClock: Bool { false }
    var counters: [CounterLap] { [] }
    var plainRows: CSVPlainRows? { nil }
    var unitChecks: [UnitCheck?] { [] }
}
