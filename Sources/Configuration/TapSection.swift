package import Binnacle
package import LinuxSensors
package import TableReading

/// `[tap.NAME]`: a detector of taps.
package struct TapSection: AccelerometerSection {
    package typealias Detector = TapDetector

    package let parts: Parts
    package init(_ parts: Parts) { self.parts = parts }

    package var rateHz: Double { chip == nil ? StreamNeed.RateHz.tap : StreamNeed.RateHz.leastTap }
    package var leastHz: Double { StreamNeed.RateHz.leastTap }
    package var chip: ChipSettings? {
        ChipSettings(watch: settings.watch, reports: settings.mostTaps > 1 ? [.taps, .doubleTaps] : [.taps])
    }

    package var accelerationLimits: (sensor: String, limits: [(key: String, g: Float)])? {
        (sensor, [("threshold_g", Float(settings.thresholdG))])
    }

    package static let shown = "knock"
    package static let text = """
        A detector of single, double and triple taps. Its name is unique among all detectors. A tap is an impulse of a few milliseconds \
        with calm before and after it, which keeps typing, steps and rough roads out. A device that only such detectors read is asked for \
        400 samples a second, unless the sensor has rate_hz; below 200, impulses fall between samples.
        """
    package static let accelerometer = Key.accelerometer(
        "that is tapped", "The sensor that is tapped, or what it is fixed to.")

    package static let rows: [SettingRow<TapSettings>] = [
        SettingRow(
            "threshold_g", \.thresholdG, .number,
            "From 0.05. How far an impulse rises above what was measured before it. A lower value finds softer taps."),
        SettingRow(
            "most_taps", \.mostTaps, .integer(in: 1...3),
            "The most taps of one event; a burst of more is none. With 1 each tap is reported at once, whatever follows it."
        ),
        SettingRow(
            "double_s", \.double, .seconds, idle: { $0.mostTaps == 1 ? "with most_taps = 1" : nil },
            "Up to 2. The longest time from one tap to the next. The event is reported when it has passed after the last tap."
        ),
        SettingRow(
            "bounce_s", \.bounce, .seconds,
            "From 0.05 to below double_s. The shortest time from one tap to the next: what follows sooner is a bounce, and no tap is reported."
        ),
        SettingRow(
            "watch", \.watch, .choice,
            """
            Whether the detector or the chip looks for taps.

              "samples"  the detector, in every sample
              "chip"  the accelerometer's chip, where it reports taps by itself ('binnacle devices' tells): single ones, and double ones \
            unless most_taps is 1. It decides what a tap is, and the keys above do not matter. Without such a chip the detector looks, \
            which is reported. While nothing moves the samples are off, as with `watch` of [motion.NAME]
              "auto"  the chip where its interrupt is found, or else "samples"
            """),
        SettingRow("quiet_s", \.quiet, .seconds, "How long it has to be calm before the first tap."),
        SettingRow(
            "calm_share", \.calmShare, .number,
            """
            Between 0 and 1. What calm is: the greatest acceleration before a tap, as a part of its peak. Beside keys, a further tap exceeds this part of \
            the first. A higher value finds taps in motion, and takes more for taps.
            """),
    ]
}
