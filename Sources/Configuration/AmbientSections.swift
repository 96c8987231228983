package import Binnacle
package import TableReading

/// `[light.NAME]`: a detector of the light around the device.
package struct LightSection: DetectorSection {
    package let name: String
    package let settings: AmbientLightSettings
    package let needs: [StreamNeed] = []

    package init?(
        name: String, reading table: TableReader, _ settings: AmbientLightSettings, among names: SectionNames
    ) {
        self.name = name
        self.settings = settings
    }

    package func makeDetector(
        on streams: [SampleStream], asking detectors: [any EventDetector]
    ) -> AmbientLightDetector {
        AmbientLightDetector(name: name, settings: settings)
    }

    package static let shown = "room"
    package static let text = """
        A detector of the light around the device. It reads the first sensor that there is: of IIO, or of an old laptop's \
        hwmon.
        """
    package static let rows: [SettingRow<AmbientLightSettings>] = [
        SettingRow(
            "change_percent", \.changePercent, .number,
            "The event \"light.changed\" is repeated when the level has changed by this, and by 1 lux or percent at least."
        )
    ]
}

/// `[proximity.NAME]`: a detector of nearby objects.
package struct ProximitySection: DetectorSection {
    package let name: String
    package let settings: NoSettings
    package let needs: [StreamNeed] = []

    package struct NoSettings: CheckedSettings {
        package init() {}
        package func findProblems(_ list: inout ProblemList<NoSettings>) {}
    }

    package init?(name: String, reading table: TableReader, _ settings: NoSettings, among names: SectionNames) {
        self.name = name
        self.settings = settings
    }

    package func makeDetector(
        on streams: [SampleStream], asking detectors: [any EventDetector]
    ) -> ProximityDetector {
        ProximityDetector(name: name)
    }

    package static let shown = "ear"
    package static let text = """
        A detector of something near the device, such as an ear. It reads the first sensor that there is: of IIO, with its \
        level in in_proximity_nearlevel, or the switch SW_FRONT_PROXIMITY of an input device.
        """
    package static let rows: [SettingRow<NoSettings>] = []
}
