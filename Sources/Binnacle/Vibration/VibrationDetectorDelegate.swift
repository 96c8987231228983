/// What a ``VibrationDetector`` tells its delegate, on the thread that offers the samples; every method has a default.
///
/// A second is told with the first sample after it, in the order of the samples; a machine's state after the zone.
package protocol VibrationDetectorDelegate: AnyObject {
    /// Tells the delegate that there is no accelerometer to start with.
    func vibrationDetectorDeviceNotAvailable(_ detector: VibrationDetector)
    /// Tells the delegate that the accelerometer failed; called once for each failure while detecting.
    func vibrationDetector(_ detector: VibrationDetector, didFailWithError error: any Error)
    /// Tells the delegate that a band has been beyond its first limit for the dwell time.
    func vibrationDetector(_ detector: VibrationDetector, didBeginVibration event: VibrationEvent)
    /// Tells the delegate that a vibration has been in another zone for the dwell time.
    func vibrationDetector(_ detector: VibrationDetector, didChangeVibration event: VibrationEvent)
    /// Tells the delegate that all bands have been below their first limits for the dwell time.
    func vibrationDetector(_ detector: VibrationDetector, didEndVibration event: VibrationEvent)
    /// Tells the delegate that the machine is in another state, or that the first one is known.
    func vibrationDetector(_ detector: VibrationDetector, didChangeMachine event: VibrationEvent)
    /// Tells the delegate that the machine has been idle for the idle time, after it had run.
    func vibrationDetector(_ detector: VibrationDetector, machineDidFinish event: VibrationEvent)
    /// What a decorator decorates, as ``MotionManagerDelegate/decoratedMotionDelegate`` says.
    var decoratedVibrationDelegate: (any VibrationDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension VibrationDetectorDelegate {
    package var decoratedVibrationDelegate: (any VibrationDetectorDelegate)? { nil }
    package func vibrationDetectorDeviceNotAvailable(_ detector: VibrationDetector) {
        decoratedVibrationDelegate?.vibrationDetectorDeviceNotAvailable(detector)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didFailWithError error: any Error) {
        decoratedVibrationDelegate?.vibrationDetector(detector, didFailWithError: error)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didBeginVibration event: VibrationEvent) {
        decoratedVibrationDelegate?.vibrationDetector(detector, didBeginVibration: event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didChangeVibration event: VibrationEvent) {
        decoratedVibrationDelegate?.vibrationDetector(detector, didChangeVibration: event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didEndVibration event: VibrationEvent) {
        decoratedVibrationDelegate?.vibrationDetector(detector, didEndVibration: event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didChangeMachine event: VibrationEvent) {
        decoratedVibrationDelegate?.vibrationDetector(detector, didChangeMachine: event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, machineDidFinish event: VibrationEvent) {
        decoratedVibrationDelegate?.vibrationDetector(detector, machineDidFinish: event)
    }
}

/// What a machine does, by its vibration.
package enum MachineState: String, FigureWord, CaseIterable {
    /// Below the limit of running.
    case idle
    /// Above it.
    case running
    /// Above the limit of spinning.
    case spinning
}

/// What was measured in the second that decided it.
package struct VibrationEvent: DetectorResult {
    /// The band in the highest zone, or the first one.
    package let band: String
    /// The number of its limits that are exceeded.
    package let zone: Int
    /// The root mean square of the velocity in the band, in mm/s.
    package let velocityMillimetresPerSecond: Double
    /// The root mean square of the acceleration in the band, in g.
    package let accelerationG: Double
    /// The frequency with the greatest acceleration in the band, in Hz.
    package let frequencyHz: Double
    /// The upper end of what was measured of the band, in Hz.
    package let measuredToHz: Double
    /// The state of the machine; `nil` when none is looked for, or none is known.
    package let machine: MachineState?
    /// How much of what is normal has been learned, up to 100; `nil` where nothing is learned.
    package let learnedPercent: Double?
    /// How long the vibration lasted, or the machine ran, in seconds; only when it has ended.
    package let durationSeconds: Double?
    /// The stamp of the first sample after the second, in nanoseconds.
    package let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .band: .text(band)
        case .zone: .integer(Int64(zone))
        case .velocity: figure.number(velocityMillimetresPerSecond)
        case .vibration: figure.number(accelerationG)
        case .frequency: figure.number(frequencyHz)
        case .measuredTo: figure.number(measuredToHz)
        case .machine: machine.map { .word($0) }
        case .learned: learnedPercent.map(figure.number)
        case .duration: durationSeconds.map(figure.number)
        default: nil
        }
    }
}

// The row of a kind says what its event has.
extension Router: VibrationDetectorDelegate {
    package func vibrationDetectorDeviceNotAvailable(_ detector: VibrationDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }
    package func vibrationDetector(_ detector: VibrationDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }
    package func vibrationDetector(_ detector: VibrationDetector, didBeginVibration event: VibrationEvent) {
        collect(.vibrationBegan, detector, event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didChangeVibration event: VibrationEvent) {
        collect(.vibrationChanged, detector, event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didEndVibration event: VibrationEvent) {
        collect(.vibrationEnded, detector, event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, didChangeMachine event: VibrationEvent) {
        collect(.machineChanged, detector, event)
    }
    package func vibrationDetector(_ detector: VibrationDetector, machineDidFinish event: VibrationEvent) {
        collect(.machineFinished, detector, event)
    }
}
