/// What a ``HingeDetector`` tells and asks its delegate; every method has a default, so a delegate writes only those it
/// cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples. The detector is always the
/// first argument, so one object can be the delegate of many. A method may call ``HingeDetector/stopDetection()``; nothing
/// more is reported then.
public protocol HingeDetectorDelegate: AnyObject {
    /// Tells the delegate that detection is about to start; called once for each start.
    func hingeDetectorWillStartDetection(_ detector: HingeDetector)
    /// Tells the delegate that detection stopped; called once for each stop of a running detection.
    func hingeDetectorDidStopDetection(_ detector: HingeDetector)
    /// Tells the delegate that there is nothing to start with; called instead of *will start*.
    func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector)
    /// Tells the delegate that an accelerometer failed; called once for each failure while detecting.
    func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error)
    /// Asks whether a change shall count.
    ///
    /// A refused one is not told, and the question comes again with each further sample as long as it lasts.
    func hingeDetector(_ detector: HingeDetector, shouldReport event: HingeEvent) -> Bool
    /// Tells the delegate that the laptop is set up otherwise, that its angle has changed, or that both are known.
    func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent)
}

// A method that a conforming type leaves out does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension HingeDetectorDelegate {
    public func hingeDetectorWillStartDetection(_ detector: HingeDetector) {}
    public func hingeDetectorDidStopDetection(_ detector: HingeDetector) {}
    public func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector) {}
    public func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error) {}
    /// Agrees.
    public func hingeDetector(_ detector: HingeDetector, shouldReport event: HingeEvent) -> Bool { true }
    public func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent) {}
}

// The row of a kind says what its event has.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: HingeDetectorDelegate {
    public func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector) {
        collect(.detectorUnavailable, detector, because: "no two active accelerometers and no switch")
    }

    public func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    public func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent) {
        collect(.hingeChanged, detector, event)
    }
}
