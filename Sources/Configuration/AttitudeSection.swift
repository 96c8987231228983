package import Binnacle
package import BinnacleHeading
package import TableReading

/// `[attitude.NAME]`: a detector of how a body lies and moves.
package struct AttitudeSection: DetectorSection {
    package let name: String
    /// The sensor whose accelerometer gives the vertical.
    package let accelerometer: String
    /// The gyroscope that follows turns.
    package let gyroscope: GyroscopeChoice
    /// The sensor whose magnetometer gives north; `nil` makes the turn about the vertical relative.
    package let magnetometer: String?
    package private(set) var settings: AttitudeSettings

    package init?(name: String, reading table: TableReader, _ settings: AttitudeSettings, among names: SectionNames) {
        let accelerometer = Self.sensor(Self.accelerometer, table, names)
        gyroscope = GyroscopeChoice(reading: Self.gyroscope, of: table, sensors: names.sensors)
        magnetometer = table.reference(Self.magnetometer, to: "sensor", among: names.sensors)
        guard let accelerometer, magnetometer != nil || table.entry(Self.magnetometer.name) == nil else { return nil }
        self.name = name
        self.accelerometer = accelerometer
        self.settings = settings
    }

    package var needs: [StreamNeed] {
        typealias Rate = StreamNeed.RateHz
        let north = magnetometer.map { [StreamNeed(sensor: $0, kind: .magnetometer, rateHz: Rate.heading)] } ?? []
        return [StreamNeed(sensor: accelerometer, kind: .accelerometer, rateHz: Rate.vertical)] + north
            + gyroscope.needs(beside: accelerometer)
    }

    package func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> AttitudeDetector {
        AttitudeDetector(
            name: name, accelerometer: streams.first(accelerometer, .accelerometer),
            gyroscope: gyroscope.stream(beside: accelerometer, among: streams),
            magnetometer: magnetometer.flatMap { streams.first($0, .magnetometer) }, settings: settings)
    }

    package static func condition(of kind: EventKind, _ settings: AttitudeSettings) -> Condition? {
        switch kind {
        case .heelBegan, .heelEnded: ("has `heel_deg`", settings.heelDegrees != nil)
        case .pitchBegan, .pitchEnded: ("has `pitch_deg`", settings.pitchDegrees != nil)
        default: nil
        }
    }

    package var publishedSensor: String? { accelerometer }
    package var dependsOnPlace: Bool { magnetometer != nil }

    package func placed(in field: LocalField) -> AttitudeSection? {
        guard dependsOnPlace else { return nil }
        var placed = self
        placed.settings.localField = field
        return placed
    }

    package var ownLines: [String] {
        [Self.line(Self.accelerometer, accelerometer)] + (magnetometer.map { [Self.line(Self.magnetometer, $0)] } ?? [])
    }

    package static let shown = "hull"
    package static let text = """
        A detector of how a body lies and moves: a quaternion, roll, pitch and yaw, gravity, user acceleration and rotation rate. Its name \
        is unique among all detectors. The vectors are in the axes of the body, which \"frame\" names.
        """
    package static let sensorKeys = [accelerometer, gyroscope, magnetometer].map(\.name)
    package static let ownKeys = [accelerometer, gyroscope, magnetometer]

    private static let accelerometer = Key.accelerometer("that measures which way is up")
    private static let gyroscope = Key(
        "gyroscope", .example("\"chassis\""), usual: "that of the accelerometer, if there is one",
        "The sensor that measures how the body turns, or \"none\", as in [north.NAME]. Without it the attitude is right only at rest."
    )
    private static let magnetometer = Key(
        "magnetometer", .example("\"compass\""), usual: "none",
        """
        The sensor that measures the magnetic field. With it yaw counts from north while that is known; without it, from where the body \
        pointed when detection began, and only with a gyroscope.
        """)
}

extension AttitudeSection {
    private static func withoutLimit(_ settings: AttitudeSettings) -> String? {
        settings.heelDegrees == nil && settings.pitchDegrees == nil ? "without heel_deg or pitch_deg" : nil
    }

    package static let rows: [SettingRow<AttitudeSettings>] = [
        SettingRow(
            "frame", \.frame, .choice,
            """
            The frame of the Earth, and the axes of the body.

              "ned"  north, east, down; forward, right (starboard), down: ships and aircraft. Roll is positive with the right side down, \
            pitch with the bow up, yaw clockwise from north
              "enu"  east, north, up; forward, left, up: robots (ROS). Roll is positive with the right side down, pitch with the nose down, \
            yaw counter-clockwise from east
            """),
        SettingRow(
            "forward_axis", \.forwardAxis, .choice,
            """
            The axis of the device that points forward, to the bow. With "+x", "+z" as up_axis and "enu" the axes of the body are those of \
            the device, as Android and browsers have them.
            """),
        SettingRow("up_axis", \.upAxis, .choice, "The axis of the device that points up when the body is level."),
        SettingRow(
            "attitude_filter_deg", \.filterDegrees, .number,
            """
            The event \"attitude.changed\" is repeated when the body has turned this far about any axis, when its yaw counts from something \
            else, when an accuracy has got worse by a quarter and by 1°, and, at most once a second, when one has got better by as much or \
            the rate of turn is another one by half and by 1°/s.
            """),
        SettingRow(
            "heel_deg", \.heelDegrees, .limit, shown: .example("25"),
            "Below 180. The roll, to either side, beyond which \"heel.began\" reports it."),
        SettingRow(
            "pitch_deg", \.pitchDegrees, .limit, shown: .example("10"),
            "Below 90. The pitch, up or down, beyond which \"pitch.began\" reports it."),
        SettingRow(
            "hysteresis_deg", \.hysteresisDegrees, .number, idle: withoutLimit,
            "Less than both limits. How far below its limit an angle has to be until it is within it again."),
        SettingRow(
            "dwell_s", \.dwell, .seconds, idle: withoutLimit,
            "How long an angle has to be beyond its limit, or within it again, until that counts."),
        SettingRow(
            "smoothing_s", \.smoothing, .seconds,
            "Without a gyroscope: the time constant of the filter over accelerometer and magnetometer."),
        SettingRow(
            "hard_iron_uT", \.uncalibratedIronMicrotesla, .number,
            "As in [north.NAME]: 0 says that the maker or the driver has removed the hard iron of a magnetometer without a calibration."
        ),
        SettingRow(
            "accuracy_limit_deg", \.accuracyLimitDegrees, .number,
            "North is not known while it may be off by more than this."),
        SettingRow(
            "gap_s", \.gapLimit, .seconds,
            "A longer time without a sample is a gap, after which filters and limits start again."),
    ]
}
