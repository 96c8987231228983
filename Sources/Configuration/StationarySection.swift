package import Binnacle
package import TableReading

/// `[stationary.NAME]`: a detector of rest and departure.
package struct StationarySection: AccelerometerSection {
    package let name: String
    package let settings: StationarySettings
    package let sensor: String

    package init?(name: String, reading table: TableReader, _ settings: StationarySettings, among names: SectionNames) {
        guard let sensor = Self.sensor(Self.accelerometer, table, names) else { return nil }
        self.name = name
        self.settings = settings
        self.sensor = sensor
    }

    package var needs: [StreamNeed] {
        [StreamNeed(sensor: sensor, kind: .accelerometer, rateHz: StreamNeed.RateHz.steps)]
    }

    package func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> StationaryDetector {
        StationaryDetector(name: name, accelerometer: streams.first(sensor, .accelerometer), settings: settings)
    }

    package static let shown = "parked"
    package static let isSet = false
    package static let text = """
        A detector of rest and departure. Its name is unique among all detectors. A device departs when it has moved slowly for the dwell \
        time, as one that is carried or driven does; a pocket at rest and a table that shakes do not.
        """
    package static let defaults = StationarySettings()
    package static let accelerometer = Key(
        "accelerometer", .usual("\"chassis\""), purpose: "it names the sensor to watch", usual: "",
        "The sensor to watch.")

    package static let rows: [SettingRow<StationarySettings>] = [
        SettingRow(
            "threshold_g", \.thresholdG, .number,
            "The change of the acceleration below 2 Hz that is motion; 0.03 g is a turn of 1.7° as well."),
        SettingRow("dwell_s", \.dwell, .seconds, "How long it has to move, or to be still, until that counts."),
    ]
}
