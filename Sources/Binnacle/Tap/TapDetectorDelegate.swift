/// What a ``TapDetector`` tells its delegate, on the thread that offers the samples; every method has a default.
public protocol TapDetectorDelegate: AnyObject {
    /// Tells the delegate that there is no accelerometer to start with.
    func tapDetectorDeviceNotAvailable(_ detector: TapDetector)
    /// Tells the delegate that the accelerometer failed; called once for each failure while detecting.
    func tapDetector(_ detector: TapDetector, didFailWithError error: any Error)
    /// Tells the delegate that the device was tapped, at the sample that decided how often.
    func tapDetector(_ detector: TapDetector, didDetectTap event: TapEvent)
    /// What a decorator decorates, as ``MotionManagerDelegate/decoratedMotionDelegate`` says.
    var decoratedTapDelegate: (any TapDetectorDelegate)? { get }
}

// A method that a conforming type leaves out is passed on, or does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension TapDetectorDelegate {
    public var decoratedTapDelegate: (any TapDetectorDelegate)? { nil }
    public func tapDetectorDeviceNotAvailable(_ detector: TapDetector) {
        decoratedTapDelegate?.tapDetectorDeviceNotAvailable(detector)
    }
    public func tapDetector(_ detector: TapDetector, didFailWithError error: any Error) {
        decoratedTapDelegate?.tapDetector(detector, didFailWithError: error)
    }
    public func tapDetector(_ detector: TapDetector, didDetectTap event: TapEvent) {
        decoratedTapDelegate?.tapDetector(detector, didDetectTap: event)
    }
}

/// One to three taps between times of calm.
public struct TapEvent: DetectorResult, Equatable {
    /// The number of taps, from 1 to 3.
    public let count: Int
    /// The axis along which the first tap accelerated the device most, and to which side.
    public let axis: DeviceAxis
    /// The greatest acceleration of the taps beside what was measured before, in g.
    public let peakG: Double
    /// The stamp of the first peak, in nanoseconds.
    public let onsetNanoseconds: Int64
    /// The stamp of the sample that decided how many taps there are, in nanoseconds.
    public let timeNanoseconds: Int64

    package func value(of figure: Figure.Name) -> Figure.Value? {
        switch figure {
        case .count: .integer(Int64(count))
        case .axis: .word(axis)
        case .sign: .integer(axis.isReversed ? -1 : 1)
        case .peak: figure.number(peakG)
        case .onset: .integer(onsetNanoseconds)
        default: nil
        }
    }
}

// The row of a kind says what its event has.
extension Router: TapDetectorDelegate {
    package func tapDetectorDeviceNotAvailable(_ detector: TapDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }

    package func tapDetector(_ detector: TapDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func tapDetector(_ detector: TapDetector, didDetectTap event: TapEvent) {
        collect(.tap, detector, event)
    }
}
