package import Binnacle
package import TableReading

/// `[hinge.NAME]`: a detector of the posture of a laptop with a folding screen.
package struct HingeSection: DetectorSection {
    package let name: String
    /// The two accelerometers that give the angle; `nil` if only a switch is read.
    package let parts: Parts?
    /// Whether the hardware's tablet-mode switch is read.
    package let hasSwitch: Bool
    package let settings: HingeSettings

    package struct Parts: Sendable, Equatable {
        package let display: String
        package let base: String
    }

    package init?(name: String, reading table: TableReader, _ settings: HingeSettings, among names: SectionNames) {
        let display = table.reference(Self.display, to: "sensor", among: names.sensors)
        let base = table.reference(Self.base, to: "sensor", among: names.sensors)
        hasSwitch = table.boolean(Self.tabletSwitch.name) ?? false
        self.name = name
        self.settings = settings
        let keys = [Self.display, Self.base].filter { table.entry($0.name) != nil }
        switch keys.count {
        case 0 where hasSwitch: parts = nil
        case 2:
            guard let display, let base else { return nil }
            guard display != base else {
                table.refuse(
                    Self.base.name, "names the same sensor as `display`",
                    hint: "each part has an accelerometer of its own")
                return nil
            }
            parts = Parts(display: display, base: base)
        default:
            let missing = [Self.display, Self.base].filter { table.entry($0.name) == nil }
            for key in missing {
                table.report(
                    missing: key.name, "the angle needs a sensor in each part; `switch = true` does without both")
            }
            return nil
        }
    }

    package var needs: [StreamNeed] {
        (parts.map { [$0.display, $0.base] } ?? []).map {
            StreamNeed(sensor: $0, kind: .accelerometer, rateHz: StreamNeed.RateHz.screen)
        }
    }

    package func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> HingeDetector {
        HingeDetector(
            name: name, screen: parts.flatMap { streams.first($0.display, .accelerometer) },
            base: parts.flatMap { streams.first($0.base, .accelerometer) }, hasSwitch: hasSwitch, settings: settings)
    }

    package var ownLines: [String] {
        let sensors = parts.map { [Self.line(Self.display, $0.display), Self.line(Self.base, $0.base)] } ?? []
        return sensors + (hasSwitch ? ["\(Self.tabletSwitch.name) = true"] : [])
    }

    package static let shown = "lid"
    package static let text = """
        A detector of the angle between a laptop's screen and its base, by an accelerometer in each, and of how the laptop \
        is set up. Its name is unique among all detectors.
        """
    package static let sensorKeys = [display, base].map(\.name)
    package static let ownKeys = [display, base, tabletSwitch]

    private static let display = Key(
        "display", .usual("\"chassis\""), usual: "none, for a switch alone", "The sensor in the screen.")
    private static let base = Key(
        "base", .usual("\"compass\""), usual: "none, for a switch alone",
        """
        The sensor in the base. The axes of both, behind their mount matrices, have to be the same when the laptop lies open \
        flat: x along the hinge, y from the hinge to the screen's upper edge.
        """)
    private static let tabletSwitch = Key(
        "switch", .example("true"), usual: "false",
        """
        true reads the switch SW_TABLET_MODE of an input device: the posture is "tablet" while it is on. With both sensors it \
        decides only whether a hinge is closed or folded back, which gravity does not show.
        """)
}

extension HingeSection {
    package static let rows: [SettingRow<HingeSettings>] = [
        SettingRow(
            "frame", \.frame, .choice,
            """
            The sign convention of both sensors' values after their mount matrices.

              "device"  y and z have the same sign: both are +9.81 m/s², or both are -9.81 as of HID sensor hubs, when the \
            screen stands upright and when it lies face up
              "desktop"  they have opposite signs: y is -9.81 m/s² when the screen stands upright, z +9.81 when it lies face \
            up, as of many chips that udev's hardware database corrects

            If a laptop on a table counts as a tent, choose the other one.
            """),
        SettingRow(
            "dwell_s", \.dwell, .seconds, "How long a new posture has to last until it counts."),
        SettingRow(
            "angle_filter_deg", \.filterDegrees, .number(in: 1...180),
            "The event \"hinge.changed\" is repeated when the angle has changed by this."),
        SettingRow(
            "gate_g", \.gateG, .number,
            "While the total acceleration of either part differs from 1 g by more, the last values hold."),
        SettingRow(
            "gap_s", \.gapLimit, .seconds,
            "A longer time without a sample is a gap, after which a change has to last dwell_s again."),
    ]
}
