package import Binnacle

/// `[motion.NAME]`: a detector of movement.
package struct MotionSection: Sendable, Equatable {
    /// The detector's name, unique among all detectors.
    package let name: String
    /// The sensor whose accelerometer is watched; there is a section for it.
    package let accelerometer: String
    /// What is looked for; has no problems.
    package let settings: MotionSettings

    /// Creates a section.
    package init(name: String, accelerometer: String, settings: MotionSettings) {
        self.name = name
        self.accelerometer = accelerometer
        self.settings = settings
    }
}
