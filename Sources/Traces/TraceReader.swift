import Binnacle

/// Reads one file as a sequence of windows, each in the order of arrival and with stamps that never fall.
protocol TraceReader: AnyObject {
    var path: String { get }
    /// The streams in the file.
    var contents: [TraceFile.Content] { get }
    /// What was assumed because the file does not say it.
    var notices: [TraceNotice] { get }
    /// What was passed over so far.
    var repairs: TraceRepairs { get }
    /// How much of the file was read, from 0 to 1; `nil` for a pipe.
    var fraction: Double? { get }
    /// Whether windows borrow from a mapped file, so that large ones cost nothing.
    var isMapped: Bool { get }
    /// Whether the file has lost what a window may still show.
    var hasShrunk: Bool { get }

    /// Appends samples to the batches of a window until one of them is full, the order of arrival steps back, or the
    /// file ends.
    ///
    /// - Parameters:
    ///   - window: A batch for each stream of the file, empty.
    ///   - ranks: Each stream's place in the pipeline's order.
    /// - Returns: Whether there may be more.
    /// - Throws: ``TraceError`` when the file cannot be read any further; what is in the window by then is good.
    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool
}

extension TraceReader {
    var isMapped: Bool { false }
    var hasShrunk: Bool { false }
}
