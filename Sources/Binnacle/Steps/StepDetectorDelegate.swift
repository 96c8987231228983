/// What a ``StepDetector`` tells its delegate, on the thread that offers the samples; every method has a default.
public protocol StepDetectorDelegate: AnyObject {
    /// Tells the delegate that there is no accelerometer to start with.
    func stepDetectorDeviceNotAvailable(_ detector: StepDetector)
    /// Tells the delegate that the accelerometer failed; called once for each failure while detecting.
    func stepDetector(_ detector: StepDetector, didFailWithError error: any Error)
    /// Tells the delegate that steps were taken: several when a walk begins, then one at a time.
    func stepDetector(_ detector: StepDetector, didCountSteps event: StepEvent)
    /// What a decorator decorates, as ``MotionManagerDelegate/decoratedMotionDelegate`` says.
    var decoratedStepDelegate: (any StepDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension StepDetectorDelegate {
    public var decoratedStepDelegate: (any StepDetectorDelegate)? { nil }
    public func stepDetectorDeviceNotAvailable(_ detector: StepDetector) {
        decoratedStepDelegate?.stepDetectorDeviceNotAvailable(detector)
    }
    public func stepDetector(_ detector: StepDetector, didFailWithError error: any Error) {
        decoratedStepDelegate?.stepDetector(detector, didFailWithError: error)
    }
    public func stepDetector(_ detector: StepDetector, didCountSteps event: StepEvent) {
        decoratedStepDelegate?.stepDetector(detector, didCountSteps: event)
    }
}

/// Steps that were counted at one sample.
public struct StepEvent: DetectorResult, Equatable {
    /// The number of steps since the event before it.
    public let count: Int
    /// The number of steps since the count was last 0, with those of this event.
    public let total: Int64
    /// Steps a minute, over the last regular ones.
    public let cadence: Double
    /// The stamp of the sample that decided it, in nanoseconds.
    public let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .count: .integer(Int64(count))
        case .total: .integer(total)
        case .cadence: figure.number(cadence)
        default: nil
        }
    }
}

// The row of a kind says what its event has.
extension Router: StepDetectorDelegate {
    package func stepDetectorDeviceNotAvailable(_ detector: StepDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }

    package func stepDetector(_ detector: StepDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func stepDetector(_ detector: StepDetector, didCountSteps event: StepEvent) {
        collect(.step, detector, event)
    }
}
