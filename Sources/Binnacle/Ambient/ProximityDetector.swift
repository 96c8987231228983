/// Finds whether something is near a device in single readings, and tells its delegate.
///
/// What reads the sensor calls ``take(strength:at:)`` on the thread of the other detectors.
package final class ProximityDetector: ReportingDetector {
    package static let kind = "proximity"
    package let name: String
    package weak var delegate: (any DetectorDelegate)?
    package private(set) var isDetecting = false
    package private(set) var position = SamplePosition(
        timeNanoseconds: 0, streamIndex: .max, sampleIndex: .max)
    /// None: readings are no samples.
    package let streams: [SampleStream] = []
    /// The state reported last; `nil` before the first report.
    package private(set) var proximity: Proximity?

    /// The strengths above which something comes near, and below which it is far again, as iio-sensor-proxy 3.9 has them.
    private static let limits = (near: 1.1, far: 0.9)
    private var hasFailed = false
    /// Whether the last reading was above the level.
    private var wasAbove = false

    /// Creates a detector that does not detect yet.
    ///
    /// - Parameter name: The name that events carry.
    package init(name: String = "proximity") {
        self.name = name
    }

    /// Starts with the next reading, which is told; does nothing while detecting.
    package func startDetection() {
        guard !isDetecting else { return }
        proximity = nil
        wasAbove = false
        hasFailed = false
        isDetecting = true
    }

    package func stopDetection() { isDetecting = false }

    /// Ignores samples: the detector has none.
    package func process(_ delivery: SampleDelivery) {}

    /// Ignores lost streams: the detector has none.
    package func didLose(_ streams: [SampleStream], because error: any Error) {}

    /// Looks at a reading.
    ///
    /// - Parameters:
    ///   - strength: What the sensor measures, as a multiple of the level at which something is near; a switch has 2 or 0.
    ///   - timeNanoseconds: When it was read, in the samples' clock.
    package func process(strength: Double, at timeNanoseconds: Int64) {
        guard isDetecting, !strength.isNaN else { return }
        hasFailed = false
        let found: Proximity =
            switch proximity {
            case .near: strength < Self.limits.far ? .far : .near
            // A second reading confirms one that is only just above the level.
            case .far: strength > Self.limits.near || strength > 1 && wasAbove ? .near : .far
            case nil: strength > 1 ? .near : .far
            }
        wasAbove = strength > 1
        guard found != proximity else { return }
        let event = ProximityEvent(proximity: found, timeNanoseconds: timeNanoseconds)
        position = SamplePosition(
            timeNanoseconds: timeNanoseconds, streamIndex: .max, sampleIndex: .max)
        proximity = found
        delegate?.collect(.proximityChanged, self, event)
    }

    /// Tells the delegate, once until the next reading, that there is none.
    package func didFail(because error: any Error) {
        guard isDetecting, !hasFailed else { return }
        hasFailed = true
        proximity = nil
        delegate?.collect(.detectorFailed, self, because: error)
    }
}

extension ProximityDetector {
    package var eventSensor: String? { name }

    package var state: String? { proximity?.rawValue }
    package var lanes: [Lane] {
        [Lane(title: "proximity of \(name)", states: [Lane.States(name: Lane.States.state)])]
    }

    package var ambientKinds: Set<AmbientReading.Kind> { [.proximity] }

    package func process(_ outcome: AmbientReading.Outcome) {
        switch outcome {
        case .read(.proximity(let strength), let time): process(strength: strength, at: time)
        case .failed(.proximity, let failure): didFail(because: failure)
        case .read, .failed: break
        }
    }
}

/// Whether something is near a device.
package enum Proximity: String, FigureWord, CaseIterable {
    /// Something is near, such as an ear.
    case near
    /// Nothing is near.
    case far
}

/// A change of what is near a device.
package struct ProximityEvent: Sendable, Equatable {
    /// Whether something is near.
    package let proximity: Proximity
    /// When it was read, in nanoseconds of the samples' clock.
    package let timeNanoseconds: Int64
}

extension ProximityEvent: DetectorResult {
    package func value(of figure: Figure.Name) -> Figure.Value? {
        figure == .proximity ? .word(proximity) : nil
    }
}
