import Kernels

/// Watches one stream for interruptions and has its sensor tell of them.
///
/// The detectors start anew after a gap by themselves; this says once, for everybody, that there was one.
struct GapMonitor {
    private(set) var stream: SampleStream
    private let limitNanoseconds: Int64
    private var lastTimeNanoseconds: Int64?

    init(stream: SampleStream, limit: Duration) {
        self.stream = stream
        limitNanoseconds = Units.nanoseconds(limit)
    }

    /// The monitor at the stream's new place.
    func moved(to stream: SampleStream) -> GapMonitor {
        var moved = self
        moved.stream = stream
        return moved
    }

    mutating func look(at batch: SampleBatch) {
        let columns = batch.columns
        guard columns.count > 0 else { return }
        if let last = lastTimeNanoseconds, isGap(from: last, to: columns.times[0], limit: limitNanoseconds) {
            tell(from: last, to: columns, 0)
        }
        var start = 1
        while start < columns.count {
            let index = firstGap(in: columns.times, range: start..<columns.count, longerThan: limitNanoseconds)
            if index < columns.count { tell(from: columns.times[index - 1], to: columns, index) }
            start = index + 1
        }
        lastTimeNanoseconds = columns.times[columns.count - 1]
    }

    private func tell(from start: Int64, to columns: SampleColumns, _ index: Int) {
        let end = columns.times[index]
        let sensor = stream.sensor
        sensor.delegate?.sensor(
            sensor, didResumeAfter: SampleGap(kind: stream.kind, startNanoseconds: start, endNanoseconds: end),
            at: SamplePosition(timeNanoseconds: end, streamIndex: stream.index, sampleIndex: index))
    }
}
