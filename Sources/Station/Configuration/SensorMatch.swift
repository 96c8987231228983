/// What a device has to look like to be the one a section means: everything that is given has to agree.
package struct SensorMatch: Sendable, Equatable {
    /// The device's name as the driver gives it.
    package var name: String?
    /// The device's label, which the firmware or a udev rule gives.
    package var label: String?
    /// Where the sensor sits, such as `display` or `base`.
    package var location: String?
    /// The device's path.
    package var path: String?
    /// The udev properties, by their names.
    package var properties: [String: String] = [:]

    /// A match that any device satisfies.
    package init() {}

    /// Whether nothing is asked for.
    package var isEmpty: Bool { self == SensorMatch() }
}
