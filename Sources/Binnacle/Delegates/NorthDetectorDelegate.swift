/// What a ``NorthDetector`` tells its delegate; every method has an empty default, so a delegate writes only those
/// it cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples: at one sample,
/// interference comes first, then the heading, then what was faced or left, then *is facing*. The detector is always the first argument,
/// so one object can be the delegate of many. A method may call ``NorthDetector/stopDetection()``; nothing more is
/// told then.
public protocol NorthDetectorDelegate: AnyObject {
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
}

// A method that a conforming type leaves out does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension NorthDetectorDelegate {
    public func northDetectorWillStartDetection(_ detector: NorthDetector) {}
    public func northDetectorDidStopDetection(_ detector: NorthDetector) {}
    public func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {}
    public func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {}
    public func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {}
    public func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {}
    public func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {}
    public func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {}
    /// Says yes.
    public func northDetectorShouldDisplayCalibration(_ detector: NorthDetector) -> Bool { true }
    public func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {}
    public func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {}
}

// The row of a kind says what its event has.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: NorthDetectorDelegate {
    public func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer and magnetometer")
    }

    public func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    public func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        collect(.heading, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        collect(.headingFound, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        collect(.headingLost, detector, loss, sensor: loss.sensor)
    }

    public func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorEntered, detector, SectorEvent(sector: sector, heading: event))
    }

    public func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorLeft, detector, SectorEvent(sector: sector, heading: event))
    }

    public func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        collect(.interferenceBegan, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        collect(.interferenceEnded, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        collect(.calibrationNeeded, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        collect(.calibrationRestored, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        collect(.northFaced, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        collect(.northFacing, detector, event)
    }

    public func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        collect(.northLeft, detector, event)
    }
}
