package import Binnacle
import PlainText
package import TableReading

/// `[vibration.NAME]`: a detector of a machine's vibration.
package struct VibrationSection: AccelerometerSection {
    package typealias Detector = VibrationDetector

    package let parts: Parts
    package init(_ parts: Parts) { self.parts = parts }

    package init?(
        name: String, reading table: TableReader, _ settings: VibrationSettings, among names: SectionNames
    ) {
        let sensor = Self.sensor(Self.accelerometer, table, names)
        let microG = [settings.noiseMicroG, sensor.flatMap { names.noiseMicroG[$0] }].compactMap { $0 }.max()
        let limits = settings.bands.enumerated().flatMap { settings.lowestLimits(of: $0, as: $1) }
        for (key, limit, band) in settings.problems().isEmpty ? limits : [] {
            guard let floor = settings.noiseFloor(of: band, microG: microG), limit < floor else { continue }
            table.warn(
                at: table.entry(key)?.keyPosition ?? table.position,
                "\(key == "bands" ? "the lowest limit" : key) of band \(Spelling.quoted(band.name)) (\(limit)) lies below the chip's noise in it "
                    + "(\(Decimal.text(floor, decimals: 4) ?? ""))",
                hint: "the noise alone exceeds it: raise the limit, narrow the band, or use a quieter chip")
        }
        if let most = settings.chipBandwidthHz {
            for band in settings.bands where most < band.fromHz + 1 {
                table.warn(
                    at: table.entry("chip_bandwidth_hz")?.keyPosition ?? table.position,
                    "band \(Spelling.quoted(band.name)) begins at \(band.fromHz) Hz, and is not measured: the chip shows what is "
                        + "below \(most) Hz",
                    hint: "begin the band lower, or raise the bandwidth of the chip's filter")
            }
        }
        guard let sensor else { return nil }
        self.init(Parts(name: name, settings: settings, sensor: sensor))
    }

    package var rateHz: Double { (settings.bands.map(\.toHz).max() ?? 0) * VibrationSettings.rateFactor }

    /// Where the highest band begins to be measured, and a second has enough samples.
    package var leastHz: Double {
        let highest = ((settings.bands.map(\.fromHz).max() ?? 0) + 1) * VibrationSettings.rateFactor
        return max(highest, Double(VibrationSettings.leastSamples))
    }

    package static func condition(of kind: EventKind, _ settings: VibrationSettings) -> Condition? {
        let counts = settings.bands.map(\.limits.count)
        return switch kind {
        case .vibrationBegan, .vibrationEnded:
            ("has limits in `bands`, or `learn_days`", settings.learnDays != nil || counts.contains { $0 > 0 })
        case .vibrationChanged: ("has more than one limit in `bands`", counts.contains { $0 > 1 })
        case .machineChanged, .machineFinished: ("has `running_g`", settings.runningG != nil)
        default: nil
        }
    }

    package static let shown = "washer"
    package static let text = """
        A detector of a machine's vibration: the root mean square of acceleration and velocity, each second, in bands of \
        frequency; zones between limits, and whether the machine is idle, running or spinning. Its name is unique among all \
        detectors.
        """
    package static let accelerometer = Key.accelerometer("on the machine")
}

extension VibrationSection {
    private static func withoutRunning(_ settings: VibrationSettings) -> String? {
        settings.runningG == nil ? "without running_g" : nil
    }

