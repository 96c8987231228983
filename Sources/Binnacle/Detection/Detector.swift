/// A state machine over the samples of up to three streams: the object that delegates belong to.
///
/// A detector is used from one thread, the one that offers the samples; its delegate is called there, between
/// two samples, in the order of the samples. One of your own is a ``SampleDetector``.
public protocol Detector: AnyObject, SendableMetatype {
    /// The name that events carry.
    var name: String { get }
    /// The streams the detector listens to; fewer than it needs when a device is not available.
    var streams: [SampleStream] { get }
    /// Whether samples are looked at.
    var isDetecting: Bool { get }

    /// Starts with the next delivery, in the state of a new detector.
    func startDetection()
    /// Stops at once, also in the middle of a delivery; what was under way is not reported.
    func stopDetection()
}

/// A detector of your own, which a session drives.
public protocol SampleDetector: Detector {
    /// Looks at the samples of one delivery and tells the delegate what they mean.
    func process(_ delivery: SampleDelivery)
    /// Tells the delegate, once, that streams failed, when some are the detector's own.
    func didLose(_ streams: [SampleStream], because error: any Error)
}

/// A detector as a ``Pipeline`` drives it.
package protocol DrivenDetector: Detector {
    /// Looks at the samples of one delivery and tells the delegate what they mean.
    func process(_ delivery: SampleDelivery)
    /// Tells the delegate, once, that streams failed, when some are the detector's own.
    func didLose(_ streams: [SampleStream], because error: any Error)
    /// Tells the delegate what waits for a further sample, because there will be none.
    func sourceDidEnd()
    /// Whether a device that it needs beside its streams cannot be read.
    var lacksReadings: Bool { get }
}

extension DrivenDetector {
    package var lacksReadings: Bool { false }
    package func sourceDidEnd() {}
}

/// Passes on to a detector from outside of the package.
final class OwnDetector: DrivenDetector {
    private let detector: any SampleDetector

    init(_ detector: any SampleDetector) { self.detector = detector }

    var name: String { detector.name }
    var streams: [SampleStream] { detector.streams }
    var isDetecting: Bool { detector.isDetecting }
    func startDetection() { detector.startDetection() }
    func stopDetection() { detector.stopDetection() }
    func process(_ delivery: SampleDelivery) { detector.process(delivery) }
    func didLose(_ streams: [SampleStream], because error: any Error) { detector.didLose(streams, because: error) }
}

/// What a detector found in one delivery, collected per topic and told in the order of the samples.
@usableFromInline package struct ReportList<Payload> {
    @usableFromInline package struct Report {
        @usableFromInline package let index: Int
        @usableFromInline let order: Int
        @usableFromInline package let payload: Payload

        @inlinable init(index: Int, order: Int, payload: Payload) {
            self.index = index
            self.order = order
            self.payload = payload
        }
    }

    @usableFromInline package internal(set) var reports: [Report] = []

    @inlinable package init() {}

    /// Adds something found at a sample; what one sample caused is reported in the order in which it was added.
    @inlinable package mutating func append(_ payload: Payload, at index: Int) {
        reports.append(Report(index: index, order: reports.count, payload: payload))
    }

    @inlinable package mutating func sort() {
        guard reports.count > 1 else { return }
        reports.sort { ($0.index, $0.order) < ($1.index, $1.order) }
    }

    @inlinable package mutating func removeAll() {
        reports.removeAll(keepingCapacity: true)
    }
}
