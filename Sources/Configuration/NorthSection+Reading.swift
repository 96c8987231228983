import Binnacle
import PlainText
import TableReading

extension NorthSection {
    /// The section's keys.
    static let keys = [
        "accelerometer", "magnetometer", "heading_axis", "upright_axis", "bearing_deg", "tolerance_deg", "exit_deg",
        "dwell_s", "smoothing_s", "max_age_s", "heading_filter_deg", "field_range_uT", "min_horizontal_uT",
        "min_acceleration_g", "gap_s", "update_interval_s", "gate_acceleration_g", "gate_dip_deg",
        "accuracy_limit_deg", "hold_s",
        "interference_percent", "calibration_after_s", "sectors",
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
        accelerationGateG = Self.limit("gate_acceleration_g", accelerationGateG, table)
        dipGateDegrees = Self.limit("gate_dip_deg", dipGateDegrees, table)
        accuracyLimitDegrees = Self.limit("accuracy_limit_deg", accuracyLimitDegrees, table)
        holdTime = table.positiveSeconds("hold_s") ?? holdTime
        interferencePercent = Self.limit("interference_percent", interferencePercent, table)
        calibrationDelay = table.seconds("calibration_after_s") ?? calibrationDelay
        sectors = HeadingSector.read(table)
        table.report(problems(), derived: ["exit_deg": "tolerance_deg"])
    }

    /// A number, or `false` for no limit.
    private static func limit(_ key: String, _ usual: Double?, _ table: TableReader) -> Double? {
        if case .boolean(false) = table.entry(key)?.node.value { return nil }
        return table.double(key) ?? usual
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

extension HeadingSector {
    private static let keys = ["name", "from_deg", "to_deg", "margin_deg"]
    private static let example = "{ name = \"east\", from_deg = 80, to_deg = 100 }"

    /// Reads a north detector's sectors, in order; what cannot be used is reported and left out.
    fileprivate static func read(_ section: TableReader) -> [HeadingSector] {
        let key = "sectors"
        let nodes = section.array(key, of: "tables") ?? []
        var sectors: [HeadingSector] = []
        for node in nodes {
            guard let table = section.table(key, node, title: "a sector", allowed: keys) else { continue }
            for needed in keys.prefix(3) where table.entry(needed) == nil {
                table.report(missing: needed, "write \(example)")
            }
            guard let name = table.string("name"), let from = table.double("from_deg"),
                let to = table.double("to_deg")
            else { continue }
            guard !sectors.contains(where: { $0.name == name }) else {
                section.refuse(key, at: node.position, "two sectors are named \(Spelling.quoted(name))")
                continue
            }
            sectors.append(
                HeadingSector(
                    name: name, fromDegrees: from, toDegrees: to, marginDegrees: table.double("margin_deg") ?? 2))
        }
        return sectors
    }
}
