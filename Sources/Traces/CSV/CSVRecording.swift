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

/// The bytes of a trace that are not written yet; numbers are put into them without allocating.
struct TraceText {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: So many bytes it holds without growing.
    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    var count: Int { bytes.count }

    /// Removes everything and keeps the room.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a whole number.
    mutating func append(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var low = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        // The lowest digit came first.
        var high = bytes.count - 1
        while low < high {
            bytes.swapAt(low, high)
            low += 1
            high -= 1
        }
    }

    /// Appends the shortest text that reads back to the same value.
    mutating func append(_ value: Float) {
        // A NaN may describe itself with its payload, which no reader knows.
        guard !value.isNaN else { return append("nan") }
        // At most fifteen bytes (-1.17549435e-38), which a string holds without allocating.
        bytes.append(contentsOf: value.description.utf8)
        guard bytes.count >= 2, bytes[bytes.count - 1] == UInt8(ascii: "0") else { return }
        if bytes[bytes.count - 2] == UInt8(ascii: ".") { bytes.removeLast(2) }
    }
}
