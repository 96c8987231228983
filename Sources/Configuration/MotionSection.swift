package import Binnacle
import LinuxSensors
import PlainText
package import TableReading

/// `[motion.NAME]`: a detector of movement.
package struct MotionSection: DetectorSection {
    package let name: String
    /// The name of the sensor with the accelerometer.
    package let accelerometer: String
    package let gyroscope: GyroscopeChoice
    package let settings: MotionSettings

    package init?(
        name: String, reading table: TableReader, _ settings: MotionSettings, among names: SectionNames
    ) {
        let sensor = Self.sensor(Self.accelerometer, table, names)
        gyroscope = GyroscopeChoice(reading: Self.gyroscope, of: table, sensors: names.sensors)
        if gyroscope == .none {
            let words = "with gyroscope = \"none\""
            if settings.features.contains(.rotation) { table.warn(idle: "detect", as: "\"rotation\" in detect", words) }
            if settings.features.contains(.motion), settings.measure == .linearAcceleration {
                table.warn(idle: "measure", as: "measure = \"linear_acceleration\"", words)
            }
        }
        guard let sensor else { return nil }
        self.name = name
        accelerometer = sensor
        self.settings = settings
    }

    private var usedGyroscope: GyroscopeChoice { settings.usesGyroscope ? gyroscope : .none }

    package var needs: [StreamNeed] {
        let brief = settings.features.subtracting([.motion, .rotation])
        var need = StreamNeed(
            sensor: accelerometer, kind: .accelerometer, rateHz: StreamNeed.RateHz.motion, chip: chip)
        if !brief.isEmpty {
            (need.rateHz, need.leastHz) = (StreamNeed.RateHz.impact, StreamNeed.RateHz.leastImpact)
            need.missed = "\(Spelling.list(brief.map(\.rawValue).sorted())) of `detect`"
        }
        return [need] + usedGyroscope.needs(beside: accelerometer)
    }

    /// What is wanted of the sensor's chip while nothing moves.
    ///
    /// A motion has to have ended before: the gravity filter forgets a change of 2 g to below 0.02 g in 5 time constants.
    private var chip: ChipSettings? {
        ChipSettings(
            watch: settings.watch, still: settings.quiet + settings.gravityTimeConstant * 5,
            thresholdG: Double(settings.thresholdG), stillG: Double(settings.effectiveReleaseG),
            freeFallG: settings.features.contains(.freeFall) ? Double(settings.freeFallG) : nil,
            wakesMachine: settings.wake)
    }

    package func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> MotionManager {
        MotionManager(
            name: name, accelerometer: streams.first(accelerometer, .accelerometer),
            gyroscope: usedGyroscope.stream(beside: accelerometer, among: streams), settings: settings)
    }

    package static func condition(of kind: EventKind, _ settings: MotionSettings) -> Condition? {
        feature(of: kind).map {
            ("has \(Spelling.quoted($0.rawValue)) in `detect`", settings.features.contains($0))
        }
    }

    /// The feature that has to be enabled to make events of a kind.
    private static func feature(of kind: EventKind) -> MotionSettings.Feature? {
        switch kind {
        case .motionBegan, .motionMoving, .motionEnded: .motion
        case .shake: .shake
        case .freeFall: .freeFall
        case .shock: .shock
        case .rotationBegan, .rotationEnded: .rotation
        default: nil
        }
    }

    package var publishedSensor: String? { accelerometer }

    package var accelerationLimits: (sensor: String, limits: [(key: String, g: Float)])? {
        let all: [(MotionSettings.Feature, String, Float)] = [
            (.motion, "threshold_g", settings.thresholdG), (.shake, "shake_g", settings.shakeG),
            (.shock, "shock_g", settings.shockG),
        ]
        return (accelerometer, all.filter { settings.features.contains($0.0) }.map { ($0.1, $0.2) })
    }

    package var ownLines: [String] { [Self.line(Self.accelerometer, accelerometer)] }

    package static let shown = "moved"
    package static let isSet = true
    package static let text = "A detector of movement. Its name is unique among all detectors."
    package static let sensorKeys = [accelerometer, gyroscope].map(\.name)
    package static let ownKeys = [accelerometer, gyroscope]

    private static let accelerometer = Key(
        "accelerometer", .set("\"chassis\""), purpose: "it names the sensor to watch", "The sensor to watch.")
    private static let gyroscope = Key(
        "gyroscope", .example("\"chassis\""), usual: "that of the accelerometer, if there is one",
        """
        The sensor that measures how the device turns, or "none", as in [north.NAME]. It is read only for "rotation" in \
        detect, and for measure = "linear_acceleration".
        """)
}

extension MotionSection {
    /// Why a key has no effect when none of its features is detected.
    private static func needing(_ features: MotionSettings.Feature...) -> SettingRow<MotionSettings>.Idle {
        { settings in
            guard settings.features.isDisjoint(with: features) else { return nil }
            return "without \(Spelling.alternatives(features.map { JSONObject.quoted($0.rawValue) })) in detect"
        }
    }

