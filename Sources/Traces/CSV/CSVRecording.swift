import Binnacle
import PlainText

/// Writes CSV with the canonical header.
///
/// Rows are in the order of arrival, one for all samples of a stamp, and are written as whole lines. Nothing is allocated per
/// sample.
final class CSVRecording: RecordingFormat {
    private(set) var sampleCounts: [Int]

    private let file: RecordingFile
    private let places: [Int]
    private var text: [UInt8] = []
    private var next: [Int]
    /// The stamp and the last place of the unfinished row.
    private var row: (timeNanoseconds: Int64, place: Int)?

    private static let pieceSize = 65_536
    /// A stamp has at most 20 bytes, an axis with its comma 16.
    private static let longestNumber = 20

    init(_ file: RecordingFile, _ columns: TraceColumns) throws(TraceError) {
        self.file = file
        places = columns.places
        sampleCounts = places.map { _ in 0 }
        next = places.map { _ in 0 }
        text.reserveCapacity(Self.pieceSize + Self.longestRow(of: places.count))
        text += "\(columns.header)\n".utf8
        try flush()
    }

    /// Throws ``TraceError`` when the lines would be too long for a reader.
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
        defer { text.removeAll(keepingCapacity: true) }
        try file.write(text)
    }

    /// Adds a sample to the row, or to a new one if the reader would otherwise change the order.
    private func put(_ sample: Sample, at place: Int) throws(TraceError) {
        if let row, row.timeNanoseconds != sample.timeNanoseconds || row.place >= place {
            endRow()
            if text.count >= Self.pieceSize { try writeText() }
        }
        if row == nil { Decimal.append(sample.timeNanoseconds, to: &text) }
        appendEmpty(place - (row?.place ?? -1) - 1)
        append(sample.x)
        append(sample.y)
        append(sample.z)
        row = (sample.timeNanoseconds, place)
    }

    private func endRow() {
        guard let row else { return }
        appendEmpty(places.count - row.place - 1)
        text.append(UInt8(ascii: "\n"))
        self.row = nil
    }

    private func append(_ axis: Float) {
        text.append(UInt8(ascii: ","))
        text.append(axis)
    }

    /// Appends empty columns for a number of streams.
    private func appendEmpty(_ streamCount: Int) {
        for _ in 0..<(3 * streamCount) { text.append(UInt8(ascii: ",")) }
    }
}

/// Formats numbers without allocating.
extension [UInt8] {
    /// Appends the shortest text that reads back to the same value.
    fileprivate mutating func append(_ value: Float) {
        // The description of a NaN may have a payload, which readers do not parse.
        guard !value.isNaN else { return self += "nan".utf8 }
        // At most fifteen bytes (-1.17549435e-38), which a string holds without allocating.
        self += value.description.utf8
        guard count >= 2, self[count - 1] == UInt8(ascii: "0") else { return }
        if self[count - 2] == UInt8(ascii: ".") { removeLast(2) }
    }
}
