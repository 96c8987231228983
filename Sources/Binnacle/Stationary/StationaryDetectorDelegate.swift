/// What a ``StationaryDetector`` tells its delegate, on the thread that offers the samples; every method has a default.
public protocol StationaryDetectorDelegate: AnyObject {
    /// Tells the delegate that there is no accelerometer to start with.
    func stationaryDetectorDeviceNotAvailable(_ detector: StationaryDetector)
    /// Tells the delegate that the accelerometer failed; called once for each failure while detecting.
    func stationaryDetector(_ detector: StationaryDetector, didFailWithError error: any Error)
    /// Tells the delegate that the device has been still for the dwell time.
    func stationaryDetector(_ detector: StationaryDetector, didComeToRest event: StationaryEvent)
    /// Tells the delegate that the device has moved for the dwell time.
    func stationaryDetector(_ detector: StationaryDetector, didDepart event: StationaryEvent)
    /// What a decorator decorates, as ``MotionManagerDelegate/decoratedMotionDelegate`` says.
    var decoratedStationaryDelegate: (any StationaryDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension StationaryDetectorDelegate {
    public var decoratedStationaryDelegate: (any StationaryDetectorDelegate)? { nil }
    public func stationaryDetectorDeviceNotAvailable(_ detector: StationaryDetector) {
        decoratedStationaryDelegate?.stationaryDetectorDeviceNotAvailable(detector)
    }
    public func stationaryDetector(_ detector: StationaryDetector, didFailWithError error: any Error) {
        decoratedStationaryDelegate?.stationaryDetector(detector, didFailWithError: error)
    }
    public func stationaryDetector(_ detector: StationaryDetector, didComeToRest event: StationaryEvent) {
        decoratedStationaryDelegate?.stationaryDetector(detector, didComeToRest: event)
    }
    public func stationaryDetector(_ detector: StationaryDetector, didDepart event: StationaryEvent) {
        decoratedStationaryDelegate?.stationaryDetector(detector, didDepart: event)
    }
}

/// A change between rest and motion.
public struct StationaryEvent: DetectorResult, Equatable {
    /// The stamp at which the rest, or the motion, began, in nanoseconds.
    public let onsetNanoseconds: Int64
    /// The stamp of the sample that decided it, in nanoseconds.
    public let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        figure == .onset ? .integer(onsetNanoseconds) : nil
    }
}

// The row of a kind says what its event has.
extension Router: StationaryDetectorDelegate {
    package func stationaryDetectorDeviceNotAvailable(_ detector: StationaryDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }

    package func stationaryDetector(_ detector: StationaryDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func stationaryDetector(_ detector: StationaryDetector, didComeToRest event: StationaryEvent) {
        collect(.stationary, detector, event)
    }

    package func stationaryDetector(_ detector: StationaryDetector, didDepart event: StationaryEvent) {
        collect(.departed, detector, event)
    }
}
