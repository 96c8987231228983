import Binnacle
import PlainText
import Traces

/// An end of the stretch of a recording that is played: `--from` or `--to`.
package struct ReplayBound: Sendable {
    /// What the time counts from.
    package enum Time: Sendable {
        /// The recording's first sample, in nanoseconds.
        case afterFirst(Int64)
        /// The beginning of 1970 in UTC, in nanoseconds.
        case wallClock(Int64)
    }

    package let time: Time
    /// The option and its value, for messages.
    package let text: String

    package init(_ time: Time, text: String) {
        self.time = time
        self.text = text
    }
}

/// Delivers a stretch of a recording, as if the recording began and ended there.
///
/// What lies before the stretch is read and discarded. Detection gets none of it, so a stretch gives the same events as
/// a file with these samples alone.
final class ReplayStretch: SampleSource {
    let streams: [SampleStream]
    /// The recording's first stamp; `nil` before it was read.
    private(set) var firstNanoseconds: Int64?
    /// Why the stretch cannot be played.
    private(set) var failure: StationError?
    /// That the recording ended before the stretch.
    private(set) var notice: String?

    private let source: any SampleSource
    private let from: ReplayBound?
    private let to: ReplayBound?
    private var limits = Int64.min...Int64.max
    private var whole: SampleDelivery
    /// The last stamp of each stream, in the order of the streams; the greatest one for a stream that failed.
    private var last: [Int64]
    /// The last stamp of the recording.
    private var lastNanoseconds = Int64.min
    private var hasPlayed = false
    private var isEnded = false

    /// The number of samples that are skipped in one turn of the session, which looks for signals in between.
    private static let mostSkipped = 65_536
    /// Stamps before 2000 are no wall-clock time: they count from the start of a machine or of a recording.
    static let leastWallClock: Int64 = 946_684_800_000_000_000

    /// Creates a source that plays a part of another one.
    init(_ source: any SampleSource, from: ReplayBound?, to: ReplayBound?) {
        self.source = source
        self.from = from
        self.to = to
        streams = source.streams
        whole = SampleDelivery(streams: source.streams, capacity: 1)
        last = Array(repeating: .min, count: source.streams.count)
    }

    /// Delivers what comes next of the stretch; the delivery may stay empty while samples are skipped.
    func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if whole.capacity != delivery.capacity {
            whole = SampleDelivery(streams: streams, capacity: delivery.capacity)
        }
        var skipped = 0
        while !isEnded, skipped < Self.mostSkipped {
            whole.removeAll()
            let answer = source.fill(whole)
            if failure == nil, !whole.isEmpty { play(into: delivery) }
            switch answer {
            case .ended: end()
            case .failed(let failed, _):
                for (index, stream) in streams.enumerated() where failed.contains(where: { $0.id == stream.id }) {
                    last[index] = .max
                }
                return answer
            case .pending: return .pending
            case .samples:
                // Samples of another stream may still lie in the stretch: the order of arrival is not that of the stamps.
                if failure != nil || last.allSatisfy({ $0 > limits.upperBound }) { end() }
                guard delivery.isEmpty else { return .samples }
                skipped += whole.batches.reduce(1) { $0 + $1.count }
            }
        }
        return isEnded ? .ended : .samples
    }

    private func play(into delivery: SampleDelivery) {
        if firstNanoseconds == nil { begin() }
        guard failure == nil else { return }
        for loss in whole.losses where loss.timeNanoseconds.map({ limits.contains($0) }) ?? hasPlayed {
            delivery.append(loss)
        }
        for (index, batch) in whole.batches.enumerated() {
            guard let end = batch.lastTimeNanoseconds else { continue }
            last[index] = max(last[index], end)
            lastNanoseconds = max(lastNanoseconds, end)
            let times = batch.columns
            let all = 0..<batch.count
            let start = all.partitionPoint { times.times[$0] < limits.lowerBound }
            let range = start..<(start..<batch.count).partitionPoint { times.times[$0] <= limits.upperBound }
            guard !range.isEmpty else { continue }
            hasPlayed = true
            // The whole delivery stays as it is until this source is asked again.
            delivery[streams[index].id]?.borrow(batch, range: range)
        }
    }

    /// Finds the ends of the stretch from the recording's first stamp.
    private func begin() {
        var first = Int64.max
        for batch in whole.batches where !batch.isEmpty { first = min(first, batch[0].timeNanoseconds) }
        firstNanoseconds = first
        let lower = from.flatMap { stamp($0, first) } ?? .min
        let upper = to.flatMap { stamp($0, first) } ?? .max
        guard failure == nil else { return }
        guard lower <= upper, upper >= first else {
            let texts = [from, to].compactMap { $0?.text }.joined(separator: " ")
            failure = StationError(
                .usage,
                lower > upper
                    ? "\(texts): the end is before the beginning"
                    : "\(texts): the recording begins later, at \(WallTime.text(first))")
            return
        }
        limits = lower...upper
    }

    private func stamp(_ bound: ReplayBound, _ first: Int64) -> Int64? {
        switch bound.time {
        case .afterFirst(let distance): return Units.later(first, by: distance)
        case .wallClock(let time):
            guard first < Self.leastWallClock else { return time }
            failure = StationError(
                .usage,
                "\(bound.text): the recording's stamps are no wall-clock time (its first one is \(Self.seconds(first)) s); "
                    + "name a time after its first sample, as in 10s")
            return nil
        }
    }

    private func end() {
        isEnded = true
        guard failure == nil, let first = firstNanoseconds else { return }
        let length = Self.seconds(PacedSource.distance(from: first, to: lastNanoseconds))
        if !hasPlayed {
            let texts = [from, to].compactMap { $0?.text }.joined(separator: " ")
            failure = StationError(
                .usage,
                lastNanoseconds < limits.lowerBound
                    ? "\(texts): the recording ends \(length) s after its first sample"
                    : "\(texts): the recording has no sample there")
        } else if let to, lastNanoseconds < limits.upperBound {
            notice = "\(to.text): the recording ends \(length) s after its first sample"
        }
    }

    /// A number of seconds, to the millisecond.
    static func seconds(_ nanoseconds: Int64) -> String {
        Figure.Value.number(Double(nanoseconds) * 1e-9, decimals: 3).description
    }
}
