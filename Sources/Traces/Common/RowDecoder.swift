import Binnacle

/// Knows one trace format: what its head says, and what each line after it means.
///
/// A ``RowReader`` gives it the lines in their order, and takes care of everything that is the same in all formats.
protocol RowDecoder: AnyObject {
    /// The streams in the file.
    var contents: [TraceFile.Content] { get }
    /// What was assumed because the head does not say it.
    var notices: [TraceNotice] { get }
    /// Whether those who write the format end every line, so that one without an end was torn.
    var endsEveryLine: Bool { get }

    /// Decodes a line that is neither blank nor a comment.
    ///
    /// - Parameters:
    ///   - line: Followed by the bytes that ``DecimalScanner`` reads.
    ///   - row: Is emptied, and gets the samples that the line completes; often there is none.
    /// - Returns: The first flaw; what is in the row is good all the same.
    func decode(_ line: UnsafeBufferPointer<UInt8>, into row: TraceRow) -> RowFlaw?

    /// Takes rows in which nothing is unusual, as many as come on end, straight into a window.
    ///
    /// It may take none. What it takes is the same that ``decode(_:into:)`` would have made of it, and nothing that
    /// would have been repaired or reported is among it.
    ///
    /// - Parameters:
    ///   - text: Starts with a line, and is followed by ``LineReader/padding`` bytes.
    ///   - time: The latest stamp of any sample before, in nanoseconds; later ones are taken.
    ///   - longestStep: The longest time between two rows that is not unusual, in nanoseconds.
    ///   - window: A batch for each stream; none is full. When one is, no more is taken.
    /// - Returns: What was taken.
    func takePlainRows(
        _ text: UnsafeBufferPointer<UInt8>, after time: Int64, longestStep: Int64, into window: [SampleBatch]
    ) -> PlainRows

    /// The stamp of a line that is not decoded yet, in nanoseconds; `nil` when it has none.
    func timeNanoseconds(of line: UnsafeBufferPointer<UInt8>) -> Int64?

    /// What to say about a file that has ended without a sample.
    ///
    /// - Parameter rowCount: How many lines were decoded.
    /// - Returns: The line to name, if there is a better one than the last, and what is wrong.
    func whyNoSample(rowCount: Int) -> (line: Int?, message: String)
}

extension RowDecoder {
    func takePlainRows(
        _ text: UnsafeBufferPointer<UInt8>, after time: Int64, longestStep: Int64, into window: [SampleBatch]
    ) -> PlainRows {
        PlainRows(lastTimeNanoseconds: time)
    }
}

/// Rows that were taken on end.
struct PlainRows {
    var rowCount = 0
    /// How many bytes they have, with their ends.
    var byteCount = 0
    /// The stamp of the last one, or of the sample before them, in nanoseconds.
    var lastTimeNanoseconds: Int64
}
