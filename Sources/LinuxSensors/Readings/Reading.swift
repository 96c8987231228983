package import Binnacle

/// What single readings are about.
package enum ReadingKind: String, Sendable, Hashable, CaseIterable {
    /// The light around the device.
    case light
    /// Whether something is near the device.
    case proximity
    /// Whether the keyboard is folded away.
    case tabletMode = "tablet mode"
}

/// A single reading of a sensor that has no stream of samples.
package enum Reading: Sendable, Equatable {
    /// A level of light.
    case light(Double, LightEvent.Unit)
    /// A strength of reflection, as a multiple of the level at which something is near.
    case proximity(Double)
    /// Whether the keyboard is folded away.
    case tabletMode(Bool)

    /// What it is about.
    package var kind: ReadingKind {
        switch self {
        case .light: .light
        case .proximity: .proximity
        case .tabletMode: .tabletMode
        }
    }
}

/// What a ``ReadingWatcher`` tells.
package enum ReadingOutcome: Sendable {
    /// A reading, and when it was taken, on CLOCK_MONOTONIC.
    case read(Reading, timeNanoseconds: Int64)
    /// There is no device for a kind, or it cannot be read.
    case failed(ReadingKind, SensorFailure)
}