    package static let rows: [SettingRow<VibrationSettings>] = [
        SettingRow(
            "bands", \.bands,
            shown: .example("[{ name = \"unbalance\", from_hz = 10, to_hz = 100, zones_mm_s = [2.8, 7.1] }]"),
            usual: "{ name = \"machine\", from_hz = 10, to_hz = 1000 }",
            """
            One to four ranges of frequencies. A band is measured up to the sampling rate divided by 2.56, which is reported when it \
            is less than to_hz. Limits are yours: those of a standard that applies to the machine, or what it had when it was \
            well. The events carry the band in the highest zone.

              name  the name that its events carry, of letters, digits and underscores
              from_hz, to_hz  where it begins, at least 2, and ends
              zones_mm_s  ascending limits of the velocity; zone 0 lies below the first
              zones_g  the same of the acceleration, in the place of zones_mm_s
            """,
            value: { "[" + $0.bands.map(\.table).joined(separator: ", ") + "]" }
        ) { table, key, settings in settings.bands = VibrationSettings.Band.read(table, key) },
        SettingRow(
            "axes", \.axes, .choice,
            """
            "all" measures the vector, the root of the sum of the squares of all three axes; "x", "y" or "z" one of them, as \
            standards do.
            """),
        SettingRow(
            "hysteresis_percent", \.hysteresisPercent, .number,
            "How far below a limit its zone, or a machine's state, is left."),
        SettingRow(
            "dwell_s", \.dwell, .seconds, "How long a change of the zone has to last; whole seconds are measured."),
        SettingRow(
            "noise_ug_rthz", \.noiseMicroG, .number, usual: "not known", shown: .example("300"),
            """
            The density of the chip's noise by its data sheet, in µg/√Hz: 300 to 400 for an MPU-6050 or ADXL345. A limit that lies \
            below the noise of its band is then reported.
            """),
        SettingRow(
            "chip_bandwidth_hz", \.chipBandwidthHz, .number, usual: "that of the sampling rate", shown: .example("260"),
            """
            The bandwidth of the chip's filter, where that is less than the sampling rate divided by 2.56. A chip without a filter \
            shows a vibration beyond half its sampling rate at a lower frequency.
            """),
        SettingRow(
            "running_g", \.runningG, .number, usual: "no states of a machine", shown: .example("0.01"),
            "Above this acceleration in the first band the machine is running, and below it idle."),
        SettingRow(
            "spinning_g", \.spinningG, .number, usual: "no spinning", shown: .example("0.1"),
            "Above running_g. Above this acceleration in the first band the machine is spinning."),
        SettingRow(
            "machine_dwell_s", \.machineDwell, .seconds, idle: withoutRunning,
            "How long the machine has to run, or to spin, until that counts."),
        SettingRow(
            "idle_s", \.idle, .seconds, idle: withoutRunning,
            "How long it has to be idle until that counts, and \"machine.finished\" reports it: longer than its pauses."
        ),
        SettingRow(
            "learn_days", \.learnDays, .number, usual: "nothing is learned", shown: .example("7"),
            """
            How many days of measured seconds are learned as normal, for bands without zones: the median and the spread, of idle, \
            running and spinning seconds each. Then "vibration.began" reports what is unusual. What was learned is kept in the state folder.
            """),
        SettingRow(
            "learned_spreads", \.learnedSpreads, .number, idle: { $0.learnDays == nil ? "without learn_days" : nil },
            "How many robust standard deviations above the median, on a scale of octaves, are unusual."),
    ]
}

extension VibrationSettings.Band {
    private static let keys = ["name", "from_hz", "to_hz", "zones_mm_s", "zones_g"]
    private static let example = "{ name = \"unbalance\", from_hz = 10, to_hz = 100, zones_mm_s = [2.8, 7.1] }"

    fileprivate var table: String {
        let zones = limits.isEmpty ? "" : ", \(isVelocity ? "zones_mm_s" : "zones_g") = \(limits)"
        return "{ name = \(JSONObject.quoted(name)), from_hz = \(fromHz), to_hz = \(toHz)\(zones) }"
    }

    fileprivate static func read(_ section: TableReader, _ key: String) -> [VibrationSettings.Band] {
        let nodes = section.array(key, of: "tables") ?? []
        let bands = nodes.compactMap { node in
            section.table(key, node, title: "a band", allowed: keys).flatMap { VibrationSettings.Band($0) }
        }
        // Without one that can be read, which was reported, the default is checked in their place.
        return bands.isEmpty && !nodes.isEmpty ? VibrationSettings().bands : bands
    }

    private init?(_ table: TableReader) {
        for needed in Self.keys.prefix(3) where table.entry(needed) == nil {
            table.report(missing: needed, "write \(Self.example)")
        }
        let zones = Self.keys.suffix(2).filter { table.entry($0) != nil }
        if zones.count == 2 {
            table.refuse("zones_g", "stands beside `zones_mm_s`", hint: "a band is compared with one of both")
        }
        guard let name = table.string("name"), let from = table.double("from_hz"), let to = table.double("to_hz")
        else { return nil }
        let nodes = zones.first.flatMap { table.array($0, of: "numbers") } ?? []
        let limits = nodes.compactMap(\.number)
        if let key = zones.first, limits.count < nodes.count {
            table.refuse(key, "has to be an array of numbers", hint: "such as [2.8, 7.1]")
        }
        self.init(name, fromHz: from, toHz: to, limits: limits, isVelocity: zones.first != "zones_g")
    }
}
