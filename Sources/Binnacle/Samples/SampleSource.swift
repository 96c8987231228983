/// A data source of samples: it is asked, it answers with samples, and it keeps its own data.
///
/// A source calls no other object. Its session asks it again and again, on one thread.
public protocol SampleSource: AnyObject, SendableMetatype {
    /// The streams the source delivers, in their order.
    var streams: [SampleStream] { get }

    /// Fills an empty delivery with the samples that come next.
    ///
    /// The stamps of a stream may not fall within a delivery: a stream whose stamps do fails, and
    /// goes on with the source's next delivery. A delivery of several streams has all samples of a stretch of time: where the batch
    /// of one stream is full, the others end at its last stamp, because detectors merge the streams of a delivery by their stamps and
    /// take what comes later for late.
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
    /// source that never waits long, such as a recording: the session lets it wait for slow readers.
    ///
    /// A session asks for it once. It calls the closure only while it holds the source, which therefore outlives each call; the
    /// closure does not wait, and calls no method of the session.
    var wakeUp: (@Sendable () -> Void)? { get }
}

/// A source delivered a sample whose stamp lies before that of the sample before it.
///
/// Detection takes its time from the stamps. The samples before this one are used; the stream fails with this error, and
/// goes on with the source's next delivery.
package struct StampOrderError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The stamp of the sample before, in nanoseconds.
    package let lastNanoseconds: Int64
    /// The stamp that lies before it, in nanoseconds.
    package let nextNanoseconds: Int64

    /// What is wrong, and the remedy.
    package var description: String {
        "the source delivered the stamp \(nextNanoseconds) ns behind \(lastNanoseconds) ns: the stamps of a delivery may not "
            + "fall; sort its samples, or end the delivery before this one"
    }
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

    /// Whether samples come at their time, and go on while nothing asks for them.
    package var isRealTime: Bool { (self as? any ClockedSource)?.isClocked ?? (wakeUp != nil) }

    /// The first stream of a kind, in the pipeline's order.
    package func firstStream(of kind: SampleKind) -> SampleStream? {
        streams.first { $0.kind == kind }
    }
}

/// A source that knows without a ``SampleSource/wakeUp`` whether its samples come at their time.
package protocol ClockedSource: SampleSource {
    var isClocked: Bool { get }
}

/// Several sources as one.
package protocol SourceGroup: SampleSource {
    /// The source that alone gives the samples until the group is changed; `nil` when several take turns.
    var onlySource: (any SampleSource)? { get }
}
