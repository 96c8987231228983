import Binnacle

/// Decodes the lines of one trace format; ``RowReader`` does what is the same in all formats.
protocol RowDecoder: AnyObject {
    /// The streams in the file.
    var contents: [TraceFile.Content] { get }
    /// Assumptions made where the header does not say enough.
    var notices: [TraceNotice] { get }
    /// Whether the format terminates every line, so that an unterminated one was torn.
    var endsEveryLine: Bool { get }

    /// Reads rows without flaws in bulk, with the same result as ``decode(_:into:)``; `nil` when it cannot.
    var plainRows: CSVPlainRows? { get }

    /// For each stream what has to be held against its first samples.
    var unitChecks: [UnitCheck?] { get }

    /// Fills the cleared row with the samples that a line completes, which is neither blank nor a comment; often there is none.
    /// Returns the first flaw; what is in the row is good nevertheless.
    ///
    /// The padding bytes that ``DecimalScanner`` reads follow the line.
    func decode(_ line: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw?

    /// The stamp of a line, in nanoseconds; `nil` when it has none.
    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64?

    /// The message for a file that ended without a sample, and the line to name if it is not the last.
    func whyNoSample(rowCount: Int) -> (line: Int?, message: String)
}

extension RowDecoder {
    var plainRows: CSVPlainRows? { nil }
    var unitChecks: [UnitCheck?] { [] }
}
