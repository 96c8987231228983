import Binnacle

/// What an ``AttitudeDetector`` tells its delegate; every method has a default, so a delegate writes only those it cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples. The detector is always the
/// first argument, so one object can be the delegate of many. A method may call ``AttitudeDetector/stopDetection()``; nothing
/// more is reported then.
package protocol AttitudeDetectorDelegate: AnyObject {
    /// Tells the delegate that detection is about to start; called once for each start.
    func attitudeDetectorWillStartDetection(_ detector: AttitudeDetector)
    /// Tells the delegate that detection stopped; called once for each stop of a running detection.
    func attitudeDetectorDidStopDetection(_ detector: AttitudeDetector)
    /// Tells the delegate that there is no accelerometer to start with; called instead of *will start*.
    func attitudeDetectorDeviceNotAvailable(_ detector: AttitudeDetector)
    /// Tells the delegate that a sensor failed, so that there is no attitude, or less of one; called once for each failure.
    func attitudeDetector(_ detector: AttitudeDetector, didFailWithError error: any Error)
    /// Tells the delegate the attitude at a sample; called at every sample that decides one, before the other methods.
    func attitudeDetector(_ detector: AttitudeDetector, didUpdate motion: DeviceMotion)
    /// Tells the delegate the first attitude, each one that has turned by ``AttitudeSettings/filterDegrees`` from the one told before,
    /// and each with another reference or a worse accuracy.
    func attitudeDetector(_ detector: AttitudeDetector, didChange motion: DeviceMotion)
    /// Tells the delegate that roll or pitch has been beyond its limit for the dwell time.
    func attitudeDetector(_ detector: AttitudeDetector, didBegin event: AttitudeLimitEvent)
    /// Tells the delegate that roll or pitch has been within its limit again for the dwell time.
    func attitudeDetector(_ detector: AttitudeDetector, didEnd event: AttitudeLimitEvent)
    /// What a decorator decorates; `nil` by default, as ``NorthDetectorDelegate/decoratedNorthDelegate`` says.
    var decoratedAttitudeDelegate: (any AttitudeDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension AttitudeDetectorDelegate {
    package var decoratedAttitudeDelegate: (any AttitudeDetectorDelegate)? { nil }

    package func attitudeDetectorWillStartDetection(_ detector: AttitudeDetector) {
        decoratedAttitudeDelegate?.attitudeDetectorWillStartDetection(detector)
    }
    package func attitudeDetectorDidStopDetection(_ detector: AttitudeDetector) {
        decoratedAttitudeDelegate?.attitudeDetectorDidStopDetection(detector)
    }
    package func attitudeDetectorDeviceNotAvailable(_ detector: AttitudeDetector) {
        decoratedAttitudeDelegate?.attitudeDetectorDeviceNotAvailable(detector)
    }
    package func attitudeDetector(_ detector: AttitudeDetector, didFailWithError error: any Error) {
        decoratedAttitudeDelegate?.attitudeDetector(detector, didFailWithError: error)
    }
    package func attitudeDetector(_ detector: AttitudeDetector, didUpdate motion: DeviceMotion) {
        decoratedAttitudeDelegate?.attitudeDetector(detector, didUpdate: motion)
    }
    package func attitudeDetector(_ detector: AttitudeDetector, didChange motion: DeviceMotion) {
        decoratedAttitudeDelegate?.attitudeDetector(detector, didChange: motion)
    }
    package func attitudeDetector(_ detector: AttitudeDetector, didBegin event: AttitudeLimitEvent) {
        decoratedAttitudeDelegate?.attitudeDetector(detector, didBegin: event)
    }
    package func attitudeDetector(_ detector: AttitudeDetector, didEnd event: AttitudeLimitEvent) {
        decoratedAttitudeDelegate?.attitudeDetector(detector, didEnd: event)
    }
}

// The row of a kind says what its event has.
extension Router: AttitudeDetectorDelegate {
    package func attitudeDetectorDeviceNotAvailable(_ detector: AttitudeDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }

    package func attitudeDetector(_ detector: AttitudeDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    package func attitudeDetector(_ detector: AttitudeDetector, didChange motion: DeviceMotion) {
        collect(.attitudeChanged, detector, motion)
    }

    package func attitudeDetector(_ detector: AttitudeDetector, didBegin event: AttitudeLimitEvent) {
        collect(event.angle == .heel ? .heelBegan : .pitchBegan, detector, event)
    }

    package func attitudeDetector(_ detector: AttitudeDetector, didEnd event: AttitudeLimitEvent) {
        collect(event.angle == .heel ? .heelEnded : .pitchEnded, detector, event)
    }
}
