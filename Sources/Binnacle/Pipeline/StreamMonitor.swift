import Kernels

/// Watches one stream: counts its samples, and has its sensor tell of interruptions.
///
/// The detectors start anew after a gap by themselves; this says once, for everybody, that there was one.
struct StreamMonitor {
    private(set) var statistics: StreamStatistics
    private let limitNanoseconds: Int64
    private var lastTimeNanoseconds: Int64?
    /// The samples that the rate is taken from: the stamp before the first, and how many there are.
    private var window: (startNanoseconds: Int64, count: Int)?

    /// How long samples are counted for a rate.
    private static let windowNanoseconds: Int64 = 1_000_000_000

    init(stream: SampleStream, limit: Duration) {
        statistics = StreamStatistics(stream: stream)
        limitNanoseconds = Units.nanoseconds(limit)
    }

    var stream: SampleStream { statistics.stream }

    /// Counts samples that the source knows to be lost.
    mutating func count(_ loss: SampleLoss) {
        statistics.lossCount += 1
        statistics.lostSampleCount += loss.count ?? 0
    }

    /// Looks at the stream's batch, which stands at a place in the delivery.
    mutating func look(at batch: SampleBatch, at place: Int) {
        let columns = batch.columns
        guard columns.count > 0 else { return }
        var counted = 0
        if let last = lastTimeNanoseconds, isGap(from: last, to: columns.times[0], limit: limitNanoseconds) {
            tell(from: last, to: columns, 0, place)
            counted = 1
        }
        var start = 1
        while start < columns.count {
            let index = firstGap(in: columns.times, range: start..<columns.count, longerThan: limitNanoseconds)
            if index < columns.count {
                tell(from: columns.times[index - 1], to: columns, index, place)
                counted = index + 1
            }
            start = index + 1
        }
        measure(columns, from: counted)
    }

    /// Counts the samples, and takes the rate from those from an index on.
    private mutating func measure(_ columns: SampleColumns, from index: Int) {
        let last = columns.times[columns.count - 1]
        lastTimeNanoseconds = last
        statistics.lastTimeNanoseconds = last
        statistics.sampleCount += columns.count
        let (start, count) = window ?? (columns.times[0], -1)
        window = (start, count + columns.count - index)
        let length = last - start
        guard length >= Self.windowNanoseconds else { return }
        statistics.rateHz = Double(count + columns.count - index) / (Double(length) * 1e-9)
        window = (last, 0)
    }

    private mutating func tell(from start: Int64, to columns: SampleColumns, _ index: Int, _ place: Int) {
        let end = columns.times[index]
        statistics.gapCount += 1
        // What comes after an interruption has a rate of its own.
        window = (end, 0)
        let sensor = stream.sensor
        sensor.delegate?.sensor(
            sensor, didResumeAfter: SampleGap(kind: stream.kind, startNanoseconds: start, endNanoseconds: end),
            at: SamplePosition(timeNanoseconds: end, streamIndex: place, sampleIndex: index))
    }
}
