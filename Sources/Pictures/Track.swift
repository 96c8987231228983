package import Binnacle
package import Kernels

/// Several series over one time axis in bounded memory.
///
/// A short recording keeps every sample, a long one the least and greatest value of equal blocks of time. The first
/// blocks have the length that the first samples need; when there are too many, pairs are joined. So memory does not
/// depend on the length of the recording, and no extreme is lost.
package final class Track {
    let kinds: [SampledValue.Form]
    package private(set) var sampleCount = 0
    /// Samples earlier than the first one of the track, which are not kept.
    private(set) var earlierCount = 0
    /// `nil` without samples.
    private(set) var originNanoseconds: Int64?
    private(set) var lastNanoseconds: Int64 = .min
    /// 0 while every sample is kept.
    package private(set) var blockNanoseconds: Int64 = 0

    /// Stamps, while every sample is kept.
    private(set) var times: [Int64] = []
    /// Values of samples, or least values of blocks, by series.
    package private(set) var least: [[Float]]
    /// Greatest values of blocks; empty while every sample is kept.
    package private(set) var greatest: [[Float]]

    private let capacity: Int

    /// Creates an empty track of at most `capacity` blocks (even), or half as many single samples.
    package init(_ kinds: [SampledValue.Form], capacity: Int) {
        precondition(capacity >= 4 && capacity.isMultiple(of: 2), "a track needs an even number of blocks")
        self.kinds = kinds
        self.capacity = capacity
        least = kinds.map { _ in [] }
        greatest = kinds.map { _ in [] }
    }

    /// The number of blocks, or of samples while all are kept.
    package var count: Int { blockNanoseconds > 0 ? least.first?.count ?? 0 : times.count }

    /// Adds samples in the order of stamps; `extremes` returns those of a range, empty ones if it has no value.
    package func append(
        _ times: UnsafePointer<Int64>, count: Int, extremes: (_ series: Int, _ range: Range<Int>) -> Extremes
    ) {
        guard count > 0 else { return }
        sampleCount += count
        let origin = originNanoseconds ?? times[0]
        originNanoseconds = origin
        var start = firstIndex(in: times, range: 0..<count, notBefore: origin)
        earlierCount += start
        guard start < count else { return }
        if blockNanoseconds == 0 {
            // Independent of how samples are cut into deliveries.
            if times[start] >= lastNanoseconds {
                let room = min(count - start, capacity / 2 - self.times.count)
                if room > 0 { keep(times, start..<start + room, extremes) }
                start += room
                guard start < count else { return }
            }
            makeBlocks(upTo: max(lastNanoseconds, times[start]))
        }
        lastNanoseconds = max(lastNanoseconds, times[count - 1])
        while start < count {
            let place = place(of: times[start], origin)
            let (offset, overflow) = Int64(place + 1).multipliedReportingOverflow(by: blockNanoseconds)
            let end =
                overflow
                ? count
                : firstIndex(in: times, range: start..<count, notBefore: Units.later(origin, by: offset))
            // The last stamp is part of the last block.
            let range = start..<max(end, start + 1)
            for series in kinds.indices {
                if kinds[series] == .value {
                    merge(extremes(series, range), into: place, of: series)
                } else {
                    for index in range { merge(extremes(series, index..<index + 1), into: place, of: series) }
                }
            }
            start = range.upperBound
        }
    }

    /// The extremes of a series from one stamp up to another; `nil` without values.
    package func extremes(of series: Int, from start: Int64, to end: Int64) -> Extremes? {
        guard let origin = originNanoseconds, end > origin, start <= lastNanoseconds else { return nil }
        var result = Extremes()
        if blockNanoseconds == 0 {
            let from = firstIndex(in: times, range: 0..<times.count, notBefore: start)
            let to = firstIndex(in: times, range: 0..<times.count, notBefore: end)
            for index in from..<max(from, to) {
                result = Self.union(kinds[series], result, Extremes(one: least[series][index]))
            }
        } else {
            let from = start <= origin ? 0 : Int(Self.distance(from: origin, to: start) / blockNanoseconds)
            let to = Int((Self.distance(from: origin, to: end) - 1) / blockNanoseconds)
            for index in min(from, count)..<min(max(from, to) + 1, count) {
                result = Self.union(kinds[series], result, self[series, index])
            }
        }
        return result.least <= result.greatest ? result : nil
    }

    // MARK: - Blocks

    private func keep(
        _ times: UnsafePointer<Int64>, _ range: Range<Int>, _ extremes: (Int, Range<Int>) -> Extremes
    ) {
        for index in range {
            self.times.append(times[index])
            for series in kinds.indices {
                let value = extremes(series, index..<index + 1)
                least[series].append(value.least <= value.greatest && value.least.isFinite ? value.least : .nan)
            }
        }
        lastNanoseconds = times[range.upperBound - 1]
    }

    /// Converts the kept samples to blocks.
    private func makeBlocks(upTo end: Int64) {
        let origin = originNanoseconds ?? end
        blockNanoseconds = Self.distance(from: origin, to: end) / Int64(capacity) + 1
        let (times, values) = (times, least)
        self.times = []
        least = kinds.map { _ in [] }
        for (index, time) in times.enumerated() {
            let place = place(of: time, origin)
            for series in kinds.indices { merge(Extremes(one: values[series][index]), into: place, of: series) }
        }
    }

    /// The index of the block of a stamp, which is made if necessary.
    private func place(of time: Int64, _ origin: Int64) -> Int {
        while Self.distance(from: origin, to: time) / blockNanoseconds >= Int64(capacity) { joinPairs() }
        let place = Int(Self.distance(from: origin, to: time) / blockNanoseconds)
        if place >= count {
            let missing = place + 1 - count
            for series in kinds.indices {
                least[series].append(contentsOf: repeatElement(.infinity, count: missing))
                greatest[series].append(contentsOf: repeatElement(-.infinity, count: missing))
            }
        }
        return place
    }

    private func joinPairs() {
        let old = count
        for series in kinds.indices {
            for place in 0..<(old + 1) / 2 {
                let next = 2 * place + 1 < old ? self[series, 2 * place + 1] : Extremes()
                self[series, place] = Self.union(kinds[series], self[series, 2 * place], next)
            }
            least[series].removeLast(old / 2)
            greatest[series].removeLast(old / 2)
        }
        blockNanoseconds *= 2
    }

    private func merge(_ value: Extremes, into place: Int, of series: Int) {
        guard value.least <= value.greatest, value.least.isFinite, value.greatest.isFinite else { return }
        self[series, place] = Self.union(kinds[series], self[series, place], value)
    }

    private subscript(series: Int, place: Int) -> Extremes {
        get { Extremes(least: least[series][place], greatest: greatest[series][place]) }
        set { (least[series][place], greatest[series][place]) = (newValue.least, newValue.greatest) }
    }

    /// The extremes of two joined blocks.
    package static func union(_ kind: SampledValue.Form, _ one: Extremes, _ other: Extremes) -> Extremes {
        guard one.least <= one.greatest else { return other }
        guard other.least <= other.greatest else { return one }
        switch kind {
        case .value: return Extremes(least: min(one.least, other.least), greatest: max(one.greatest, other.greatest))
        case .bits:
            let bits = Float(UInt32(one.least) | UInt32(other.least))
            return Extremes(least: bits, greatest: bits)
        case .angle:
            var best = Extremes(least: 0, greatest: .infinity)
            for turn in [0, 360, -360] as [Float] {
                let shifted = Extremes(least: other.least + turn, greatest: other.greatest + turn)
                let both = Extremes(
                    least: min(one.least, shifted.least), greatest: max(one.greatest, shifted.greatest))
                if both.greatest - both.least < best.greatest - best.least { best = both }
            }
            // The least value is in 0 ..< 360, and an arc is at most the whole circle.
            let turns = (best.least / 360).rounded(.down) * 360
            return Extremes(
                least: best.least - turns, greatest: min(best.greatest - turns, best.least - turns + 360))
        }
    }

    /// The distance between two stamps in nanoseconds, saturated at the range of Int64.
    private static func distance(from start: Int64, to end: Int64) -> Int64 {
        let (distance, overflow) = end.subtractingReportingOverflow(start)
        return overflow ? .max : distance
    }
}

extension Extremes {
    init(least: Float, greatest: Float) {
        self.init()
        self.least = least
        self.greatest = greatest
    }

    /// The extremes of one value; empty for NaN.
    package init(one value: Float) {
        self.init()
        include(value)
    }
}
