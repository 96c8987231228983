package import Binnacle
package import LinuxSensors
package import TableReading

/// `[stationary.NAME]`: a detector of rest and departure.
package struct StationarySection: AccelerometerSection {
    package typealias Detector = StationaryDetector

    package let parts: Parts
    package init(_ parts: Parts) { self.parts = parts }

    package var rateHz: Double { StreamNeed.RateHz.steps }
    package var chip: ChipSettings? {
        ChipSettings(
            watch: settings.watch, reports: [.activity], still: settings.dwell, thresholdG: settings.thresholdG,
            stillG: settings.thresholdG / 2)
    }

    package static let shown = "parked"
    package static let text = """
        A detector of rest and departure. Its name is unique among all detectors. A device departs when it has moved slowly for the dwell \
        time, as one that is carried or driven does; a pocket at rest and a table that shakes do not.
        """
    package static let accelerometer = Key.accelerometer("to watch")

    package static let rows: [SettingRow<StationarySettings>] = [
        SettingRow(
            "threshold_g", \.thresholdG, .number,
            "From 0.002 to 1. The change of the acceleration below 2 Hz that is motion; 0.03 g is a turn of 1.7° as well."
        ),
        SettingRow("dwell_s", \.dwell, .seconds, "From 1. How long it has to move, or to be still, until that counts."),
        SettingRow(
            "watch", \.watch, .choice,
            """
            Whether the detector or the chip looks for movement while the device rests.

              "samples"  the detector, in every sample
              "chip"  the accelerometer's chip: after dwell_s without movement the samples are off, as with `watch` of [motion.NAME]. \
            Where it reports activities by itself ('binnacle devices' shows "change of activity"), walking and running are a departure at once
              "auto"  the chip where that is known to be sound and its interrupt is found, or else "samples"
            """),
    ]
}
