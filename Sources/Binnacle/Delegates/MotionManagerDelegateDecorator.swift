// Every method forwards its call to the decorated delegate.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// A delegate that wraps another one: it forwards every method, and a subclass overrides what it changes.
///
/// Decorators form a chain, each holding the next. The manager holds the first one weakly, so its creator has to own
/// it; from there on each decorator owns what it decorates. A decorator is taken out or put in by setting
/// ``MotionManager/delegate`` or ``decorated``, also while samples flow.
open class MotionManagerDelegateDecorator: MotionManagerDelegate {
    /// What calls are forwarded to; without it, calls end here and questions get the default answer.
    public var decorated: (any MotionManagerDelegate)?

    /// Creates a decorator around a delegate.
    public init(_ decorated: (any MotionManagerDelegate)?) {
        self.decorated = decorated
    }

    open func motionManagerWillStartDetection(_ manager: MotionManager) {
        decorated?.motionManagerWillStartDetection(manager)
    }

    open func motionManagerDidStopDetection(_ manager: MotionManager) {
        decorated?.motionManagerDidStopDetection(manager)
    }

    open func motionManagerDeviceNotAvailable(_ manager: MotionManager) {
        decorated?.motionManagerDeviceNotAvailable(manager)
    }

    open func motionManager(_ manager: MotionManager, didFailWithError error: any Error) {
        decorated?.motionManager(manager, didFailWithError: error)
    }

    /// Forwards the question; without a delegate the answer is yes.
    open func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool {
        decorated?.motionManager(manager, shouldReport: event) ?? true
    }

    open func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        decorated?.motionManager(manager, didBeginMotion: event)
    }

    open func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        decorated?.motionManager(manager, deviceIsMoving: sample)
    }

    open func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        decorated?.motionManager(manager, didEndMotion: event)
    }

    open func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        decorated?.motionManager(manager, didDetectShake: event)
    }

    open func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        decorated?.motionManager(manager, didDetectFreeFall: event)
    }

    open func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        decorated?.motionManager(manager, didDetectShock: event)
    }

    /// Forwards the question; without a delegate the answer is yes.
    open func motionManager(_ manager: MotionManager, shouldReport event: RotationEvent) -> Bool {
        decorated?.motionManager(manager, shouldReport: event) ?? true
    }

    open func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) {
        decorated?.motionManager(manager, didBeginRotation: event)
    }

    open func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) {
        decorated?.motionManager(manager, didEndRotation: event)
    }
}
