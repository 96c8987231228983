package import Binnacle
package import BinnacleHeading
import PlainText
package import TableReading

/// `[north.NAME]`: a detector of the heading.
package struct NorthSection: DetectorSection {
    package let name: String
    /// The sensor whose accelerometer gives the vertical.
    package let accelerometer: String
    /// The sensor whose magnetometer gives north, perhaps the same.
    package let magnetometer: String
    /// The gyroscope that follows turns.
    package let gyroscope: GyroscopeChoice
    package private(set) var settings: NorthSettings
    /// Whether the heading is seldom used, so that a low sampling rate is enough.
    private var isRare = false

    /// Creates the section of the desktop service, whose heading is seldom claimed, so the rate for the screen is
    /// enough.
    init(ofDesktop name: String, accelerometer: String, magnetometer: String) {
        self.name = name
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        gyroscope = .none
        settings = NorthSettings()
        settings.headingFilterDegrees = 0.5
        isRare = true
    }

    package init?(name: String, reading table: TableReader, _ settings: NorthSettings, among names: SectionNames) {
        let accelerometer = Self.sensor(Self.accelerometer, table, names)
        let magnetometer = Self.sensor(Self.magnetometer, table, names)
        gyroscope = GyroscopeChoice(reading: Self.gyroscope, of: table, sensors: names.sensors)
        guard let accelerometer, let magnetometer else { return nil }
        self.name = name
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        self.settings = settings
    }

    package var needs: [StreamNeed] {
        typealias Rate = StreamNeed.RateHz
        let rate = isRare ? Rate.screen : gyroscope == .none ? Rate.heading : Rate.vertical
        return [
            StreamNeed(sensor: accelerometer, kind: .accelerometer, rateHz: rate),
            StreamNeed(sensor: magnetometer, kind: .magnetometer, rateHz: Rate.heading),
        ] + gyroscope.needs(beside: accelerometer)
    }

    package func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> NorthDetector {
        NorthDetector(
            name: name, accelerometer: streams.first(accelerometer, .accelerometer),
            magnetometer: streams.first(magnetometer, .magnetometer),
            gyroscope: gyroscope.stream(beside: accelerometer, among: streams), settings: settings)
    }

    package static func condition(of kind: EventKind, _ settings: NorthSettings) -> Condition? {
        [.sectorEntered, .sectorLeft].contains(kind) ? ("has `sectors`", !settings.sectors.isEmpty) : nil
    }

    package var publishedSensor: String? { magnetometer }

    package var dependsOnPlace: Bool { true }

    package func placed(in field: LocalField) -> NorthSection? {
        var placed = self
        placed.settings.localField = field
        return placed
    }

    package var ownLines: [String] {
        [Self.line(Self.accelerometer, accelerometer), Self.line(Self.magnetometer, magnetometer)]
    }

    package static let shown = "bow"
    package static let isSet = true
    package static let text = "A detector of the heading. Its name is unique among all detectors."
    package static let sensorKeys = [accelerometer, magnetometer, gyroscope].map(\.name)
    package static let ownKeys = [accelerometer, magnetometer, gyroscope]

    private static let accelerometer = Key(
        "accelerometer", .set("\"chassis\""), purpose: "it names the sensor that measures which way is up",
        "The sensor that measures which way is up.")
    private static let magnetometer = Key(
        "magnetometer", .set("\"compass\""), purpose: "it names the sensor that measures the magnetic field",
        "The sensor that measures the magnetic field. It may be the same.")
    private static let gyroscope = Key(
        "gyroscope", .example("\"chassis\""), usual: "that of the accelerometer, if there is one",
        """
        The sensor that measures how the device turns, or "none". By default it is the gyroscope in the accelerometer's \
        device or, without one, a gyroscope on the same chip, in the same sensor hub, or on the same mainboard. It is \
        read only while a detector uses it.
        """)
}

extension NorthSection {
    private static let none = "none"

