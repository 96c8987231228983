package import Binnacle

/// Writes samples as a recording, in the format that the file's name ends in.
///
/// It is an Arrow stream for `.arrows`, an MCAP file for `.mcap`, and else CSV with the canonical header. ``TraceSource`` reads each
/// back unchanged.
///
/// Samples are collected and written in whole lines or messages: after a kill everything up to the last ``flush()`` is in the
/// file, and at most the last line or message is torn, which a reader skips. Nothing is allocated per sample.
///
/// A reader skips a sample whose stamp is earlier than the previous one of its stream.
package final class TraceWriter {
    /// The number of samples of each stream, by the stream's index.
    package var sampleCounts: [Int] { format.sampleCounts }
    /// The first write error, after which nothing is written.
    package var failure: TraceError? { file.failure }
    /// Whether a file that waits for samples has got none, so that it is as it was.
    package var isWaiting: Bool { file.isWaiting }
    /// Whether the raw scans of the samples are recorded.
    package let keepsScans: Bool
    /// Whether ``failure`` is that the reading end of a pipe was closed, which ends a pipeline normally.
    package var isReaderGone: Bool { file.isReaderGone }
    /// The failure with which samples were lost; a reader that is gone needed no more.
    package var loss: TraceError? { isReaderGone ? nil : failure }

    private let file: RecordingFile
    private let format: any RecordingFormat
    private let streamCount: Int
    private var isFinished = false

    private static let arrowSuffix = ".arrows"
    /// Suffixes of formats that cannot be written.
    private static let otherSuffixes = [".arrow", ".feather", ".ipc", ".parquet", ".zst", ".gz", ".zip"]

    /// Creates a recording and writes its header.
    ///
    /// - Parameters:
    ///   - path: A file that does not exist yet; `-` is standard output.
    ///   - streams: The streams to record, numbered from 0. Sensor names that a header cannot hold are changed.
    ///   - replacing: Whether an existing file may be overwritten.
    ///   - waitsForSamples: Whether a file is created, or overwritten, with the first sample in place of now.
    ///   - details: The contents of an Arrow stream beside the samples.
    /// - Throws: ``TraceError`` when the file cannot be created or written.
    package init(
        path: String, streams: [SampleStream], replacing: Bool = false, waitsForSamples: Bool = false,
        details: RecordingDetails = RecordingDetails()
    ) throws(TraceError) {
        precondition(!streams.isEmpty, "a recording needs a stream")
        streamCount = streams.count
        let columns = TraceColumns(streams)
        if let other = Self.otherSuffixes.first(where: path.hasSuffix) {
            throw TraceError(
                .cannotCreate, path: path,
                "\(other) is not written: a recording is an Arrow stream, .arrows, or .csv or .mcap")
        }
        keepsScans = details.keepsScans && Self.isArrow(path)
        func create() throws(TraceError) -> RecordingFile {
            try RecordingFile(path: path, replacing: replacing, waitsForSamples: waitsForSamples)
        }
        if Self.isArrow(path) {
            try ArrowRecording.check(columns, path: path)
            file = try create()
            format = try ArrowRecording(file, columns, details)
        } else if path.hasSuffix(".mcap") {
            // As many streams as an Arrow stream may have.
            try ArrowRecording.check(columns, path: path)
            file = try create()
            format = try MCAPRecording(file, columns, path: path)
        } else {
            try CSVRecording.check(columns, path: path)
            file = try create()
            format = try CSVRecording(file, columns)
        }
    }

    /// Whether a recording of that name is an Arrow stream.
    package static func isArrow(_ path: String) -> Bool { path.hasSuffix(arrowSuffix) }

    deinit {
        // A deinit cannot report an error; callers that need it call finish() themselves.
        try? finish()
    }

    /// Adds the samples of a delivery in their order of arrival.
    ///
    /// - Parameter delivery: A delivery with a batch for each of the recording's streams.
    /// - Throws: ``TraceError`` for the first write error; later calls do nothing, see ``failure``.
    package func write(_ delivery: SampleDelivery) throws(TraceError) {
        precondition(delivery.batches.count == streamCount, "the delivery has other streams than the recording")
        precondition(!isFinished, "the recording has its end")
        guard failure == nil else { return }
        try format.write(delivery)
        if file.isWaiting, !delivery.isEmpty { try file.begin() }
    }

    /// Writes the collected samples.
    ///
    /// - Throws: ``TraceError`` for the first write error; later calls do nothing, see ``failure``.
    package func flush() throws(TraceError) {
        guard failure == nil, !isFinished else { return }
        try format.flush()
    }

    /// Writes the collected samples and the end of the recording; nothing can be added after it.
    ///
    /// - Throws: ``TraceError`` for the first write error; later calls do nothing, see ``failure``.
    package func finish() throws(TraceError) {
        guard failure == nil, !isFinished else { return }
        isFinished = true
        try format.finish()
    }
}

/// The contents of a recording beside its samples; only an Arrow stream stores them.
package struct RecordingDetails: Sendable {
    /// The clock of the stamps, such as `monotonic`, where it is known.
    package var clock: String?
    /// How far the wall clock was ahead of that clock when the recording began, in nanoseconds; `nil` if unknown.
    package var wallAheadNanoseconds: Int64?
    /// The kernel's identifier of the boot: stamps of recordings with the same boot have a common clock.
    package var boot: String?
    /// The identity of each stream's device by the stream's index, if known; may be shorter.
    package var devices: [String?] = []
    /// Whether the raw scans of the samples are kept unchanged.
    package var keepsScans = false

    package init() {}
}

/// Turns deliveries into the bytes of a recording, in one format.
protocol RecordingFormat: AnyObject {
    /// The number of samples of each stream, by the stream's index.
    var sampleCounts: [Int] { get }

    /// Adds the samples of a delivery in their order of arrival, and writes when many are collected.
    func write(_ delivery: SampleDelivery) throws(TraceError)
    /// Writes the collected samples.
    func flush() throws(TraceError)
    /// Writes the collected samples and the end of a complete recording.
    func finish() throws(TraceError)
}
