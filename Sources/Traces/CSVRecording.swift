import Binnacle

/// Writes CSV with the canonical header.
///
/// The rows stand in the order of arrival, one for the samples of one stamp. They are collected, and written in whole
/// lines. Nothing is allocated per sample.
final class CSVRecording: RecordingFormat {
    private(set) var sampleCounts: [Int]

    private let file: RecordingFile
    private let places: [Int]
    private var text: TraceText
    /// For each stream the sample of the delivery that comes next.
    private var next: [Int]
    /// The stamp and the last place of the row that is being put together.
    private var row: (timeNanoseconds: Int64, place: Int)?

    private static let pieceSize = 65_536
    /// A stamp has at most 20 bytes, an axis with its comma 16.
    private static let longestNumber = 20

    /// Writes the header.
    init(_ file: RecordingFile, _ columns: TraceColumns) throws(TraceError) {
        self.file = file
        places = columns.places
        sampleCounts = places.map { _ in 0 }
        next = places.map { _ in 0 }
        text = TraceText(capacity: Self.pieceSize + Self.longestRow(of: places.count))
        text.append(columns.header)
        text.append(UInt8(ascii: "\n"))
        try flush()
    }

    /// Makes sure that a reader takes lines as long as these.
    static func check(_ columns: TraceColumns, path: String) throws(TraceError) {
        let count = columns.places.count
        guard max(columns.header.utf8.count, longestRow(of: count)) <= LineReader.longestLine else {
            throw TraceError(.data, path: path, "\(count) streams are too many for one recording: record fewer")
        }
    }

    private static func longestRow(of streamCount: Int) -> Int { longestNumber * (1 + 3 * streamCount) }

    func write(_ delivery: SampleDelivery) throws(TraceError) {
        for stream in next.indices { next[stream] = 0 }
        while let stream = delivery.earliestStream(from: next) {
            try put(delivery.batches[stream][next[stream]], at: places[stream])
            next[stream] += 1
            sampleCounts[stream] += 1
        }
    }

    func flush() throws(TraceError) {
        endRow()
        try writeText()
    }

    func finish() throws(TraceError) {
        try flush()
    }

    private func writeText() throws(TraceError) {
        defer { text.removeAll() }
        try file.write(text.bytes)
    }

    /// Puts a sample into the row, or into a new one where this one would be read back in another order.
    private func put(_ sample: Sample, at place: Int) throws(TraceError) {
        if let row, row.timeNanoseconds != sample.timeNanoseconds || row.place >= place {
            endRow()
            if text.count >= Self.pieceSize { try writeText() }
        }
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

    private func endRow() {
        guard let row else { return }
        skip(places.count - row.place - 1)
        text.append(UInt8(ascii: "\n"))
        self.row = nil
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
