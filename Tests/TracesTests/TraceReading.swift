import Binnacle
import Traces

/// What a file gives: every delivery, and what was said of it.
struct TraceReading: Equatable {
    var deliveries: [[[Arrival]]] = []
    var failures: [String] = []
    var repairs = TraceRepairs()

    init(
        _ path: String, map: ColumnMap? = nil, capacity: Int = 4096, isLineByLine: Bool = false,
        chunking: Chunking = .serial
    ) throws(TraceError) {
        let file = try TraceFile(
            path: path, hints: TraceHints(map: map, assumedKind: .accelerometer), isLineByLine: isLineByLine,
            chunking: chunking)
        let source = TraceSource(file)
        let delivery = SampleDelivery(streams: source.streams, capacity: capacity)
        while true {
            delivery.removeAll()
            let answer = source.fill(delivery)
            deliveries.append(
                delivery.batches.enumerated().map { stream, batch in
                    (0..<batch.count).map { Arrival(stream: stream, sample: batch[$0]) }
                })
            if case .failed(_, let reason) = answer { failures.append("\(reason)") }
            if answer.isEnd { break }
        }
        repairs = source.repairs
    }

    var sampleCount: Int { deliveries.joined().map(\.count).reduce(0, +) }
}

extension TraceSource {
    /// Every stream of one file.
    convenience init(_ file: TraceFile) {
        self.init([(file, TraceSource.nameSensors(of: [file], given: [file.contents.map { _ in nil }])[0])])
    }
}

extension Chunking {
    /// Chunks of any size, of files of any length.
    static func tiny(_ bytes: Int, _ threadCount: Int) -> Chunking {
        var chunking = Chunking(threadCount: threadCount)
        chunking.chunkBytes = bytes
        chunking.fewestBytes = 0
        return chunking
    }
}
