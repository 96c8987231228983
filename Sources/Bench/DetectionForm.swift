package import Binnacle

/// The two ways in which motion is found.
package enum DetectionForm: String, CaseIterable {
    /// The squared acceleration against a band around 1 g: no filter.
    case threshold
    /// Gravity is filtered out first, as by default.
    case gravity

    /// What it is called in a table.
    package var label: String {
        switch self {
        case .threshold: "threshold"
        case .gravity: "gravity filter"
        }
    }

    /// What is looked for: all that is found without the filter, or everything.
    package var settings: MotionSettings {
        var settings = MotionSettings()
        // Here samples may lie microseconds apart, and each blow is to be told.
        settings.shockRefractory = .zero
        if self == .threshold {
            settings.measure = .magnitude
            settings.features = [.motion, .freeFall, .shock]
        }
        return settings
    }
}
