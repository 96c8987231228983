/// What a source hands over at one time: a batch for each stream of the pipeline, some of them empty.
///
/// A delivery is a stretch of the samples' order of arrival in which stamps do not fall, over all its streams
/// together. Whoever needs two streams merges them by stamp, ties by the stream's index, and gets the order of
/// arrival back. Where the arrival order steps back in time, a source ends the delivery; so cutting a recording
/// into deliveries differently never changes what is detected.
public final class SampleDelivery {
    /// One batch per stream, at the stream's index.
    public let batches: [SampleBatch]
    /// The most samples of one stream that fit.
    public let capacity: Int
    /// What the source knows to be lost before the samples of this delivery, or instead of them.
    public private(set) var losses: [SampleLoss] = []
    /// The raw scans that the samples were decoded from; `nil` when nobody asked for them.
    ///
    /// A source that reads scans adds them: the first is behind the first sample of each batch that has samples, and so
    /// on. Samples that come from none leave it empty.
    package var scans: ScanColumn?

    /// Creates an empty delivery.
    ///
    /// - Parameters:
    ///   - streamCount: The number of streams in the pipeline.
    ///   - capacity: The most samples of one stream that fit, at least 1.
    public init(streamCount: Int, capacity: Int) {
        self.capacity = capacity
        batches = (0..<streamCount).map { _ in SampleBatch(capacity: capacity) }
    }

    /// Whether no stream has a sample.
    public var isEmpty: Bool { batches.allSatisfy(\.isEmpty) }

    /// The latest stamp in the delivery, in nanoseconds.
    public var lastTimeNanoseconds: Int64? {
        var latest: Int64?
        for batch in batches {
            if let time = batch.lastTimeNanoseconds { latest = max(latest ?? time, time) }
        }
        return latest
    }

    /// Adds a loss.
    public func append(_ loss: SampleLoss) {
        losses.append(loss)
    }

    /// Asks for the raw scans from now on.
    package func keepScans() {
        if scans == nil { scans = ScanColumn() }
    }

    /// Removes every sample and keeps the room.
    public func removeAll() {
        scans?.removeAll()
        if !losses.isEmpty { losses.removeAll(keepingCapacity: true) }
        for batch in batches { batch.removeAll() }
    }
}
