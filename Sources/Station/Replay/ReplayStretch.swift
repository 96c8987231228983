import Binnacle
import PlainText
import Traces

/// An end of the stretch of a recording that is played: `--from` or `--to`.
package struct ReplayBound: Sendable {
    /// The reference of the time.
    package enum Time: Sendable {
        /// The recording's first sample, in nanoseconds.
        case afterFirst(Int64)
        /// The beginning of 1970 in UTC, in nanoseconds.
        case wallClock(Int64)
    }

    /// Earlier stamps (before 2000) are no wall-clock time: they count from a boot or from the recording's start.
    package static let leastWallClock: Int64 = 946_684_800_000_000_000

    package let time: Time
    /// The option with its value, for messages.
    package let text: String

    package init(_ time: Time, text: String) {
        self.time = time
        self.text = text
    }
}

/// Delivers a part of a recording as if the recording began and ended there.
///
/// Samples before it are read and discarded without reaching a detector, so a stretch gives the same events as a file
/// with these samples alone.
final class ReplayStretch: SampleSource {
    let streams: [SampleStream]
    /// First stamp of the recording; `nil` before it is read.
    private(set) var firstNanoseconds: Int64?
    private(set) var failure: StationError?
    /// Set when the recording ended before the stretch did.
    private(set) var notice: String?

    private let source: any SampleSource
    private let from: ReplayBound?
    private let to: ReplayBound?
    private var limits = Int64.min...Int64.max
    private var whole: SampleDelivery
    /// Last stamp of each stream; `Int64.max` for a stream that failed.
    private var last: [Int64]
    private var lastNanoseconds = Int64.min
    private var hasPlayed = false
    private var isEnded = false

    /// Maximum number of samples skipped in one turn, between which the session checks for signals.
    private static let mostSkipped = 65_536

    init(_ source: any SampleSource, from: ReplayBound?, to: ReplayBound?) {
        self.source = source
        self.from = from
        self.to = to
        streams = source.streams
        whole = SampleDelivery(streams: source.streams, capacity: 1)
        last = Array(repeating: .min, count: source.streams.count)
    }

    /// Delivers the next samples; the delivery stays empty while samples are skipped.
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
                // Another stream may still have samples in the stretch: streams do not arrive in the order of stamps.
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
            // The whole delivery stays unchanged until this source is asked again.
            delivery[streams[index].id]?.borrow(batch, range: range)
        }
    }

    /// Computes the ends of the stretch from the first stamp.
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
            guard first < ReplayBound.leastWallClock else { return time }
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

    /// Seconds with three decimals.
    static func seconds(_ nanoseconds: Int64) -> String { (Double(nanoseconds) * 1e-9).text(3) }
}
