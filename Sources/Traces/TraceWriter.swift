public import Binnacle

/// Writes samples as a recording: CSV with the canonical header, which ``TraceSource`` reads back as it came.
///
/// The rows stand in the order of arrival, one for the samples of one stamp. They are collected, and written in whole
/// lines: after a kill everything up to the last ``flush()`` is there, and at most the last line is torn, which a reader
/// passes over. Nothing is allocated per sample.
///
/// A reader takes a stream's sample whose stamp lies before that of the one before for a fault, and skips it.
public final class TraceWriter {
    /// The file's path; `-` is standard output.
    public let path: String
    /// How many samples of each stream were taken, by the stream's index.
    public private(set) var sampleCounts: [Int]
    /// The first error that a write met; nothing is written after it.
    public private(set) var failure: TraceError?
    /// Whether that was the reader at the other end of a pipe having gone, which is the ordinary end of one.
    public private(set) var isReaderGone = false

    private let file: OutputFile
    private let places: [Int]
    private var text: TraceText
    /// For each stream the sample of the delivery that comes next.
    private var next: [Int]
    /// The stamp and the last place of the row that is being put together.
    private var row: (timeNanoseconds: Int64, place: Int)?

    private static let pieceSize = 65_536
    /// A stamp has at most 20 bytes, an axis with its comma 16.
    private static let longestNumber = 20

    /// Creates a recording and writes its header.
    ///
    /// - Parameters:
    ///   - path: A file that is not there yet; `-` is standard output.
    ///   - streams: What is recorded, numbered from 0. Sensors' names are changed where a header could not carry them.
    ///   - replacing: Whether a file that is there already may be overwritten.
    /// - Throws: ``TraceError`` when the file cannot be made or written.
    public init(path: String, streams: [SampleStream], replacing: Bool = false) throws(TraceError) {
        precondition(!streams.isEmpty, "a recording needs a stream")
        let columns = TraceColumns(streams)
        let longestRow = Self.longestNumber * (1 + 3 * streams.count)
        guard max(columns.header.utf8.count, longestRow) <= LineReader.longestLine else {
            throw TraceError(.data, path: path, "\(streams.count) streams are too many for one recording: record fewer")
        }
        file = try OutputFile.create(path: path, replacing: replacing)
        self.path = path
        places = columns.places
        sampleCounts = places.map { _ in 0 }
        next = places.map { _ in 0 }
        text = TraceText(capacity: Self.pieceSize + longestRow)
        text.append(columns.header)
        text.append(UInt8(ascii: "\n"))
        try flush()
    }

    deinit {
        // Too late to tell of an error; whoever wants to know flushes.
        try? flush()
    }

    /// Adds the samples of a delivery in their order of arrival.
    ///
    /// - Parameter delivery: Has a batch for each of the recording's streams.
    /// - Throws: ``TraceError`` when writing fails, the first time; after that nothing is done, see ``failure``.
    public func write(_ delivery: SampleDelivery) throws(TraceError) {
        precondition(delivery.batches.count == next.count, "the delivery has other streams than the recording")
        guard failure == nil else { return }
        for stream in next.indices { next[stream] = 0 }
        while let stream = earliest(in: delivery) {
            try put(delivery.batches[stream][next[stream]], at: places[stream])
            next[stream] += 1
            sampleCounts[stream] += 1
        }
        try endRow()
    }

    /// Writes what was collected.
    ///
    /// - Throws: ``TraceError`` when writing fails, the first time; after that nothing is done, see ``failure``.
    public func flush() throws(TraceError) {
        guard failure == nil else { return }
        let code = file.write(text.bytes)
        text.removeAll()
        guard code != 0 else { return }
        isReaderGone = code == OutputFile.readerIsGone
        let name = path == OutputFile.standardOutput ? "standard output" : path
        let error = TraceError(.inputOutput, path: name, "writing failed: \(SystemText.of(code))")
        failure = error
        throw error
    }

    /// The stream whose next sample comes first: by stamp, then by the stream's index.
    private func earliest(in delivery: SampleDelivery) -> Int? {
        var earliest: (stream: Int, timeNanoseconds: Int64)?
        for stream in next.indices where next[stream] < delivery.batches[stream].count {
            let time = delivery.batches[stream][next[stream]].timeNanoseconds
            if let earliest, earliest.timeNanoseconds <= time { continue }
            earliest = (stream, time)
        }
        return earliest?.stream
    }

    /// Puts a sample into the row, or into a new one where this one would be read back in another order.
    private func put(_ sample: Sample, at place: Int) throws(TraceError) {
        if let row, row.timeNanoseconds != sample.timeNanoseconds || row.place >= place { try endRow() }
        let last: Int
        if let row {
            last = row.place
        } else {
            text.append(sample.timeNanoseconds)
            last = -1
        }
        skip(place - last - 1)
        field(sample.x)
        field(sample.y)
        field(sample.z)
        row = (sample.timeNanoseconds, place)
    }

    private func endRow() throws(TraceError) {
        guard let row else { return }
        skip(places.count - row.place - 1)
        text.append(UInt8(ascii: "\n"))
        self.row = nil
        if text.count >= Self.pieceSize { try flush() }
    }

    private func field(_ value: Float) {
        text.append(UInt8(ascii: ","))
        text.append(value)
    }

    /// Leaves the columns of streams empty.
    private func skip(_ count: Int) {
        for _ in 0..<(3 * count) { text.append(UInt8(ascii: ",")) }
    }
}
