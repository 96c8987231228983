import Binnacle

/// Decodes the lines of one trace format; ``RowReader`` does what is the same in all formats.
protocol RowDecoder: AnyObject {
    /// The streams in the file.
    var contents: [TraceFile.Content] { get }
    /// Assumptions made where the header does not say enough.
    var notices: [TraceNotice] { get }
    /// Whether the format terminates every line, so that an unterminated one was torn.
    var endsEveryLine: Bool { get }

    /// Decodes a line that is neither blank nor a comment.
    ///
    /// - Parameters:
    ///   - line: Followed by the padding bytes that ``DecimalScanner`` reads.
    ///   - row: Cleared, and filled with the samples that the line completes; often there is none.
    /// - Returns: The first flaw; what is in the row is good nevertheless.
    func decode(_ line: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw?

    /// Reads as many plain rows as follow one another straight into a window; there may be none.
    ///
    /// The result is what ``decode(_:into:)`` would have made of them; a row that needs a repair or a report is not
    /// plain.
    ///
    /// - Parameters:
    ///   - text: Starts with a line, and is followed by ``LineReader/padding`` bytes.
    ///   - time: The latest stamp so far, in nanoseconds; only later rows are read.
    ///   - longestStep: The longest time between two plain rows, in nanoseconds.
    ///   - window: A batch for each stream; reading ends when one is full.
    /// - Returns: What was read.
    func takePlainRows(
        _ text: UnsafeBufferPointer<UInt8>, after time: Int64, longestStep: Int64, into window: [SampleBatch]
    ) -> PlainRows

    /// The stamp of a line, in nanoseconds; `nil` when it has none.
    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64?

    /// The message for a file that ended without a sample, and the line to name if it is not the last.
    func whyNoSample(rowCount: Int) -> (line: Int?, message: String)
}

extension RowDecoder {
    func takePlainRows(
        _ text: UnsafeBufferPointer<UInt8>, after time: Int64, longestStep: Int64, into window: [SampleBatch]
    ) -> PlainRows {
        PlainRows(lastTimeNanoseconds: time)
    }
}

/// Rows that were read in bulk.
struct PlainRows {
    var rowCount = 0
    /// Their length in bytes, with the line ends.
    var byteCount = 0
    /// The stamp of the last one, or of the sample before them, in nanoseconds.
    var lastTimeNanoseconds: Int64
}
