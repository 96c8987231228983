/// What a ``NorthDetector`` tells its delegate; every method has an empty default, so a delegate writes only those
/// it cares about.
///
/// All methods are called on the thread that offers the samples, in the order of the samples: at one sample, the
/// heading comes first, then what was faced or left, then *is facing*. The detector is always the first argument,
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
    /// from the one told last.
    func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent)
    /// Tells the delegate that the device has faced the bearing for the dwell time.
    func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent)
    /// Tells the delegate that the device goes on facing the bearing.
    ///
    /// Called first with the sample at which it was faced, then at most once per
    /// ``NorthSettings/updateInterval`` until it is left.
    func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent)
    /// Tells the delegate that the device has looked away from the bearing for the dwell time.
    func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent)
}

extension NorthDetectorDelegate {
    /// Does nothing.
    public func northDetectorWillStartDetection(_ detector: NorthDetector) {}
    /// Does nothing.
    public func northDetectorDidStopDetection(_ detector: NorthDetector) {}
    /// Does nothing.
    public func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {}
    /// Does nothing.
    public func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {}
    /// Does nothing.
    public func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {}
    /// Does nothing.
    public func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {}
    /// Does nothing.
    public func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {}
    /// Does nothing.
    public func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {}
}
