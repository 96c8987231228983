package import Binnacle
import TableReading

/// `[light.NAME]`: a detector of the light around the device.
package struct LightSection: Sendable, Equatable {
    /// The detector's name, unique among all detectors.
    package let name: String
    /// The checked settings.
    package let settings: AmbientLightSettings

    /// Reads a section.
    init(name: String, reading table: TableReader) {
        var settings = AmbientLightSettings()
        table.read(AmbientLightSettings.rows, into: &settings)
        table.report(settings.problems(), of: AmbientLightSettings.rows)
        self.name = name
        self.settings = settings
    }

    /// The names of the section's keys, without making the documentation of ``row``.
    static let keys = [SectionSwitch.enabled.name] + AmbientLightSettings.rows.map(\.name)

    /// The section's row.
    static let row = SectionRow(
        "light.NAME", shown: "light.room", isSet: false,
        """
        A detector of the light around the device. It reads the first sensor that there is: of IIO, or of an old laptop's \
        hwmon.
        """,
        keys: [SectionSwitch.enabled] + AmbientLightSettings.rows.map { $0.key(AmbientLightSettings()) }
    )

    /// Makes the detector.
    package func makeDetector() -> AmbientLightDetector {
        AmbientLightDetector(name: name, settings: settings)
    }
}

/// `[proximity.NAME]`: a detector of what is near the device.
package struct ProximitySection: Sendable, Equatable {
    /// The detector's name, unique among all detectors.
    package let name: String

    /// The names of the section's keys.
    static let keys = [SectionSwitch.enabled.name]

    /// The section's row.
    static let row = SectionRow(
        "proximity.NAME", shown: "proximity.ear", isSet: false,
        """
        A detector of something near the device, such as an ear. It reads the first sensor that there is: of IIO, with its \
        level in in_proximity_nearlevel, or the switch SW_FRONT_PROXIMITY of an input device.
        """,
        keys: [SectionSwitch.enabled])

    /// Makes the detector.
    package func makeDetector() -> ProximityDetector { ProximityDetector(name: name) }
}

extension AmbientLightSettings {
    fileprivate static let rows: [SettingRow<AmbientLightSettings>] = [
        SettingRow(
            "change_percent", \.changePercent, .number,
            "The event \"light.changed\" is repeated when the level has changed by this, and by 1 lux or percent at least."
        )
    ]
}
