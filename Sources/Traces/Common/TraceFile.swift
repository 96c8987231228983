public import Binnacle

/// A trace file that was opened and whose format is known, before its streams have found their sensors.
public final class TraceFile {
    /// What one stream in the file is.
    public struct Content: Sendable, Equatable {
        /// The sensor's name, when the file gives one.
        public let sensor: String?
        /// What is measured.
        public let kind: SampleKind
    }

    /// The file's path as it was given.
    public let path: String
    /// The streams in the file, in the order in which it names them.
    public var contents: [Content] { readers.flatMap(\.contents) }
    /// What was assumed about the file because its header does not say it.
    public var notices: [TraceNotice] { readers.flatMap(\.notices) }

    /// Those who read the contents, in their order.
    ///
    /// One reader keeps its streams in the order of arrival; those of several are merged by their stamps.
    let readers: [any TraceReader]

    /// Opens a file and recognises its format, and its columns when it is CSV.
    ///
    /// - Parameters:
    ///   - path: A CSV file, an Arrow stream, or a recording made with evemu-record.
    ///   - map: Columns and units named by the user, instead of those recognised.
    ///   - assumedKind: What bare `x`, `y`, `z` columns without a unit measure.
    ///   - isCancelled: Asked while the file, a pipe perhaps, keeps its reader waiting; `true` is the end of the file.
    /// - Throws: ``TraceError`` when it cannot be opened, or its header does not say enough.
    public convenience init(
        path: String, map: ColumnMap? = nil, assumedKind: SampleKind? = nil,
        isCancelled: @escaping () -> Bool = { false }
    ) throws(TraceError) {
        try self.init(
            path: path, map: map, assumedKind: assumedKind, makeDecoder: nil, isCancelled: isCancelled)
    }

    /// Opens a file and recognises its format.
    ///
    /// - Parameters:
    ///   - path: A CSV file, an Arrow stream, or a recording made with evemu-record.
    ///   - map: Columns and units named by the user, instead of those recognised.
    ///   - assumedKind: What bare `x`, `y`, `z` columns without a unit measure.
    ///   - makeDecoder: Makes what decodes the raw scans of an Arrow stream, in the place of the samples beside them;
    ///     `nil` takes the samples.
    ///   - isLineByLine: Whether every row takes the way of the unusual ones; makes no difference but in time.
    ///   - isCancelled: Asked while the file, a pipe perhaps, keeps its reader waiting; `true` is the end of the file.
    /// - Throws: ``TraceError`` when it cannot be opened, or its header does not say enough.
    package init(
        path: String, map: ColumnMap? = nil, assumedKind: SampleKind? = nil, makeDecoder: ScanDecoderMaker?,
        isLineByLine: Bool = false, isCancelled: @escaping () -> Bool = { false }
    ) throws(TraceError) {
        self.path = path
        if let file = try ArrowStream.open(path: path, makeDecoder: makeDecoder, assumedKind: assumedKind) {
            readers = try ArrowStream.readers(of: file, assumedKind: assumedKind)
            return
        }
        let lines = try LineReader(path: path, isCancelled: isCancelled)
        try ArrowStream.refuse(lines)
        guard makeDecoder == nil else {
            throw TraceError(
                .data, path: path, "has no raw scans: only an Arrow stream made by record --scans has them")
        }
        if try EvemuHead.isNext(lines) {
            readers = [LineTraceReader(lines, decoder: EvemuDecoder(try EvemuHead(lines)), isCancelled: isCancelled)]
        } else {
            let head = try CSVHead(lines, map: map, assumedKind: assumedKind)
            let decoder = CSVDecoder(head, isLineByLine: isLineByLine)
            readers = [LineTraceReader(lines, decoder: decoder, isCancelled: isCancelled)]
        }
    }
}

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
