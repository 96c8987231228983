/// A single reading of a sensor that has no stream of samples.
package enum AmbientReading: Sendable, Equatable {
    /// A level of light.
    case light(Double, LightEvent.Unit)
    /// A strength of reflection, as a multiple of the level at which something is near.
    case proximity(Double)
    /// Whether the keyboard is folded away.
    case tabletMode(Bool)

    /// What single readings are about.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The light around the device.
        case light
        /// Whether something is near the device.
        case proximity
        /// Whether the keyboard is folded away.
        case tabletMode = "tablet mode"
    }

    /// The result of reading.
    package enum Outcome: Sendable {
        /// A reading, and when it was taken, on CLOCK_MONOTONIC.
        case read(AmbientReading, timeNanoseconds: Int64)
        /// There is no device for a kind, or it cannot be read.
        case failed(Kind, any Error)

        /// What it is about.
        package var kind: Kind {
            switch self {
            case .read(.light, _): .light
            case .read(.proximity, _): .proximity
            case .read(.tabletMode, _): .tabletMode
            case .failed(let kind, _): kind
            }
        }
    }
}
