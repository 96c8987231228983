/// What a ``ProximityDetector`` tells and asks its delegate; every method has a default.
///
/// The detector is always the first argument, so one object can be the delegate of many.
package protocol ProximityDetectorDelegate: AnyObject {
    /// Tells the delegate that there is no sensor, or that it cannot be read; called once until the next reading.
    func proximityDetector(_ detector: ProximityDetector, didFailWithError error: any Error)
    /// Asks whether a change shall be told; a refused one is asked about again with the next reading.
    func proximityDetector(_ detector: ProximityDetector, shouldReport event: ProximityEvent) -> Bool
    /// Tells the delegate that something came near or went away, or what is so at first.
    func proximityDetector(_ detector: ProximityDetector, didChange event: ProximityEvent)
}

// A method that a conforming type leaves out does nothing.
extension ProximityDetectorDelegate {
    package func proximityDetector(_ detector: ProximityDetector, didFailWithError error: any Error) {}
    /// Agrees.
    package func proximityDetector(_ detector: ProximityDetector, shouldReport event: ProximityEvent)
        -> Bool
    { true }
    package func proximityDetector(_ detector: ProximityDetector, didChange event: ProximityEvent) {}
}

// The row of a kind says what its event has.
extension Router: ProximityDetectorDelegate {
    package func proximityDetector(_ detector: ProximityDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    package func proximityDetector(_ detector: ProximityDetector, didChange event: ProximityEvent) {
        collect(.proximityChanged, detector, event)
    }
}
