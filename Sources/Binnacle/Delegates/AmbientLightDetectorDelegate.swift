/// What an ``AmbientLightDetector`` tells and asks its delegate; every method has a default.
///
/// The detector is always the first argument, so one object can be the delegate of many.
package protocol AmbientLightDetectorDelegate: AnyObject {
    /// Tells the delegate that there is no sensor, or that it cannot be read; called once until the next reading.
    func ambientLightDetector(_ detector: AmbientLightDetector, didFailWithError error: any Error)
    /// Asks whether a change shall be told; a refused one is asked about again with the next reading.
    func ambientLightDetector(_ detector: AmbientLightDetector, shouldReport event: LightEvent)
        -> Bool
    /// Tells the delegate that the light has changed, or that the first level is known.
    func ambientLightDetector(_ detector: AmbientLightDetector, didChange event: LightEvent)
}

// A method that a conforming type leaves out does nothing.
extension AmbientLightDetectorDelegate {
    package func ambientLightDetector(
        _ detector: AmbientLightDetector, didFailWithError error: any Error
    ) {}
    /// Agrees.
    package func ambientLightDetector(_ detector: AmbientLightDetector, shouldReport event: LightEvent)
        -> Bool
    { true }
    package func ambientLightDetector(_ detector: AmbientLightDetector, didChange event: LightEvent) {}
}

// The row of a kind says what its event has.
extension Router: AmbientLightDetectorDelegate {
    package func ambientLightDetector(_ detector: AmbientLightDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: error)
    }

    package func ambientLightDetector(_ detector: AmbientLightDetector, didChange event: LightEvent) {
        collect(.lightChanged, detector, event)
    }
}
