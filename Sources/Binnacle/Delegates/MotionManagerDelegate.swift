/// What a ``MotionManager`` tells and asks its delegate; every method has a default, so a delegate writes only
/// those it cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples: at one sample, what
/// began or ended comes first, then *is moving*, shake, free fall and shock. The manager is always the first
/// argument, so one object can be the delegate of many. A method may call ``MotionManager/stopDetection()``;
/// nothing more is reported then.
public protocol MotionManagerDelegate: AnyObject, SendableMetatype {
    /// Tells the delegate that detection is about to start; called once for each start.
    func motionManagerWillStartDetection(_ manager: MotionManager)
    /// Tells the delegate that detection stopped; called once for each stop of a running detection.
    func motionManagerDidStopDetection(_ manager: MotionManager)
    /// Tells the delegate that there is no accelerometer to start with; called instead of *will start*.
    func motionManagerDeviceNotAvailable(_ manager: MotionManager)
    /// Tells the delegate that the accelerometer failed, or that a gyroscope that the settings need is not there, is silent or
    /// failed; called once for each failure while detecting. Without its gyroscope the manager goes on.
    func motionManager(_ manager: MotionManager, didFailWithError error: any Error)
    /// Asks whether what was found shall be told.
    ///
    /// Called once before each of the methods that report a begin, a shake, a free fall or a shock. A refused
    /// begin takes the motion's *is moving* and its end with it; an end is never asked about.
    func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool
    /// Tells the delegate that motion has lasted the minimum duration; called once for each motion.
    func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent)
    /// Tells the delegate that motion continues.
    ///
    /// Called first with the sample that also began the motion, then at most once per
    /// ``MotionSettings/updateInterval`` until the end.
    ///
    /// - Parameters:
    ///   - manager: The manager.
    ///   - sample: The acceleration on the three axes in m/s².
    func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample)
    /// Tells the delegate that quiet has lasted the quiet time; called once for each motion that was reported.
    func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent)
    /// Tells the delegate of a shake; at most once per refractory time.
    func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent)
    /// Tells the delegate of a free fall, while it lasts; once for each.
    func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent)
    /// Tells the delegate of a shock; at most once per refractory time.
    func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent)
    /// Asks whether a rotation that has begun shall be told; a refused begin takes its end with it.
    func motionManager(_ manager: MotionManager, shouldReport event: RotationEvent) -> Bool
    /// Tells the delegate that a rotation has lasted the minimum duration; called once for each rotation.
    func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent)
    /// Tells the delegate that the rate of turn was below its limit for the quiet time; called once for each rotation that was
    /// told.
    func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent)
    /// What a decorator decorates; `nil` by default.
    ///
    /// A call of a method that the decorator leaves out is passed on to it. Without it the call ends there, and the answer is yes.
    /// The decorator owns it, and may exchange it while samples flow.
    ///
    /// A method of a subclass is called only if the class that declares the conformance has it, too; else its default is.
    var decoratedMotionDelegate: (any MotionManagerDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension MotionManagerDelegate {
    public var decoratedMotionDelegate: (any MotionManagerDelegate)? { nil }

    public func motionManagerWillStartDetection(_ manager: MotionManager) {
        decoratedMotionDelegate?.motionManagerWillStartDetection(manager)
    }
    public func motionManagerDidStopDetection(_ manager: MotionManager) {
        decoratedMotionDelegate?.motionManagerDidStopDetection(manager)
    }
    public func motionManagerDeviceNotAvailable(_ manager: MotionManager) {
        decoratedMotionDelegate?.motionManagerDeviceNotAvailable(manager)
    }
    public func motionManager(_ manager: MotionManager, didFailWithError error: any Error) {
        decoratedMotionDelegate?.motionManager(manager, didFailWithError: error)
    }
    public func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool {
        decoratedMotionDelegate?.motionManager(manager, shouldReport: event) ?? true
    }
    public func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        decoratedMotionDelegate?.motionManager(manager, didBeginMotion: event)
    }
    public func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        decoratedMotionDelegate?.motionManager(manager, deviceIsMoving: sample)
    }
    public func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        decoratedMotionDelegate?.motionManager(manager, didEndMotion: event)
    }
    public func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        decoratedMotionDelegate?.motionManager(manager, didDetectShake: event)
    }
    public func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        decoratedMotionDelegate?.motionManager(manager, didDetectFreeFall: event)
    }
    public func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        decoratedMotionDelegate?.motionManager(manager, didDetectShock: event)
    }
    public func motionManager(_ manager: MotionManager, shouldReport event: RotationEvent) -> Bool {
        decoratedMotionDelegate?.motionManager(manager, shouldReport: event) ?? true
    }
    public func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) {
        decoratedMotionDelegate?.motionManager(manager, didBeginRotation: event)
    }
    public func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) {
        decoratedMotionDelegate?.motionManager(manager, didEndRotation: event)
    }
}

extension Router: MotionManagerDelegate {
    package func motionManagerDeviceNotAvailable(_ manager: MotionManager) {
        collect(.detectorUnavailable, manager, because: "no active accelerometer")
    }

    package func motionManager(_ manager: MotionManager, didFailWithError error: any Error) {
        collect(.detectorFailed, manager, because: error)
    }

    package func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        collect(.motionBegan, manager, event)
    }

    package func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        collect(.motionMoving, manager, sample)
    }

    package func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        collect(.motionEnded, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        collect(.shake, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        collect(.freeFall, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        collect(.shock, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) {
        collect(.rotationBegan, manager, event, sensor: manager.gyroscope?.sensor.name)
    }

    package func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) {
        collect(.rotationEnded, manager, event, sensor: manager.gyroscope?.sensor.name)
    }
}
