package import Binnacle
import LinuxSensors
package import TableReading

/// `[orientation.NAME]`: a detector of the orientation of a screen.
package struct OrientationSection: AccelerometerSection {
    package private(set) var parts: Parts
    /// The detector of the postures that the settings name; `nil` if they name none.
    package private(set) var hinge: String?

    package init(_ parts: Parts) { self.parts = parts }

    package init?(
        name: String, reading table: TableReader, _ settings: OrientationSettings, among names: SectionNames
    ) {
        let sensor = Self.sensor(Self.accelerometer, table, names)
        hinge = Self.hinge(table, settings, among: names.inForce[HingeSection.kind] ?? [])
        guard let sensor else { return nil }
        parts = Parts(name: name, settings: settings, sensor: sensor)
    }

    /// The detector of postures, if the settings need one: the named one, or the only one.
    private static func hinge(_ table: TableReader, _ settings: OrientationSettings, among hinges: [String]) -> String?
    {
        let named = table.reference(Self.hinge, to: "hinge", among: hinges)
        guard settings.postures != nil, table.entry(Self.hinge.name) == nil else { return named }
        guard hinges.count == 1 else {
            table.refuse(
                onlyIn,
                hinges.isEmpty
                    ? "needs a section [hinge.NAME], which knows the posture" : "needs `hinge`: there are several",
                hint: hinges.isEmpty ? "its `switch = true` is enough" : "such as hinge = \"\(hinges[0])\"")
            return nil
        }
        return hinges[0]
    }

    package var rateHz: Double { StreamNeed.RateHz.screen }

    package func makeDetector(
        on streams: [SampleStream], asking detectors: [any EventDetector]
    ) -> OrientationDetector {
        let detector = OrientationDetector(
            name: name, accelerometer: streams.first(sensor, .accelerometer), settings: settings)
        detector.hinge = detectors.first as? HingeDetector
        return detector
    }

    package static let askedKinds = [HingeSection.kind]
    package var asked: [String] { hinge.map { [$0] } ?? [] }

    /// Adopts the sign of its sensor's samples, and excludes devices that are not in a screen.
    package mutating func fit(to sensors: inout [SensorSection]) {
        guard let place = sensors.firstIndex(where: { $0.name == sensor }) else { return }
        parts.settings.isReversed = sensors[place].settings.acceleration == .gravity
        sensors[place].leaveOutForeignDevices()
    }

    package var ownLines: [String] {
        [Self.line(Self.accelerometer, sensor)] + (hinge.map { [Self.line(Self.hinge, $0)] } ?? [])
    }

    package static let shown = "screen"
    package static let text = """
        A detector of the edge of a screen that points up, and of how far the screen leans. Its name is unique among all \
        detectors. A device that only such detectors read is asked for 10 samples a second, unless the sensor has rate_hz.
        """
    /// Signs as Linux desktops assume them.
    package static let defaults = {
        var settings = OrientationSettings()
        settings.frame = .desktop
        settings.learnsLength = true
        return settings
    }()
    package static let ownKeys = [accelerometer, hinge]

    package static let accelerometer = Key.accelerometer("in the screen", "The sensor that is fixed to the screen.")

    private static let hinge = Key(
        "hinge", .example("\"lid\""), usual: "the only [hinge.NAME]", "The detector of the postures in only_in.")
}

extension OrientationSection {
    private static let onlyIn = "only_in"

    package static let rows: [SettingRow<OrientationSettings>] = [
        SettingRow(
            "frame", \.frame, .choice,
            """
            The sign convention of the device's values after its mount matrix.

              "desktop"  as GNOME, KDE and udev's hardware database have it: y is -9.81 m/s² when the screen stands \
            upright; the sensor's key acceleration does not matter
              "device"  as Binnacle has it: y is +9.81 m/s² when the screen stands upright, with what acceleration says

            If the screen always counts as upside down, choose the other one.
            """),
        SettingRow(
            onlyIn, \.postures, shown: .example("[\"tablet\", \"tent\"]"), usual: "all",
            """
            The postures in which the orientation changes, of "laptop", "tent", "tablet" and "closed"; in others it is normal, \
            and while none is known, it holds. A [hinge.NAME] knows the posture.
            """,
            value: { $0.postures.map(TableReader.text) }
        ) { table, key, settings in
            if let postures = table.set(key, of: Posture.self) { settings.postures = postures }
        },
        SettingRow(
            "dwell_s", \.dwell, .seconds,
            "How long a new orientation has to last until it counts. The first orientation counts at once."),
        SettingRow(
            "hysteresis_deg", \.hysteresisDegrees, .number(in: OrientationSettings.hysteresisLimits),
            "The least distance between the angles at which an orientation or a tilt begins and ends."),
        SettingRow(
            "gate_g", \.gateG, .number,
            """
            While the total acceleration differs from 1 g by more, as in free fall or a shake, the last values hold. A device \
            whose scale is wrong is noticed: a vector that is constant for \(OrientationSettings.lengthPatienceSeconds) s is \
            taken for gravity, whatever its length, and its direction counts after \
            \(OrientationSettings.directionPatienceSeconds) s.
            """),
        SettingRow(
            "gap_s", \.gapLimit, .seconds,
            "A longer time without a sample is a gap, after which a change has to last dwell_s again."),
    ]
}
