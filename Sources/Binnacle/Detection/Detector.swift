/// A state machine over the samples of one or two streams: the object that delegates belong to.
///
/// A detector is used from one thread, the one that offers the samples; its delegate is called there, between
/// two samples, in the order of the samples.
public protocol Detector: AnyObject {
    /// The name that events carry.
    var name: String { get }
    /// The streams the detector listens to; fewer than it needs when a device is not available.
    var streams: [SampleStream] { get }
    /// Whether samples are looked at.
    var isDetecting: Bool { get }
    /// The sample at which the detector stands; means something only to a delegate that is being told.
    var position: SamplePosition { get }

    /// Starts with the next delivery, in the state of a new detector.
    func startDetection()
    /// Stops at once, also in the middle of a delivery; nothing is told about what was under way.
    func stopDetection()
    /// Looks at the samples of one delivery and tells the delegate what they mean.
    func process(_ delivery: SampleDelivery)
    /// Tells the delegate, once, that streams failed, when some are the detector's own.
    func didLose(_ streams: [SampleStream], because error: any Error)
}
