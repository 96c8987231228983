import ArrowStream
import Binnacle

/// Writes an Arrow stream: record batches of one stream of samples each, whose columns can be used without copying.
///
/// Batches are written in groups. Sorted by stamp, then by sensor number, the samples of a group are in the order of arrival. A
/// group therefore ends where the order of arrival steps back, when a stream has many samples, at each flush, and where the
/// layout of the scans changes, because a batch has scans of one layout, or none. Nothing is allocated per sample.
final class ArrowRecording: RecordingFormat {
    private(set) var sampleCounts: [Int]

    private let file: RecordingFile
    private var encoder = ArrowMessageWriter()
    private let places: [Int]
    /// Whether samples with one stamp arrive in the order of their sensor numbers.
    private let isInOrder: Bool
    /// The samples of the group, by the stream's index.
    private let columns: [SampleBatch]
    /// The raw scans of these samples; `nil` when they are not recorded.
    private var scans: [ScanColumn]?
    private var group: Int64 = 0
    private var last: (timeNanoseconds: Int64, place: Int)?
    private var next: [Int]

    /// The maximum number of samples of a stream in a batch.
    private let batchCount: Int

    private static let mostStreams = 256
    private static let mostSamples = 65_536
    private static let fewestSamples = 1024
    /// The maximum number of samples of all streams in a group: 20 MB.
    private static let mostSamplesOfAll = 1 << 20
    /// A group ends when a stream's scans take more bytes, far below the limit of the column's 32-bit offsets.
    private static let manyScanBytes = 1 << 24

    init(_ file: RecordingFile, _ columns: TraceColumns, _ details: RecordingDetails) throws(TraceError) {
        self.file = file
        places = columns.places
        isInOrder = places == Array(places.indices)
        sampleCounts = places.map { _ in 0 }
        next = places.map { _ in 0 }
        let batchCount = min(Self.mostSamples, max(Self.fewestSamples, Self.mostSamplesOfAll / places.count))
        self.batchCount = batchCount
        self.columns = places.map { _ in SampleBatch(capacity: batchCount) }
        if details.keepsScans { scans = places.map { _ in ScanColumn() } }
        try file.write(encoder.schema(columns, details))
    }

    /// Throws ``TraceError`` when there are more streams than sensor numbers.
    static func check(_ columns: TraceColumns, path: String) throws(TraceError) {
        guard columns.places.count <= mostStreams else {
            throw TraceError(
                .data, path: path, "\(columns.places.count) streams are too many for one recording: record fewer")
        }
    }

    func write(_ delivery: SampleDelivery) throws(TraceError) {
        for stream in next.indices { next[stream] = 0 }
        guard let first = delivery.earliestStream(from: next) else { return }
        guard isInOrder, delivery.batches.allSatisfy({ $0.count <= batchCount }) else {
            return try writeOneByOne(delivery)
        }
        let hasRoom = zip(columns, delivery.batches).allSatisfy { $0.count + $1.count <= $0.capacity }
        let endsGroup = !hasRoom || stepsBack(delivery.batches[first][0].timeNanoseconds, first)
        if endsGroup || delivery.batches.indices.contains(where: { needsOtherBatch(delivery, $0) }) { try flush() }
        for (stream, batch) in delivery.batches.enumerated() where !batch.isEmpty {
            columns[stream].append(batch, range: 0..<batch.count)
            addScans(of: delivery, 0..<batch.count, to: stream)
            sampleCounts[stream] += batch.count
        }
        guard let latest = delivery.lastTimeNanoseconds,
            let place = delivery.batches.lastIndex(where: { $0.lastTimeNanoseconds == latest })
        else { return }
        last = (latest, place)
    }

    func flush() throws(TraceError) {
        guard last != nil else { return }
        for (stream, place) in places.enumerated().sorted(by: { $0.element < $1.element }) {
            guard !columns[stream].isEmpty else { continue }
            let bytes = encoder.batch(
                columns[stream].columns, sensor: UInt8(place), scans: scans?[stream], group: group)
            columns[stream].removeAll()
            scans?[stream].removeAll()
            try file.write(bytes)
        }
        group += 1
        last = nil
    }

    func finish() throws(TraceError) {
        try flush()
        try file.write(ArrowMessageWriter.end)
    }

    /// Whether a sample would not be read back as the last of the group.
    private func stepsBack(_ timeNanoseconds: Int64, _ place: Int) -> Bool {
        guard let last else { return false }
        return (timeNanoseconds, place) < last
    }

    /// Whether a delivery's stream has scans of another layout than the group, or too many bytes of them.
    private func needsOtherBatch(_ delivery: SampleDelivery, _ stream: Int) -> Bool {
        guard let scans = scans?[stream], !columns[stream].isEmpty, !delivery.batches[stream].isEmpty else {
            return false
        }
        return scans.layout != delivery.scans?.layout ?? "" || scans.bytes.count > Self.manyScanBytes
    }

    private func addScans(of delivery: SampleDelivery, _ range: Range<Int>, to stream: Int) {
        guard let added = delivery.scans, !added.isEmpty else { return }
        precondition(added.count == delivery.batches[stream].count, "as many scans as samples, or none")
        scans?[stream].append(added, range: range)
    }

    /// Adds the samples in the order of arrival: by stamp, then by the stream's index.
    private func writeOneByOne(_ delivery: SampleDelivery) throws(TraceError) {
        while let stream = delivery.earliestStream(from: next) {
            let sample = delivery.batches[stream][next[stream]]
            let endsGroup = columns[stream].isFull || stepsBack(sample.timeNanoseconds, places[stream])
            if endsGroup || needsOtherBatch(delivery, stream) { try flush() }
            columns[stream].append(sample)
            addScans(of: delivery, next[stream]..<next[stream] + 1, to: stream)
            last = (sample.timeNanoseconds, places[stream])
            next[stream] += 1
            sampleCounts[stream] += 1
        }
    }
}

extension SampleDelivery {
    /// The stream whose next sample, given by its index in `next`, comes first: by stamp, then by the stream's index.
    func earliestStream(from next: [Int]) -> Int? {
        var earliest: (stream: Int, timeNanoseconds: Int64)?
        for stream in next.indices where next[stream] < batches[stream].count {
            let time = batches[stream][next[stream]].timeNanoseconds
            if let earliest, earliest.timeNanoseconds <= time { continue }
            earliest = (stream, time)
        }
        return earliest?.stream
    }
}
