/// What a source hands over at one time: a batch for each stream of the pipeline, some of them empty.
///
/// A delivery is a stretch of the samples' order of arrival in which stamps do not fall, over all its streams
/// together. Merged by stamp, ties by the order of the streams, two streams have the order of arrival again. Where the arrival order steps back in time, a source ends the delivery; so cutting a recording
/// into deliveries differently never changes what is detected.
public final class SampleDelivery {
    /// One batch per stream, in the order of the streams.
    public let batches: [SampleBatch]
    /// What the streams are known by, in their order.
    public let streams: [StreamID]
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
    ///   - streams: The streams in their order, each once.
    ///   - capacity: The most samples of one stream that fit, at least 1.
    public init(streams: [SampleStream], capacity: Int) {
        self.capacity = capacity
        self.streams = streams.map(\.id)
        precondition(Set(self.streams).count == streams.count, "a stream stands there twice")
        batches = streams.map { _ in SampleBatch(capacity: capacity) }
    }

    /// The place of a stream in ``batches``; `nil` when the delivery has no room for it.
    ///
    /// - Complexity: O(*n*) in the number of streams, for which a table would take longer.
    public func index(of stream: StreamID) -> Int? { streams.firstIndex(of: stream) }

    /// The batch of a stream; `nil` when the delivery has no room for it.
    public subscript(stream: StreamID) -> SampleBatch? { index(of: stream).map { batches[$0] } }

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
