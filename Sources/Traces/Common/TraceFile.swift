package import Binnacle

/// An open trace file of a known format, whose streams are not yet assigned to sensors.
package final class TraceFile {
    /// The contents of one stream in the file.
    package struct Content: Sendable, Equatable {
        /// The sensor's name; `nil` when the file has none.
        package let sensor: String?
        /// The kind of the samples.
        package let kind: SampleKind
    }

    /// The file's path as it was given.
    package let path: String
    /// The streams in the file, in the file's order.
    package var contents: [Content] { readers.flatMap(\.contents) }
    /// Assumptions made because the header is incomplete.
    package var notices: [TraceNotice] { unpackingNotices + readers.flatMap(\.notices) }

    /// The readers of the contents, in order.
    ///
    /// One reader keeps its streams in the order of arrival; the streams of several readers are merged by their stamps.
    let readers: [any TraceReader]
    /// Defects found by unpacking.
    private let unpackingNotices: [TraceNotice]

    /// Opens a file and recognises its format.
    ///
    /// - Parameters:
    ///   - path: A CSV file, an Arrow stream, or a recording made with evemu-record, also compressed with zstd, or a pipe with
    ///     one of them. An Arrow stream or compressed data from a pipe is first read completely into an unnamed file.
    ///   - hints: The user's statements about the file.
    ///   - makeDecoder: Makes the decoder for an Arrow stream's raw scans, which replace the recorded samples; `nil` uses the
    ///     samples.
    ///   - isLineByLine: Whether CSV is never read in bulk; the result is the same.
    ///   - chunking: The number of threads that read a large CSV file; the result is the same.
    ///   - isCancelled: Called while the reader waits for a pipe; `true` is treated as the end of the file.
    /// - Throws: ``TraceError`` when the file cannot be opened, or its header is incomplete.
    package init(
        path: String, hints: TraceHints = TraceHints(), makeDecoder: ScanDecoderMaker? = nil,
        isLineByLine: Bool = false, chunking: Chunking = .serial,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(TraceError) {
        self.path = path
        // A pipe is opened once: a second open would wait for a second writer.
        var file = try InputFile.open(path: path)
        var piped: LineReader?
        if file.size == nil {
            let lines = LineReader(file, isCancelled: isCancelled)
            let first = try lines.firstBytes(ForeignFormat.markCount)
            if ArrowTrace.begins(with: first) || first.starts(with: ZstdStream.mark) {
                file = try Unpacking.pipe(lines)
            } else {
                piped = lines
            }
        }
        var notice: TraceNotice?
        if piped == nil { (file, notice) = try Unpacking.file(file, isCancelled: isCancelled) }
        unpackingNotices = notice.map { [$0] } ?? []
        if piped == nil, let stream = try ArrowTrace.open(file, makeDecoder: makeDecoder, hints: hints) {
            readers = try ArrowTrace.readers(of: stream, hints: hints)
            try requireGravity(hints)
            return
        }
        let lines = piped ?? LineReader(file, isCancelled: isCancelled)
        try ForeignFormat.refuse(try lines.firstBytes(ForeignFormat.markCount), path)
        guard makeDecoder == nil else {
            throw TraceError(
                .data, path: path, "has no raw scans: only an Arrow stream made by record --scans has them")
        }
        guard try !EvemuHead.isNext(lines) else {
            let decoder = EvemuDecoder(try EvemuHead(lines), hints: hints)
            readers = [RowReader(lines, decoder: decoder, isCancelled: isCancelled)]
            try requireGravity(hints)
            return
        }
        let head = try CSVHead(lines, hints: hints)
        let decoder = CSVDecoder(head, isLineByLine: isLineByLine)
        readers = [
            RowReader(
                lines, decoder: decoder,
                readAhead: decoder.canReadChunks ? { $0.readAhead(head, chunking) } : nil, isCancelled: isCancelled)
        ]
    }

    /// Throws if the user adds gravity to recordings that contain it.
    private func requireGravity(_ hints: TraceHints) throws(TraceError) {
        guard hints.map?.acceleration == .linear, contents.contains(where: { $0.kind == .accelerometer }) else {
            return
        }
        throw TraceError(
            .data, path: path,
            "--map acceleration=linear is for CSV files of apps that take gravity away, and this is none")
    }
}

/// Reads one file as a sequence of windows, each in the order of arrival and with stamps that never decrease.
protocol TraceReader: AnyObject {
    var path: String { get }
    var contents: [TraceFile.Content] { get }
    /// Assumptions made because the file is incomplete.
    var notices: [TraceNotice] { get }
    var repairs: TraceRepairs { get }
    /// The share of the file that was read, from 0 to 1; `nil` for a pipe.
    var fraction: Double? { get }
    /// Whether windows borrow from a mapped file, so that large windows cost no memory.
    var isMapped: Bool { get }
    /// Whether the file shrank, so that a window's contents may be invalid.
    var hasShrunk: Bool { get }

    /// Appends samples to a window, an empty batch for each stream, until a batch is full, the order of arrival steps back, or
    /// the file ends; returns whether there may be more.
    ///
    /// `ranks` are the streams' places in the pipeline's order. After an error the samples in the window are valid.
    func fill(_ window: [SampleBatch], ranks: [Int]) throws(TraceError) -> Bool
}

extension TraceReader {
    var isMapped: Bool { false }
    var hasShrunk: Bool { false }
}

/// A sample's place in the order of all streams: first by stamp, then by the stream's rank.
struct SamplePlace: Comparable {
    let timeNanoseconds: Int64
    let rank: Int

    static func < (left: SamplePlace, right: SamplePlace) -> Bool {
        (left.timeNanoseconds, left.rank) < (right.timeNanoseconds, right.rank)
    }
}

extension Range<Int> {
    /// The first index for which a condition fails that holds for all indices before it; found by binary search.
    @inline(__always)
    package func partitionPoint(_ isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
