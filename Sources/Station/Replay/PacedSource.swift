package import Binnacle
import LinuxSystem

/// Delivers the samples of another source in real time, once or repeatedly.
///
/// It never waits: it holds the source's next delivery until its last sample is due, and publishes that time.
package final class PacedSource: SampleSource {
    /// Opens the source again after its end; `nil` ends playback.
    package typealias Reopening = () throws(StationError) -> (any SampleSource)?

    /// The streams of the first pass; those of later passes are mapped to them.
    package let streams: [SampleStream]

    /// Interval between requests to a source that has no samples yet.
    private static let retryNanoseconds: Int64 = 10_000_000

    private var source: any SampleSource
    /// Recorded time per real time.
    let speed: Double
    private let shiftsToClock: Bool
    private let capacity: Int
    private let clock: () -> Int64
    private let mayReopen: () -> Bool
    private let reopen: Reopening

    /// Index in ``streams`` for each stream of the present pass.
    private var own: [StreamID: StreamID]
    /// The source's next delivery and its answer; `nil` before the first request.
    private var held: SampleDelivery
    private var heldAnswer: SampleAnswer?
    /// When the next samples are due, on the clock; `nil` before the first request, after samples, and at the end.
    package private(set) var nextDueNanoseconds: Int64?
    private var isEnded = false

    /// The first delivered stamp and its time on the clock.
    private var start: (sampleNanoseconds: Int64, clockNanoseconds: Int64)?
    /// Offset of stamps in this pass; `nil` before its first sample.
    private var offset: Int64?
    private var lastNanoseconds: Int64 = .min
    private var isFirstPass = true
    private var interval: TypicalInterval

    /// Creates a source that starts to play at the first request.
    ///
    /// - Parameters:
    ///   - source: The source to play.
    ///   - speed: Recorded time per real time. At a speed other than 1, stamps shifted to the clock drift from it, so
    ///     no other source may deliver beside this one.
    ///   - shiftsToClock: Whether the first stamp becomes the time at which it was read, and all others shift with it; otherwise stamps
    ///     are those of the recording.
    ///   - capacity: The most samples of one stream that are held together; at most what a delivery of the pipeline
    ///     holds.
    ///   - clock: Reads CLOCK_MONOTONIC, in nanoseconds.
    ///   - reopen: Opens the source again at each end, with streams of the same sensor names and kinds. Its stamps
    ///     continue one typical interval after the last one. An error fails the streams and ends playback.
    ///   - mayReopen: Prepares `reopen`; returns whether that is done, and is called again until then.
    package init(
        _ source: any SampleSource, speed: Double = 1, shiftsToClock: Bool = false, capacity: Int = 1,
        clock: @escaping () -> Int64 = SystemClock.monotonic,
        reopen: @escaping Reopening = { () throws(StationError) in nil }, mayReopen: @escaping () -> Bool = { true }
    ) {
        precondition(speed > 0 && speed.isFinite, "a speed of \(speed)")
        self.source = source
        self.speed = speed
        self.shiftsToClock = shiftsToClock
        self.capacity = capacity
        self.clock = clock
        self.mayReopen = mayReopen
        self.reopen = reopen
        streams = source.streams
        held = SampleDelivery(streams: source.streams, capacity: capacity)
        interval = TypicalInterval(streamCount: source.streams.count)
        own = Self.match(source.streams, with: source.streams)
    }

    /// Delivers the held samples once the last of them is due.
    package func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        precondition(delivery.capacity >= capacity, "what is held does not fit")
        guard !isEnded else { return .ended }
        if heldAnswer == nil { ask() }
        if let due = nextDueNanoseconds, due > clock() { return .pending }
        handOver(delivery)
        let answer = heldAnswer
        heldAnswer = nil
        nextDueNanoseconds = nil
        held.removeAll()
        switch answer {
        case .ended?:
            // Samples before the end are delivered first; the source repeats its answer.
            guard delivery.isEmpty else { return .samples }
            return startAgain(delivery)
        case .failed(let failed, let reason)?:
            return .failed(streams.filter { stream in failed.contains { own[$0.id] == stream.id } }, reason: reason)
        case .pending? where delivery.isEmpty && delivery.losses.isEmpty:
            nextDueNanoseconds = Units.later(clock(), by: Self.retryNanoseconds)
            return .pending
        case .pending?, .samples?, nil: return .samples
        }
    }

    // MARK: - Reading ahead

    private func ask() {
        nextDueNanoseconds = nil
        heldAnswer = source.fill(held)
        guard let last = held.lastTimeNanoseconds else { return }
        if isFirstPass { interval.measure(at: held) }
        let offset = offset ?? beginPass()
        let moved = Units.later(last, by: offset)
        lastNanoseconds = max(lastNanoseconds, moved)
        nextDueNanoseconds = dueNanoseconds(of: moved)
    }

    /// The time on the clock at which a stamp is due; `nil` before the first sample.
    package func dueNanoseconds(of timeNanoseconds: Int64) -> Int64? {
        guard let start else { return nil }
        let distance = Self.distance(from: start.sampleNanoseconds, to: timeNanoseconds)
        return Units.later(start.clockNanoseconds, by: slowed(max(0, distance)))
    }

    /// Chooses the offset of stamps from the first sample of a pass.
    private func beginPass() -> Int64 {
        var first = Int64.max
        for batch in held.batches where !batch.isEmpty { first = min(first, batch[0].timeNanoseconds) }
        let offset: Int64
        if start != nil {
            offset = Self.distance(from: first, to: Units.later(lastNanoseconds, by: interval.nanoseconds))
        } else {
            let now = clock()
            offset = shiftsToClock ? Self.distance(from: first, to: now) : 0
            start = (Units.later(first, by: offset), now)
        }
        self.offset = offset
        return offset
    }

    private func slowed(_ nanoseconds: Int64) -> Int64 {
        guard speed != 1 else { return nanoseconds }
        return Int64(exactly: (Double(nanoseconds) / speed).rounded(.up)) ?? .max
    }

    /// The distance between two stamps, saturated at the range of Int64.
    package static func distance(from start: Int64, to end: Int64) -> Int64 {
        let (distance, overflow) = end.subtractingReportingOverflow(start)
        guard overflow else { return distance }
        return end > start ? .max : .min
    }

    // MARK: - Delivering

    private func handOver(_ delivery: SampleDelivery) {
        let offset = offset ?? 0
        for loss in held.losses {
            guard let stream = own[loss.stream] else { continue }
            delivery.append(
                SampleLoss(
                    stream: stream, cause: loss.cause, count: loss.count, durationSeconds: loss.durationSeconds,
                    detail: loss.detail, timeNanoseconds: loss.timeNanoseconds.map { Units.later($0, by: offset) }))
        }
        for (inner, batch) in zip(held.streams, held.batches) where !batch.isEmpty {
            guard let target = own[inner].flatMap({ delivery[$0] }) else { continue }
            for index in 0..<batch.count {
                var sample = batch[index]
                sample.timeNanoseconds = Units.later(sample.timeNanoseconds, by: offset)
                target.append(sample)
            }
        }
    }

    /// Begins the next pass, unless there is none or the last one had no sample, which would loop forever.
    private func startAgain(_ delivery: SampleDelivery) -> SampleAnswer {
        guard offset == nil || mayReopen() else {
            nextDueNanoseconds = Units.later(clock(), by: Self.retryNanoseconds)
            return .pending
        }
        isEnded = true
        guard offset != nil else { return .ended }
        do throws(StationError) {
            guard let next = try reopen() else { return .ended }
            source = next
        } catch {
            return .failed(streams, reason: error)
        }
        isEnded = false
        isFirstPass = false
        offset = nil
        held = SampleDelivery(streams: source.streams, capacity: capacity)
        own = Self.match(source.streams, with: streams)
        let missing = streams.filter { !own.values.contains($0.id) }
        guard missing.isEmpty else {
            return .failed(missing, reason: StationError(.data, "the trace no longer has this stream"))
        }
        return fill(delivery)
    }

    /// Matches by name, because a source that is opened again may have new sensor objects.
    private static func match(_ inner: [SampleStream], with own: [SampleStream]) -> [StreamID: StreamID] {
        inner.reduce(into: [:]) { matches, stream in
            matches[stream.id] = own.first { $0.sensor.name == stream.sensor.name && $0.kind == stream.kind }?.id
        }
    }
}

/// The typical sample interval of a recording: the median of the first intervals of its fastest stream.
private struct TypicalInterval {
    /// Last stamp and intervals of each stream; repeated stamps do not count.
    private var streams: [(lastNanoseconds: Int64?, distances: [Int64])]

    /// Enough for a median despite some gaps.
    private static let mostDistances = 255
    /// Used when no stream has two stamps.
    private static let fallbackNanoseconds: Int64 = 1_000_000_000
    /// Prevents that a recording of zero length, played in a loop, uses a whole processor.
    private static let leastNanoseconds: Int64 = 100_000

    init(streamCount: Int) {
        streams = Array(repeating: (nil, []), count: streamCount)
    }

    mutating func measure(at delivery: SampleDelivery) {
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

    var nanoseconds: Int64 {
        let medians = streams.compactMap { stream in
            stream.distances.isEmpty ? nil : stream.distances.sorted()[stream.distances.count / 2]
        }
        return max(medians.min() ?? Self.fallbackNanoseconds, Self.leastNanoseconds)
    }
}
