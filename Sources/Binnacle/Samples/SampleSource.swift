/// A data source of samples: it is asked, it answers with samples, and it keeps its own data.
///
/// A source never calls anybody. Whoever runs the pipeline asks it again and again, on one thread.
public protocol SampleSource: AnyObject {
    /// The streams the source delivers, in their order.
    var streams: [SampleStream] { get }

    /// Fills an empty delivery with the samples that come next.
    ///
    /// - Parameter delivery: Empty; has a batch for each of ``streams``, and maybe for others. What is in it afterwards is
    ///   valid whatever the answer.
    /// - Returns: Whether there are samples, none yet, none ever again, or streams that failed.
    func fill(_ delivery: SampleDelivery) -> SampleAnswer
}

/// How a source answered when it was asked for samples.
public enum SampleAnswer {
    /// The delivery has samples.
    case samples
    /// There is nothing yet; ask again when the device has something.
    case pending
    /// Streams can no longer deliver. The source stays usable: asked again, it goes on with those that are left.
    case failed([SampleStream], reason: any Error)
    /// There will never be anything more.
    case ended

    /// Whether asking again makes no sense.
    public var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}

extension SampleSource {
    /// The first stream of a kind, in the pipeline's order.
    public func firstStream(of kind: SampleKind) -> SampleStream? {
        streams.first { $0.kind == kind }
    }
}