    package static let rows: [SettingRow<NorthSettings>] = [
        SettingRow(
            "heading_axis", \.headingAxis, .choice,
            """
            The axis of the device whose direction is the heading: "+x" right, "+y" top, "+z" out of the screen, or the \
            opposites "-x", "-y", "-z".
            """),
        SettingRow(
            "upright_axis", \.uprightAxis, shown: .usual("\"-z\""),
            """
            The axis that replaces the heading axis while that is nearly vertical, or "none". With it, a tablet that is held \
            upright points where its back looks.
            """, value: { "\"\($0.uprightAxis?.rawValue ?? none)\"" }
        ) { table, key, settings in
            guard let node = table.entry(key)?.node else { return }
            let words = DeviceAxis.allCases.map(\.rawValue) + [none]
            guard let word = table.word(key, node, among: words) else { return }
            settings.uprightAxis = DeviceAxis(rawValue: word)
        },
        SettingRow(
            "bearing_deg", \.bearingDegrees, .number,
            """
            From 0 and below 360, clockwise from north. The bearing that counts as faced. North is true north when \
            [position] says where the device is, and magnetic north otherwise.
            """),
        SettingRow(
            "tolerance_deg", \.toleranceDegrees, .number, "The device faces the bearing within this angle of it."),
        SettingRow(
            "exit_deg", \.exitDegrees, .number, usual: "one and a half times tolerance_deg", shown: .usual("15"),
            "At least tolerance_deg. The device has left the bearing beyond this angle."),
        SettingRow(
            "sectors", \.sectors,
            shown: .example(
                "[{ name = \"east\", from_deg = 80, to_deg = 100 }, { name = \"home\", from_deg = 355, to_deg = 5 }]"),
            """
            Further ranges of bearings, clockwise; "sector.entered" and "sector.left" report them. A range may lie across north.

            \(HeadingSector.lines)
            """,
            value: { settings in
                guard !settings.sectors.isEmpty else { return nil }
                return "[" + settings.sectors.map(\.table).joined(separator: ", ") + "]"
            }
        ) { table, key, settings in settings.sectors = HeadingSector.read(table, key) },
        SettingRow(
            "dwell_s", \.dwell, .seconds,
            """
            How long the device has to face the bearing or a sector, or to look away, until that counts. It faces it until it turns \
            beyond exit_deg, and looks away until it turns to within tolerance_deg.
            """),
        SettingRow(
            "smoothing_s", \.smoothing, .seconds,
            "The time constant of the filter over both sensors; a longer one is calmer and slower."),
        SettingRow(
            "max_age_s", \.maximumMagnetometerAge, .seconds,
            """
            The oldest magnetometer sample that still goes with an accelerometer sample; of a slow magnetometer also one that is one \
            and a half of its intervals old.
            """),
        SettingRow(
            "heading_filter_deg", \.headingFilterDegrees, .number,
            """
            The event \"heading\" is repeated when the heading has turned this far, when its accuracy has got worse by a quarter \
            and by 1°, and, at most once a second, when it has got better by as much or the rate of turn is another one by half \
            and by 1°/s.
            """),
        SettingRow(
            "field_range_uT", \.plausibleFieldMicrotesla, shown: .usual("[20, 70]"),
            """
            Lowest and highest. A field outside is not the Earth's alone, and gives no heading. false takes any field, for \
            sources that do not measure in microtesla.
            """,
            value: { settings in
                settings.plausibleFieldMicrotesla.map { "[\($0.lowerBound), \($0.upperBound)]" } ?? "false"
            }, read: readFieldRange),
        SettingRow(
            "hard_iron_uT", \.uncalibratedIronMicrotesla, .number,
            """
            The hard iron, as a standard deviation on each axis, that a magnetometer without a calibration may have: that of a bare \
            chip on a circuit board. There is no heading until the device has been turned enough to show it. 0 says that the \
            maker or the driver has removed it, as in most telephones.
            """),
        SettingRow(
            "min_horizontal_uT", \.minimumHorizontalFieldMicrotesla, .number,
            "With a weaker horizontal part of the field there is no heading."),
        SettingRow(
            "min_acceleration_g", \.minimumAccelerationG, .number,
            "With a weaker acceleration the direction of up is unknown, and there is no heading."),
        SettingRow(
            "gate_acceleration_g", \.accelerationGateG, .limit,
            """
            This key and the next five define when a heading cannot be trusted. The last good heading is then held, and \
            repeated once a second with its age; after hold_s there is none. false switches off this rule, gate_dip_deg, \
            accuracy_limit_deg or interference_percent.

            A heading is held while the acceleration differs from 1 g by more than this.
            """),
        SettingRow(
            "gate_dip_deg", \.dipGateDegrees, .limit,
            "A heading is held while the field's dip differs from the one at rest by more than this."),
        SettingRow(
            "accuracy_limit_deg", \.accuracyLimitDegrees, .limit,
            "A heading is held while it may be off by more than this."),
        SettingRow(
            "interference_percent", \.interferencePercent, .limit,
            """
            A heading is held while the field's strength differs by more than this from what it should be: that of the \
            calibration, that of the place, or what it was before. "interference.began" \
            reports it after half a second.
            """),
        SettingRow(
            "hold_s", \.holdTime, .positiveSeconds,
            "How long the last heading is held before \"heading.lost\"."),
        SettingRow(
            "calibration_after_s", \.calibrationDelay, .seconds,
            "How long interference lasts before \"calibration.needed\"."),
        SettingRow(
            "gap_s", \.gapLimit, .seconds,
            "A longer time without a sample is a gap, after which detection starts again."),
        SettingRow("update_interval_s", \.updateInterval, .seconds, "How often \"north.facing\" is repeated at most."),
    ]

