package import Binnacle

/// Writes samples as a recording that ``TraceSource`` reads back as it came: an Arrow stream when the file's name ends
/// in `.arrows`, and else CSV with the canonical header.
///
/// Samples are collected, and written in whole lines or messages: after a kill everything up to the last ``flush()`` is
/// there, and at most the last line or message is torn, which a reader skips. Nothing is allocated per sample.
///
/// A reader skips a sample whose stamp lies before the previous one of its stream.
package final class TraceWriter {
    /// The file's path; `-` is standard output.
    package let path: String
    /// How many samples of each stream were taken, by the stream's index.
    package var sampleCounts: [Int] { format.sampleCounts }
    /// The first error that a write met; nothing is written after it.
    package var failure: TraceError? { file.failure }
    /// Whether the raw scans of the samples are recorded.
    package let keepsScans: Bool
    /// Whether ``failure`` is that the reading end of a pipe was closed, which ends a pipeline normally.
    package var isReaderGone: Bool { file.isReaderGone }

    private let file: RecordingFile
    private let format: any RecordingFormat
    private let streamCount: Int
    private var isFinished = false

    /// The file name suffix of an Arrow stream.
    private static let arrowSuffix = ".arrows"
    /// Suffixes of formats that are not written.
    private static let otherSuffixes = [".arrow", ".feather", ".ipc", ".parquet"]

    /// Creates a recording and writes its header.
    ///
    /// - Parameters:
    ///   - path: A file that is not there yet; `-` is standard output.
    ///   - streams: What is recorded, numbered from 0. Sensors' names are changed where a header could not carry them.
    ///   - replacing: Whether a file that is there already may be overwritten.
    ///   - details: What an Arrow stream holds beyond the samples.
    /// - Throws: ``TraceError`` when the file cannot be made or written.
    package init(
        path: String, streams: [SampleStream], replacing: Bool = false, details: RecordingDetails = RecordingDetails()
    ) throws(TraceError) {
        precondition(!streams.isEmpty, "a recording needs a stream")
        self.path = path
        streamCount = streams.count
        let columns = TraceColumns(streams)
        if let other = Self.otherSuffixes.first(where: path.hasSuffix) {
            throw TraceError(
                .cannotCreate, path: path, "\(other) is not written: a recording is an Arrow stream, .arrows, or .csv")
        }
        keepsScans = details.keepsScans && Self.isArrow(path)
        if Self.isArrow(path) {
            try ArrowRecording.check(columns, path: path)
            file = try RecordingFile(path: path, replacing: replacing)
            format = try ArrowRecording(file, columns, details)
        } else {
            try CSVRecording.check(columns, path: path)
            file = try RecordingFile(path: path, replacing: replacing)
            format = try CSVRecording(file, columns)
        }
    }

    /// Whether a recording of that name becomes an Arrow stream.
    package static func isArrow(_ path: String) -> Bool { path.hasSuffix(arrowSuffix) }

    deinit {
        // An error cannot be reported from here; callers that need it call finish() themselves.
        try? finish()
    }

    /// Adds the samples of a delivery in their order of arrival.
    ///
    /// - Parameter delivery: Has a batch for each of the recording's streams.
    /// - Throws: ``TraceError`` for the first write that fails; later calls do nothing, see ``failure``.
    package func write(_ delivery: SampleDelivery) throws(TraceError) {
        precondition(delivery.batches.count == streamCount, "the delivery has other streams than the recording")
        precondition(!isFinished, "the recording has its end")
        guard failure == nil else { return }
        try format.write(delivery)
    }

    /// Writes what was collected.
    ///
    /// - Throws: ``TraceError`` for the first write that fails; later calls do nothing, see ``failure``.
    package func flush() throws(TraceError) {
        guard failure == nil, !isFinished else { return }
        try format.flush()
    }

    /// Writes what was collected and the end of the recording; nothing can be added after it.
    ///
    /// - Throws: ``TraceError`` for the first write that fails; later calls do nothing, see ``failure``.
    package func finish() throws(TraceError) {
        guard failure == nil, !isFinished else { return }
        isFinished = true
        try format.finish()
    }
}

/// What a recording holds beyond its samples; only an Arrow stream has room for it.
package struct RecordingDetails: Sendable {
    /// The clock of the stamps, such as `monotonic`, where it is known.
    package var clock: String?
    /// What the wall clock was ahead of that clock when the recording began, in nanoseconds; `nil` where it is not known.
    package var wallAheadNanoseconds: Int64?
    /// The kernel's identifier of the boot, within which the stamps of several recordings are of one clock.
    package var boot: String?
    /// For each stream's index the identity of its device, where it is known; may be shorter.
    package var devices: [String?] = []
    /// Whether the raw scans of the samples are kept, byte by byte.
    package var keepsScans = false

    /// Creates details without any content.
    package init() {}
}

/// Turns deliveries into the bytes of a recording, in one format.
protocol RecordingFormat: AnyObject {
    /// The number of samples taken of each stream, by the stream's index.
    var sampleCounts: [Int] { get }

    /// Adds the samples of a delivery in their order of arrival, and writes them once there are many.
    func write(_ delivery: SampleDelivery) throws(TraceError)
    /// Writes everything that was added.
    func flush() throws(TraceError)
    /// Writes everything, and the end of a complete recording.
    func finish() throws(TraceError)
}
