/// What a ``HingeDetector`` tells and asks its delegate; every method has a default, so a delegate writes only those it
/// cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples. The detector is always the
/// first argument, so one object can be the delegate of many. A method may call ``HingeDetector/stopDetection()``; nothing
/// more is reported then.
package protocol HingeDetectorDelegate: AnyObject {
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
    /// What a decorator decorates; `nil` by default.
    ///
    /// A call of a method that the decorator leaves out is passed on to it. Without it the call ends there, and the answer is yes.
    /// The decorator owns it, and may exchange it while samples flow, as the program may ``HingeDetector/delegate``.
    ///
    /// A method of a subclass is called only if the class that declares the conformance has it, too; else its default is.
    var decoratedHingeDelegate: (any HingeDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension HingeDetectorDelegate {
    package var decoratedHingeDelegate: (any HingeDetectorDelegate)? { nil }

    package func hingeDetectorWillStartDetection(_ detector: HingeDetector) {
        decoratedHingeDelegate?.hingeDetectorWillStartDetection(detector)
    }
    package func hingeDetectorDidStopDetection(_ detector: HingeDetector) {
        decoratedHingeDelegate?.hingeDetectorDidStopDetection(detector)
    }
    package func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector) {
        decoratedHingeDelegate?.hingeDetectorDeviceNotAvailable(detector)
    }
    package func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error) {
        decoratedHingeDelegate?.hingeDetector(detector, didFailWithError: error)
    }
    package func hingeDetector(_ detector: HingeDetector, shouldReport event: HingeEvent) -> Bool {
        decoratedHingeDelegate?.hingeDetector(detector, shouldReport: event) ?? true
    }
    package func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent) {
        decoratedHingeDelegate?.hingeDetector(detector, didChange: event)
    }
}

// The row of a kind says what its event has.
extension Router: HingeDetectorDelegate {
    package func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector) {
        collect(.detectorUnavailable, detector, because: "no two active accelerometers and no switch")
    }

    package func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    package func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent) {
        collect(.hingeChanged, detector, event)
    }
}
