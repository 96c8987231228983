package import Binnacle
package import LinuxSensors
package import TableReading

/// `[steps.NAME]`: a counter of steps.
package struct StepsSection: AccelerometerSection {
    package typealias Detector = StepDetector

    package let parts: Parts
    package init(_ parts: Parts) { self.parts = parts }

    package var rateHz: Double { StreamNeed.RateHz.steps }
    package var leastHz: Double { StreamNeed.RateHz.leastSteps }
    package var chip: ChipSettings? { ChipSettings(watch: settings.watch, reports: [.steps]) }

    package static let shown = "walked"
    package static let text = """
        A counter of steps. Its name is unique among all detectors. It counts on the body of who walks; whatever swings as regularly from \
        1 to 3 Hz, such as a machine, is counted as well. The daemon keeps the total in its state folder, and counts from 0 again after 'binnacle reset NAME'.
        """
    package static let accelerometer = Key.accelerometer("that is carried")

    package static let rows: [SettingRow<StepSettings>] = [
        SettingRow(
            "regular_steps", \.regularSteps, .integer(in: 3...20),
            "The number of regular steps with which a walk begins. Its first event brings them all; a shorter walk is not counted."
        ),
        SettingRow(
            "threshold_g", \.thresholdG, .number,
            """
            The root mean square, from 0.9 to 3.2 Hz, of the acceleration with which a walk begins. A lower value counts gentler \
            steps, and more of a drive.
            """),
        SettingRow(
            "watch", \.watch, .choice,
            """
            Who counts steps.

              "samples"  the detector, in every sample
              "chip"  the accelerometer's chip, where it counts by itself ('binnacle devices' shows "change of steps"). It decides what a \
            step is, and the keys above do not matter. Without such a chip the detector counts, which is reported. While nothing moves \
            the samples are off, as with `watch` of [motion.NAME]
              "auto"  the chip where its interrupt is found, or else "samples"
            """),
    ]
}
