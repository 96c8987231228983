/// A data source of samples: it is asked, it answers with samples, and it keeps its own data.
///
/// A source calls no other object. Its session asks it again and again, on one thread.
public protocol SampleSource: AnyObject {
    /// The streams the source delivers, in their order.
    var streams: [SampleStream] { get }

    /// Fills an empty delivery with the samples that come next.
    ///
    /// - Parameter delivery: Empty; has a batch for each of ``streams``, and maybe for others. What is in it afterwards is
    ///   valid whatever the answer.
    /// - Returns: Whether there are samples, none yet, none ever again, or streams that failed.
    func fill(_ delivery: SampleDelivery) -> SampleAnswer

    /// Waits until the source may have something, after it answered ``SampleAnswer/pending``.
    ///
    /// It may return early, and returns soon after ``wakeUp`` was called. Without an implementation it waits a
    /// millisecond.
    func wait()
    /// Ends ``wait()``, or else the next one; may be called on any thread. `nil`, without an implementation, is for a
    /// source that never waits long.
    var wakeUp: (@Sendable () -> Void)? { get }
}

/// How a source answered when it was asked for samples.
public enum SampleAnswer {
    /// The delivery has samples.
    case samples
    /// There is nothing yet; ask again when the device has something.
    case pending
    /// Streams can no longer deliver. The source stays usable: asked again, it continues with those that are left.
    case failed([SampleStream], reason: any Error)
    /// There will never be anything more.
    case ended

    /// Whether asking again makes no sense.
    package var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}

extension SampleSource {
    /// Waits a millisecond.
    public func wait() { Pipeline.pause() }
    /// Nothing, for a source that never waits long.
    public var wakeUp: (@Sendable () -> Void)? { nil }

    /// The first stream of a kind, in the pipeline's order.
    package func firstStream(of kind: SampleKind) -> SampleStream? {
        streams.first { $0.kind == kind }
    }
}
