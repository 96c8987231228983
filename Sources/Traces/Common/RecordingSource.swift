public import Binnacle

/// A decorator that records the samples of another source and passes them on unchanged.
///
/// A write error does not stop the samples, so that detection continues when a disk is full; ``failure`` has the error.
public final class RecordingSource: ClockedSource {
    /// The first write error, after which nothing more is recorded.
    public var failure: TraceError? { writer.failure }
    /// The streams of the recorded source.
    public var streams: [SampleStream] { source.streams }

    private let source: any SampleSource
    private let writer: TraceWriter

    /// The maximum stretch of sample time that is buffered; `nil` leaves flushing to the writer's owner.
    private let flushNanoseconds: Int64?
    private var flushedNanoseconds: Int64?

    /// Records a source: an Arrow stream when the file's name ends in `.arrows`, MCAP when it ends in `.mcap`, and else CSV.
    ///
    /// Samples are written once per second of sample time, so that a kill of the process loses at most that.
    ///
    /// - Parameters:
    ///   - source: Delivers the samples.
    ///   - path: A file that does not exist yet; `-` is standard output.
    ///   - replacing: Whether an existing file may be overwritten.
    /// - Throws: ``TraceError`` when the file cannot be created or written.
    public convenience init(
        _ source: any SampleSource, path: String, replacing: Bool = false
    ) throws(TraceError) {
        let writer = try TraceWriter(path: path, streams: source.streams, replacing: replacing)
        self.init(source, writer: writer, flushInterval: .seconds(1))
    }

    /// Records a source.
    ///
    /// - Parameters:
    ///   - source: Delivers the samples.
    ///   - writer: A writer made for the source's streams.
    ///   - flushInterval: The maximum sample time that a kill may lose; `nil` leaves flushing to the writer's owner.
    package init(_ source: any SampleSource, writer: TraceWriter, flushInterval: Duration? = nil) {
        self.source = source
        self.writer = writer
        flushNanoseconds = flushInterval.map(Units.nanoseconds)
    }

    /// Fills the delivery from the source, records it whatever the answer is, and returns the answer.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        if writer.keepsScans { delivery.keepScans() }
        let answer = source.fill(delivery)
        // The writer keeps the error and writes nothing after it.
        try? writer.write(delivery)
        if let flushNanoseconds, let now = delivery.lastTimeNanoseconds { flush(now, flushNanoseconds) }
        return answer
    }

    private func flush(_ now: Int64, _ interval: Int64) {
        let last = flushedNanoseconds ?? now
        if flushedNanoseconds == nil { flushedNanoseconds = now }
        guard now >= Units.later(last, by: interval) else { return }
        flushedNanoseconds = now
        try? writer.flush()
    }

    /// Waits for the recorded source.
    public func wait() { source.wait() }

    package var isClocked: Bool { source.isRealTime }

    /// Ends a wait for the recorded source.
    public var wakeUp: (@Sendable () -> Void)? { source.wakeUp }
}
