// Every method forwards its call to the decorated delegate.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// A delegate that wraps another one: it forwards every method, and a subclass overrides what it changes.
///
/// The chain works as described at ``MotionManagerDelegateDecorator``.
open class NorthDetectorDelegateDecorator: NorthDetectorDelegate {
    /// What calls are forwarded to; without it, calls end here.
    public var decorated: (any NorthDetectorDelegate)?

    /// Creates a decorator around a delegate.
    public init(_ decorated: (any NorthDetectorDelegate)?) {
        self.decorated = decorated
    }

    open func northDetectorWillStartDetection(_ detector: NorthDetector) {
        decorated?.northDetectorWillStartDetection(detector)
    }

    open func northDetectorDidStopDetection(_ detector: NorthDetector) {
        decorated?.northDetectorDidStopDetection(detector)
    }

    open func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        decorated?.northDetectorDeviceNotAvailable(detector)
    }

    open func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        decorated?.northDetector(detector, didFailWithError: error)
    }

    open func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        decorated?.northDetector(detector, didUpdateHeading: event)
    }

    open func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        decorated?.northDetector(detector, didFaceNorth: event)
    }

    open func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        decorated?.northDetector(detector, deviceIsFacingNorth: event)
    }

    open func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        decorated?.northDetector(detector, didLeaveNorth: event)
    }

    open func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        decorated?.northDetector(detector, didLoseHeading: loss)
    }

    open func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        decorated?.northDetector(detector, didFindHeading: event)
    }

    open func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        decorated?.northDetector(detector, didEnter: sector, with: event)
    }

    open func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        decorated?.northDetector(detector, didLeave: sector, with: event)
    }

    open func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        decorated?.northDetector(detector, didBeginInterference: event)
    }

    open func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        decorated?.northDetector(detector, didEndInterference: event)
    }

    /// Forwards; without a delegate the answer is no.
    open func northDetectorShouldDisplayCalibration(_ detector: NorthDetector) -> Bool {
        decorated?.northDetectorShouldDisplayCalibration(detector) ?? false
    }

    open func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        decorated?.northDetector(detector, didBeginNeedingCalibration: event)
    }

    open func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        decorated?.northDetector(detector, didEndNeedingCalibration: event)
    }
}
