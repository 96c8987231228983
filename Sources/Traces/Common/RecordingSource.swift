public import Binnacle

/// A decorator that records what another source delivers, and hands it on unchanged.
///
/// When writing fails the samples go on: detection does not end because a disk is full. The failure is kept for the
/// owner, who decides.
public final class RecordingSource: SampleSource {
    /// Why nothing is recorded any more; `nil` while all is well.
    public var failure: TraceError? { writer.failure }
    /// The streams of the source that is recorded.
    public var streams: [SampleStream] { source.streams }

    private let source: any SampleSource
    private let writer: TraceWriter

    /// Records a source.
    ///
    /// - Parameters:
    ///   - source: Delivers the samples.
    ///   - writer: Made for the source's streams. Its owner flushes it as often as may be lost.
    public init(_ source: any SampleSource, writer: TraceWriter) {
        self.source = source
        self.writer = writer
    }

    /// Asks the source, records what it delivered, whatever it answered, and answers the same.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if writer.keepsScans { delivery.keepScans() }
        let answer = source.fill(delivery)
        // The writer keeps the error, and writes nothing after it.
        try? writer.write(delivery)
        return answer
    }
}
