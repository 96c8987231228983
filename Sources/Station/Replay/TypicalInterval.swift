import Binnacle

/// The usual distance between two samples of a recording: the median of the first ones, in the fastest of its streams.
struct TypicalInterval {
    /// The last stamp of each stream, and the distances seen; a repeated stamp is none.
    private var streams: [(lastNanoseconds: Int64?, distances: [Int64])]

    /// As many tell what is usual, in spite of a few gaps.
    private static let mostDistances = 255
    /// What is taken when no stream has two stamps.
    private static let fallbackNanoseconds: Int64 = 1_000_000_000
    /// A recording without length, played for ever, must not take the whole processor.
    private static let leastNanoseconds: Int64 = 100_000

    init(streamCount: Int) {
        streams = Array(repeating: (nil, []), count: streamCount)
    }

    /// Looks at a delivery, as long as there is something to learn from it.
    mutating func look(at delivery: SampleDelivery) {
        for (stream, batch) in delivery.batches.enumerated() {
            var index = 0
            while index < batch.count, streams[stream].distances.count < Self.mostDistances {
                let time = batch[index].timeNanoseconds
                if let last = streams[stream].lastNanoseconds, time > last {
                    streams[stream].distances.append(PacedSource.distance(from: last, to: time))
                }
                streams[stream].lastNanoseconds = time
                index += 1
            }
        }
    }

    /// The interval, in nanoseconds.
    var nanoseconds: Int64 {
        let medians = streams.compactMap { stream in
            stream.distances.isEmpty ? nil : stream.distances.sorted()[stream.distances.count / 2]
        }
        return max(medians.min() ?? Self.fallbackNanoseconds, Self.leastNanoseconds)
    }
}