    package static let rows: [SettingRow<MotionSettings>] = [
        SettingRow(
            "detect", \.features, shown: .usual("[\"motion\", \"shake\", \"free_fall\", \"shock\"]"),
            usual: "all but \"rotation\"",
            """
            What is detected: any of "motion", "shake", "free_fall", "shock", "rotation". Each makes events of its own. \
            "rotation" needs a gyroscope.
            """,
            value: { TableReader.text($0.features) }
        ) { table, key, settings in
            if let features = table.set(key, of: MotionSettings.Feature.self) { settings.features = features }
        },
        SettingRow(
            "measure", \.measure, .choice, idle: needing(.motion),
            """
            The acceleration that threshold_g and release_g are compared with.

              "user_acceleration"  acceleration without gravity; sees a pure turn as well
              "magnitude"  the difference between the total and 1 g; needs no warm-up, but an accelerometer that is \
            calibrated; hardly sees a slow turn
              "linear_acceleration"  acceleration without gravity, which a gyroscope follows through each turn; a turn is no \
            motion, if the accelerometer is calibrated. While there is no gyroscope it is "user_acceleration", which is reported
            """),
        SettingRow(
            "threshold_g", \.thresholdG, .number,
            "Motion begins above it. A lower value finds gentler movement and, in the end, the sensor's own noise."),
        SettingRow(
            "release_g", \.releaseG, .number, usual: "half of threshold_g", shown: .usual("0.025"),
            "Motion can end only below it. The further it is below threshold_g, the less a motion falls into pieces."),
        SettingRow(
            "rotation_dps", \.rotationDegreesPerSecond, .number, idle: needing(.rotation),
            "A rotation begins above this rate of turn, about any axis, in degrees a second."),
        SettingRow(
            "rotation_release_dps", \.rotationReleaseDegreesPerSecond, .number, usual: "half of rotation_dps",
            shown: .usual("15"), idle: needing(.rotation), "A rotation can end only below it."),
        SettingRow(
            "min_duration_s", \.minimumDuration, .seconds,
            """
            How long motion has to last until it has begun: from a sample above threshold_g on, without 20 ms below release_g. A \
            rotation has its own two limits. Shorter jolts are ignored; with user acceleration one of 3 g for 10 ms lasts 0.2 s, because \
            the mean that stands for gravity follows it.
            """),
        SettingRow(
            "quiet_s", \.quiet, .seconds,
            // A chip watches after it.
            idle: { $0.watch == .samples ? needing(.motion, .rotation)($0) : nil },
            """
            How long quiet has to last until motion has ended: from a sample below release_g on, without one above threshold_g. A \
            rotation has its own two limits. A longer time joins movements with pauses.
            """),
        SettingRow(
            "shake_g", \.shakeG, .number, idle: needing(.shake),
            "A shake is a user acceleration (without gravity) above it."),
        SettingRow(
            "shake_refractory_s", \.shakeRefractory, .seconds, idle: needing(.shake),
            "The shortest time between two shakes."),
        SettingRow(
            "free_fall_g", \.freeFallG, .number, idle: needing(.freeFall),
            "Below 1. Free fall is a total acceleration below it."),
        SettingRow(
            "free_fall_s", \.freeFallDuration, .seconds, idle: needing(.freeFall),
            "How long free fall has to last. A jogger is weightless for up to 0.075 s."),
        SettingRow(
            "shock_g", \.shockG, .number, idle: needing(.shock), "Above 1. A shock is a total acceleration above it."),
        SettingRow(
            "shock_window_s", \.shockWindow, .seconds, idle: needing(.shock),
            "A shock is reported this long after its first sample, with its peak; with 0, at once with that sample."),
        SettingRow(
            "shock_refractory_s", \.shockRefractory, .seconds, idle: needing(.shock),
            "The shortest time between two shocks."),
        SettingRow(
            "gravity_s", \.gravityTimeConstant, .seconds,
            """
            The time constant of the low-pass filter that estimates gravity. Shakes, and motion by user acceleration, are \
            detected only after three times this value since a start or a gap.
            """),
        SettingRow(
            "watch", \.watch, .choice,
            """
            Whether the detector or the chip looks for movement while the device rests.

              "samples"  the detector, in every sample
              "chip"  the accelerometer's chip, by an event of its own: after quiet_s and five times gravity_s without movement \
            its samples are switched off, and its event switches them on again. The first moment of a movement is then not \
            measured, and free fall, a shake or a shock from rest may be missed. It needs a device that reports such an event \
            ('binnacle doctor' tells), and no other detector of the sensor that needs every sample
              "auto"  the chip where its event is known to leave out gravity and its interrupt is found, or else "samples"
            """),
        SettingRow(
            "wake", \.wake, .boolean,
            """
            Whether movement wakes a suspended machine, by the event of `watch`, where the chip's driver can. The event is then \
            armed at all times. A laptop that is carried in a bag wakes there, and may overheat.
            """),
        SettingRow(
            "gap_s", \.gapLimit, .seconds,
            "A longer time without a sample is a gap, after which detection starts again."),
        SettingRow(
            "update_interval_s", \.updateInterval, .seconds, "The shortest time between two events \"motion.moving\"."),
    ]
}
