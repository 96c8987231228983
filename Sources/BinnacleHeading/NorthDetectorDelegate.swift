import Binnacle

/// What a ``NorthDetector`` tells and asks its delegate; every method has a default, so a delegate writes only those
/// it cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples: at one sample,
/// interference comes first, then the heading, then what was faced or left, then *is facing*. The detector is always the first argument,
/// so one object can be the delegate of many. A method may call ``NorthDetector/stopDetection()``; nothing more is
/// told then.
public protocol NorthDetectorDelegate: AnyObject, SendableMetatype {
    /// Tells the delegate that detection is about to start; called once for each start.
    func northDetectorWillStartDetection(_ detector: NorthDetector)
    /// Tells the delegate that detection stopped; called once for each stop of a running detection.
    func northDetectorDidStopDetection(_ detector: NorthDetector)
    /// Tells the delegate that a device is missing to start with; called instead of *will start*.
    func northDetectorDeviceNotAvailable(_ detector: NorthDetector)
    /// Tells the delegate that one of the sensors failed; called once for each failure while detecting.
    func northDetector(_ detector: NorthDetector, didFailWithError error: any Error)
    /// Tells the delegate the heading: the first valid one, then each that turned by the heading filter or more
    /// from the one reported before, while there is none the one that is held, once a second, with its age, and the first
    /// valid one after it.
    func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent)
    /// Tells the delegate that the device has faced the bearing for the dwell time.
    func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent)
    /// Tells the delegate that the device still faces the bearing.
    ///
    /// Called first with the sample at which it was faced, then at most once per
    /// ``NorthSettings/updateInterval`` until it is left.
    func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent)
    /// Tells the delegate that the device has looked away from the bearing for the dwell time.
    func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent)
    /// Tells the delegate that there is no heading any more, because none was found for the hold time or a sensor failed.
    func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss)
    /// Tells the delegate that there is a heading again, after it was lost.
    func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent)
    /// Tells the delegate that the device has looked into a sector for the dwell time.
    func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent)
    /// Tells the delegate that the device has looked out of a sector, by its margin, for the dwell time.
    func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent)
    /// Tells the delegate that the field's strength is off: there is iron or a magnet nearby. There is no heading meanwhile.
    func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent)
    /// Tells the delegate that the field's strength is what it should be again.
    func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent)
    /// Asks the delegate whether to tell that a calibration is needed, because the interference does not end; by default
    /// it is.
    func northDetectorShouldDisplayCalibration(_ detector: NorthDetector) -> Bool
    /// Tells the delegate, which has agreed, that the magnetometer has to be calibrated.
    func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent)
    /// Tells the delegate that the field fits again, after a calibration was said to be needed.
    func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent)
    /// What a decorator decorates; `nil` by default.
    ///
    /// A call of a method that the decorator leaves out is passed on to it. Without it the call ends there, and the answer is yes.
    /// The decorator owns it, and may exchange it while samples flow.
    ///
    /// A method of a subclass is called only if the class that declares the conformance has it, too; else its default is.
    var decoratedNorthDelegate: (any NorthDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension NorthDetectorDelegate {
    public var decoratedNorthDelegate: (any NorthDetectorDelegate)? { nil }

    public func northDetectorWillStartDetection(_ detector: NorthDetector) {
        decoratedNorthDelegate?.northDetectorWillStartDetection(detector)
    }
    public func northDetectorDidStopDetection(_ detector: NorthDetector) {
        decoratedNorthDelegate?.northDetectorDidStopDetection(detector)
    }
    public func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        decoratedNorthDelegate?.northDetectorDeviceNotAvailable(detector)
    }
    public func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        decoratedNorthDelegate?.northDetector(detector, didFailWithError: error)
    }
    public func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, didUpdateHeading: event)
    }
    public func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, didFaceNorth: event)
    }
    public func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, deviceIsFacingNorth: event)
    }
    public func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, didLeaveNorth: event)
    }
    public func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        decoratedNorthDelegate?.northDetector(detector, didLoseHeading: loss)
    }
    public func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, didFindHeading: event)
    }
    public func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, didEnter: sector, with: event)
    }
    public func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        decoratedNorthDelegate?.northDetector(detector, didLeave: sector, with: event)
    }
    public func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        decoratedNorthDelegate?.northDetector(detector, didBeginInterference: event)
    }
    public func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        decoratedNorthDelegate?.northDetector(detector, didEndInterference: event)
    }
    public func northDetectorShouldDisplayCalibration(_ detector: NorthDetector) -> Bool {
        decoratedNorthDelegate?.northDetectorShouldDisplayCalibration(detector) ?? true
    }
    public func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        decoratedNorthDelegate?.northDetector(detector, didBeginNeedingCalibration: event)
    }
    public func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        decoratedNorthDelegate?.northDetector(detector, didEndNeedingCalibration: event)
    }
}

extension Router: NorthDetectorDelegate {
    package func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer and magnetometer")
    }

    package func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    package func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        collect(.heading, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        collect(.headingFound, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        collect(.headingLost, detector, loss, sensor: loss.sensor)
    }

    package func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorEntered, detector, SectorEvent(sector: sector, heading: event))
    }

    package func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorLeft, detector, SectorEvent(sector: sector, heading: event))
    }

    package func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        collect(.interferenceBegan, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        collect(.interferenceEnded, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        collect(.calibrationNeeded, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        collect(.calibrationRestored, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        collect(.northFaced, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        collect(.northFacing, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        collect(.northLeft, detector, event)
    }
}
