package import Binnacle

/// `[north.NAME]`: a detector of the heading.
package struct NorthSection: Sendable, Equatable {
    /// The detector's name, unique among all detectors.
    package let name: String
    /// The sensor whose accelerometer says what is up; there is a section for it.
    package let accelerometer: String
    /// The sensor whose magnetometer says where north is; there is a section for it, perhaps the same.
    package let magnetometer: String
    /// How the heading is found, and what is waited for; has no problems.
    package var settings: NorthSettings

    /// Creates a section.
    package init(
        name: String, accelerometer: String, magnetometer: String, settings: NorthSettings
    ) {
        self.name = name
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        self.settings = settings
    }
}
