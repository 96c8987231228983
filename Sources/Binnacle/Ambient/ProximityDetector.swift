/// Finds whether something is near a device in single readings, and tells its delegate.
package final class ProximityDetector: AmbientReader, AmbientDetector {
    package static let kind = "proximity"
    /// The state reported last; `nil` before the first report.
    package private(set) var proximity: Proximity?

    /// The strengths above which something comes near, and below which it is far again, as iio-sensor-proxy 3.9 has them.
    private static let limits = (near: 1.1, far: 0.9)
    /// Whether the last reading was above the level.
    private var wasAbove = false

    package override init(name: String = "proximity") { super.init(name: name) }

    package func reset() { (proximity, wasAbove) = (nil, false) }

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
        proximity = found
        tell(
            .proximityChanged, Finding(.proximityChanged, at: timeNanoseconds, [.proximity: .word(found)]))
    }
}

extension ProximityDetector {
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
