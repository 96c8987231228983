public import Binnacle

/// A decorator that records what another source delivers, and passes it on unchanged.
///
/// A write error does not stop the samples, so that detection goes on when a disk is full; ``failure`` tells the owner.
public final class RecordingSource: SampleSource {
    /// The first write error, after which nothing more is recorded.
    public var failure: TraceError? { writer.failure }
    /// The streams of the source that is recorded.
    public var streams: [SampleStream] { source.streams }

    private let source: any SampleSource
    private let writer: TraceWriter

    /// Records a source.
    ///
    /// - Parameters:
    ///   - source: Delivers the samples.
    ///   - writer: Made for the source's streams. Its owner flushes it at the intervals that may be lost.
    public init(_ source: any SampleSource, writer: TraceWriter) {
        self.source = source
        self.writer = writer
    }

    /// Fills the delivery from the source, records it whatever the answer is, and returns that answer.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if writer.keepsScans { delivery.keepScans() }
        let answer = source.fill(delivery)
        // The writer keeps the error, and writes nothing after it.
        try? writer.write(delivery)
        return answer
    }
}
