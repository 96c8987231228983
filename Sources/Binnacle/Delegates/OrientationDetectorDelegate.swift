/// What an ``OrientationDetector`` tells and asks its delegate; every method has a default, so a delegate writes only
/// those it cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples: at one sample, the
/// orientation comes before the tilt. The detector is always the first argument, so one object can be the delegate of
/// many. A method may call ``OrientationDetector/stopDetection()``; nothing more is reported then.
package protocol OrientationDetectorDelegate: AnyObject {
    /// Tells the delegate that detection is about to start; called once for each start.
    func orientationDetectorWillStartDetection(_ detector: OrientationDetector)
    /// Tells the delegate that detection stopped; called once for each stop of a running detection.
    func orientationDetectorDidStopDetection(_ detector: OrientationDetector)
    /// Tells the delegate that there is no accelerometer to start with; called instead of *will start*.
    func orientationDetectorDeviceNotAvailable(_ detector: OrientationDetector)
    /// Tells the delegate that the accelerometer failed; called once for each failure while detecting.
    func orientationDetector(_ detector: OrientationDetector, didFailWithError error: any Error)
    /// Asks whether the orientation shall change.
    ///
    /// A refused change is not told, and the orientation stays as it is; the question comes again with each further
    /// sample as long as the screen is held so.
    func orientationDetector(
        _ detector: OrientationDetector, shouldChangeOrientation event: OrientationEvent
    ) -> Bool
    /// Tells the delegate that another edge points up, or that the first one is known.
    func orientationDetector(_ detector: OrientationDetector, didChangeOrientation event: OrientationEvent)
    /// Asks whether the tilt shall change, as for the orientation.
    func orientationDetector(_ detector: OrientationDetector, shouldChangeTilt event: OrientationEvent) -> Bool
    /// Tells the delegate that the screen leans otherwise, or that the first tilt is known.
    func orientationDetector(_ detector: OrientationDetector, didChangeTilt event: OrientationEvent)
    /// What a decorator decorates; `nil` by default.
    ///
    /// A call of a method that the decorator leaves out is passed on to it. Without it the call ends there, and the answer is yes.
    /// The decorator owns it, and may exchange it while samples flow, as the program may ``OrientationDetector/delegate``.
    ///
    /// A method of a subclass is called only if the class that declares the conformance has it, too; else its default is.
    var decoratedOrientationDelegate: (any OrientationDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension OrientationDetectorDelegate {
    package var decoratedOrientationDelegate: (any OrientationDetectorDelegate)? { nil }

    package func orientationDetectorWillStartDetection(_ detector: OrientationDetector) {
        decoratedOrientationDelegate?.orientationDetectorWillStartDetection(detector)
    }
    package func orientationDetectorDidStopDetection(_ detector: OrientationDetector) {
        decoratedOrientationDelegate?.orientationDetectorDidStopDetection(detector)
    }
    package func orientationDetectorDeviceNotAvailable(_ detector: OrientationDetector) {
        decoratedOrientationDelegate?.orientationDetectorDeviceNotAvailable(detector)
    }
    package func orientationDetector(_ detector: OrientationDetector, didFailWithError error: any Error) {
        decoratedOrientationDelegate?.orientationDetector(detector, didFailWithError: error)
    }
    package func orientationDetector(_ detector: OrientationDetector, shouldChangeOrientation event: OrientationEvent)
        -> Bool
    {
        decoratedOrientationDelegate?.orientationDetector(detector, shouldChangeOrientation: event) ?? true
    }
    package func orientationDetector(_ detector: OrientationDetector, didChangeOrientation event: OrientationEvent) {
        decoratedOrientationDelegate?.orientationDetector(detector, didChangeOrientation: event)
    }
    package func orientationDetector(_ detector: OrientationDetector, shouldChangeTilt event: OrientationEvent) -> Bool {
        decoratedOrientationDelegate?.orientationDetector(detector, shouldChangeTilt: event) ?? true
    }
    package func orientationDetector(_ detector: OrientationDetector, didChangeTilt event: OrientationEvent) {
        decoratedOrientationDelegate?.orientationDetector(detector, didChangeTilt: event)
    }
}

// The row of a kind says what its event has.
extension Router: OrientationDetectorDelegate {
    package func orientationDetectorDeviceNotAvailable(_ detector: OrientationDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }

    package func orientationDetector(_ detector: OrientationDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    package func orientationDetector(_ detector: OrientationDetector, didChangeOrientation event: OrientationEvent) {
        collect(.orientationChanged, detector, event)
    }

    package func orientationDetector(_ detector: OrientationDetector, didChangeTilt event: OrientationEvent) {
        collect(.tiltChanged, detector, event)
    }
}
