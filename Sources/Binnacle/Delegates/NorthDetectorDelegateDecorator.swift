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

    /// Forwards.
    open func northDetectorWillStartDetection(_ detector: NorthDetector) {
        decorated?.northDetectorWillStartDetection(detector)
    }

    /// Forwards.
    open func northDetectorDidStopDetection(_ detector: NorthDetector) {
        decorated?.northDetectorDidStopDetection(detector)
    }

    /// Forwards.
    open func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        decorated?.northDetectorDeviceNotAvailable(detector)
    }

    /// Forwards.
    open func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        decorated?.northDetector(detector, didFailWithError: error)
    }

    /// Forwards.
    open func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        decorated?.northDetector(detector, didUpdateHeading: event)
    }

    /// Forwards.
    open func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        decorated?.northDetector(detector, didFaceNorth: event)
    }

    /// Forwards.
    open func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        decorated?.northDetector(detector, deviceIsFacingNorth: event)
    }

    /// Forwards.
    open func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        decorated?.northDetector(detector, didLeaveNorth: event)
    }
}
