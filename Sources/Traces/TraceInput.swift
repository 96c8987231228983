import Binnacle

/// One file of a ``TraceSource`` with the window of its samples that are read and not yet delivered.
final class TraceInput {
    let reader: any TraceReader
    /// Whether the file may have more than its window.
    private(set) var isOpen = true
    /// Why the file cannot be read any further.
    private(set) var error: TraceError?

    /// What each of the file's streams is known by; `nil` when nobody wants it.
    let streams: [StreamID?]
    /// The place of each of the file's streams among those of all files.
    private let fullRanks: [Int]
    private var window: [SampleBatch] = []
    private var delivered: [Int] = []

    init(reader: any TraceReader, ranks: [Int?], of all: [StreamID]) {
        self.reader = reader
        streams = ranks.map { rank in rank.map { all[$0] } }
        // A stream that nobody wants takes part in the file's order all the same, behind all others.
        fullRanks = ranks.map { $0 ?? .max }
    }

    var isDrained: Bool {
        for stream in window.indices where window[stream].count != delivered[stream] { return false }
        return true
    }

    /// Where the last sample of the window stands.
    var last: Key? {
        var latest: Key?
        for stream in window.indices {
            guard let time = window[stream].lastTimeNanoseconds else { continue }
            let key = Key(timeNanoseconds: time, rank: fullRanks[stream])
            latest = max(latest ?? key, key)
        }
        return latest
    }

    struct Key: Comparable {
        let timeNanoseconds: Int64
        let rank: Int

        static func < (left: Key, right: Key) -> Bool {
            (left.timeNanoseconds, left.rank) < (right.timeNanoseconds, right.rank)
        }
    }

    /// Reads the next window when the last one is delivered.
    func refill(capacity: Int) {
        if !isDrained, reader.hasShrunk { dropWindow() }
        guard isOpen, isDrained else { return }
        if window.first?.capacity != capacity {
            window = streams.map { _ in SampleBatch(capacity: capacity) }
            delivered = Array(repeating: 0, count: window.count)
        }
        dropWindow()
        do throws(TraceError) {
            isOpen = try reader.fill(window, ranks: fullRanks)
        } catch {
            isOpen = false
            self.error = error
        }
    }

    private func dropWindow() {
        for stream in window.indices {
            window[stream].removeAll()
            delivered[stream] = 0
        }
    }

    /// Delivers the samples up to a place in the common order; all of them without one.
    func move(upTo horizon: Key?, into delivery: SampleDelivery) {
        for (stream, batch) in window.enumerated() {
            let end = horizon.map { upperBound(of: batch, from: delivered[stream], rank: fullRanks[stream], upTo: $0) }
            let range = delivered[stream]..<(end ?? batch.count)
            if let id = streams[stream], !range.isEmpty, let target = delivery[id] {
                // The window stays as it is until it is delivered, and the delivery is read before that.
                if target.isEmpty { target.borrow(batch, range: range) } else { target.append(batch, range: range) }
            }
            delivered[stream] = range.upperBound
        }
    }

    private func upperBound(of batch: SampleBatch, from start: Int, rank: Int, upTo horizon: Key) -> Int {
        var low = start
        var high = batch.count
        while low < high {
            let middle = low + (high - low) / 2
            if Key(timeNanoseconds: batch[middle].timeNanoseconds, rank: rank) <= horizon {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
