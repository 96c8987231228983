import Binnacle

extension NorthSection {
    /// The section's keys.
    static let keys = [
        "accelerometer", "magnetometer", "heading_axis", "upright_axis", "bearing_deg", "tolerance_deg", "exit_deg",
        "dwell_s", "smoothing_s", "max_age_s", "heading_filter_deg", "field_range_uT", "min_horizontal_uT",
        "min_acceleration_g", "gap_s", "update_interval_s",
    ]

    /// Reads a section; `nil` when it cannot be used, which is then reported.
    init?(name: String, reading table: TableReader, sensors: [String]) {
        let accelerometer = table.required("accelerometer", "it names the sensor that tells what is up")
            .flatMap { table.reference("accelerometer", $0, to: "sensor", among: sensors) }
        let magnetometer = table.required("magnetometer", "it names the sensor that tells where north is")
            .flatMap { table.reference("magnetometer", $0, to: "sensor", among: sensors) }
        let settings = NorthSettings(reading: table)
        guard let accelerometer, let magnetometer else { return nil }
        self.init(
            name: name, accelerometer: accelerometer, magnetometer: magnetometer,
            settings: settings)
    }
}

extension NorthSettings {
    /// The word for an axis that is not there.
    private static let none = "none"

    /// Reads the settings, with the default for each key that is absent or refused.
    fileprivate init(reading table: TableReader) {
        self.init()
        headingAxis = table.choice("heading_axis", as: DeviceAxis.self) ?? headingAxis
        readUprightAxis(table)
        bearingDegrees = table.double("bearing_deg") ?? bearingDegrees
        toleranceDegrees = table.double("tolerance_deg") ?? toleranceDegrees
        exitDegrees = table.double("exit_deg")
        dwell = table.seconds("dwell_s") ?? dwell
        smoothing = table.seconds("smoothing_s") ?? smoothing
        maximumMagnetometerAge = table.seconds("max_age_s") ?? maximumMagnetometerAge
        headingFilterDegrees = table.double("heading_filter_deg") ?? headingFilterDegrees
        readFieldRange(table)
        minimumHorizontalField = table.double("min_horizontal_uT") ?? minimumHorizontalField
        minimumAccelerationG = table.double("min_acceleration_g") ?? minimumAccelerationG
        gapLimit = table.seconds("gap_s") ?? gapLimit
        updateInterval = table.seconds("update_interval_s") ?? updateInterval
        table.report(problems(), derived: ["exit_deg": "tolerance_deg"])
    }

    private mutating func readUprightAxis(_ table: TableReader) {
        guard let node = table.entry("upright_axis")?.node else { return }
        let words = DeviceAxis.allCases.map(\.rawValue) + [Self.none]
        guard let word = table.word("upright_axis", node, among: words) else { return }
        uprightAxis = DeviceAxis(rawValue: word)
    }

    private mutating func readFieldRange(_ table: TableReader) {
        let key = "field_range_uT"
        guard let node = table.entry(key)?.node else { return }
        switch node.value {
        case .boolean(false):
            plausibleField = nil
        case .array(let nodes):
            let bounds = nodes.compactMap(table.number)
            guard nodes.count == 2, bounds.count == 2 else {
                table.refuse(
                    key, at: node.position, "`\(key)` has to be two numbers, the lowest and the highest",
                    hint: "such as [20, 70], or false for any field")
                return
            }
            guard bounds[0].isFinite, bounds[1].isFinite, bounds[0] <= bounds[1] else {
                table.refuse(key, "(\(bounds)) has to be two finite numbers, the lower one first")
                return
            }
            plausibleField = bounds[0]...bounds[1]
        default:
            table.refuse(key, node, expected: "an array of two numbers, or false")
        }
    }
}