    private static func readFieldRange(_ table: TableReader, _ key: String, _ settings: inout NorthSettings) {
        guard let node = table.entry(key)?.node else { return }
        switch node.value {
        case .boolean(false):
            settings.plausibleFieldMicrotesla = nil
        case .array(let nodes):
            let bounds = nodes.compactMap(\.number)
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
            settings.plausibleFieldMicrotesla = bounds[0]...bounds[1]
        default:
            table.refuse(key, node, expected: "an array of two numbers, or false")
        }
    }
}

private struct SectorRow: Sendable {
    let name: String
    let text: String
    /// The default; `nil` for a required key.
    var usual: Double?
}

extension HeadingSector {
    private static let nameRow = SectorRow(name: "name", text: "the name that its events carry")
    private static let fromRow = SectorRow(name: "from_deg", text: "the bearing at which it begins")
    private static let toRow = SectorRow(name: "to_deg", text: "the bearing at which it ends")
    private static let marginRow = SectorRow(
        name: "margin_deg", text: "how far outside of it the heading has to be until it is left; default 2", usual: 2)
    private static let rows = [nameRow, fromRow, toRow, marginRow]

    /// Documentation of the keys, one line each.
    fileprivate static var lines: String { rows.map { "  \($0.name)  \($0.text)" }.joined(separator: "\n") }

    fileprivate var table: String {
        "{ \(Self.nameRow.name) = \(JSONObject.quoted(name)), \(Self.fromRow.name) = \(fromDegrees), \(Self.toRow.name) = \(toDegrees), "
            + "\(Self.marginRow.name) = \(marginDegrees) }"
    }

    private static let example = "{ name = \"east\", from_deg = 80, to_deg = 100 }"

    fileprivate static func read(_ section: TableReader, _ key: String) -> [HeadingSector] {
        let nodes = section.array(key, of: "tables") ?? []
        var sectors: [HeadingSector] = []
        for node in nodes {
            guard let table = section.table(key, node, title: "a sector", allowed: rows.map(\.name)) else { continue }
            for needed in rows where needed.usual == nil && table.entry(needed.name) == nil {
                table.report(missing: needed.name, "write \(example)")
            }
            guard let name = table.string(nameRow.name), let from = table.double(fromRow.name),
                let to = table.double(toRow.name)
            else { continue }
            guard !sectors.contains(where: { $0.name == name }) else {
                section.refuse(key, at: node.position, "two sectors are named \(Spelling.quoted(name))")
                continue
            }
            let margin = table.double(marginRow.name) ?? marginRow.usual ?? 0
            sectors.append(HeadingSector(name: name, fromDegrees: from, toDegrees: to, marginDegrees: margin))
        }
        return sectors
    }
}
