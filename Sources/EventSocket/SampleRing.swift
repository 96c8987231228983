import Binnacle

/// The last samples of one stream, for all subscribers: each sample has a place, counted from 0 and never reused.
///
/// Subscribers keep no samples but places, so a slow one costs no memory.
package struct SampleRing {
    /// The number of samples that a subscriber may be behind: two seconds at 4 kHz, 192 KiB.
    package static let capacity = 8192
    /// The number of samples in a line, which has less than 10 KiB, so that lines of events fit behind it in a piece.
    static let mostInLine = 128

    let origin: SampleOrigin
    private(set) var first: UInt64 = 0
    private(set) var end: UInt64 = 0
    private var samples: [Sample] = []
    /// The place of the sample in the first slot.
    private var base: UInt64 = 0
    /// The last line, which the next subscriber wants as well when it is not behind.
    private var last: (first: UInt64, end: UInt64, line: [UInt8])?

    init(_ origin: SampleOrigin) {
        self.origin = origin
    }

    mutating func append(_ queue: SampleQueue) {
        if queue.droppedCount > 0 {
            // What is older is of no use to a client that misses what came behind it.
            end += UInt64(queue.droppedCount)
            (first, base) = (end, end)
            samples.removeAll()
        }
        for sample in queue.samples {
            if samples.count < Self.capacity {
                samples.append(sample)
            } else {
                samples[slot(of: first)] = sample
                first += 1
            }
            end += 1
        }
    }

    /// The next line for a subscriber whose next sample has a place, without its end, and the place behind the line.
    mutating func line(from place: UInt64, lostCount: UInt64) -> (line: [UInt8], end: UInt64) {
        let lineEnd = min(end, place + UInt64(Self.mostInLine))
        if lostCount == 0, let last, last.first == place, last.end == lineEnd { return (last.line, lineEnd) }
        let batch = StreamedSamples(
            origin, lostCount: Int(clamping: lostCount), samples: (place..<lineEnd).map { samples[slot(of: $0)] })
        let line = Array(SocketMessage.samples(batch).json.utf8)
        if lostCount == 0 { last = (place, lineEnd, line) }
        return (line, lineEnd)
    }

    private func slot(of place: UInt64) -> Int { Int((place - base) % UInt64(Self.capacity)) }
}

/// The samples of one stream on their way to the server's thread.
struct SampleQueue {
    let origin: SampleOrigin
    private(set) var samples: [Sample] = []
    /// The number of samples that were dropped before these, because the server's thread was late.
    private(set) var droppedCount = 0

    init(_ origin: SampleOrigin) {
        self.origin = origin
    }

    mutating func append(_ columns: SampleColumns) {
        samples.reserveCapacity(samples.count + columns.count)
        for index in 0..<columns.count { samples.append(columns.sample(index)) }
        let excess = samples.count - SampleRing.capacity
        guard excess > 0 else { return }
        // More than necessary, so that not every further delivery moves the others.
        let count = max(excess, SampleRing.capacity / 2)
        samples.removeFirst(count)
        droppedCount += count
    }
}
