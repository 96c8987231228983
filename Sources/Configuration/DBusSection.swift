package import DesktopBus
import LinuxSystem
import PlainText
import TableReading

/// `[dbus]`: the service for desktops, and the detectors whose values it publishes.
package struct DBusSection: Sendable, Equatable {
    package let settings: DBusSettings
    /// The orientation detector; `nil` for the first one, or a default one.
    package let orientation: String?
    /// The north detector; `nil` for the first one, or a default one.
    package let compass: String?

    init(reading table: TableReader, among names: SectionNames) {
        var settings = DBusSettings()
        table.read(DBusSettings.rows, into: &settings)
        if settings.claims == .group, AccountDatabase.group(settings.group) == nil {
            table.warn(
                at: table.entry(DBusSettings.groupKey)?.node.position ?? table.position,
                "this machine has no group \(Spelling.quoted(settings.group))", hint: "every claim is denied")
        }
        self.settings = settings
        func reference(_ key: Key, _ kind: String) -> String? {
            table.reference(key, to: "\(kind) detector", among: names.inForce[kind] ?? [])
        }
        orientation = reference(Self.orientation, OrientationSection.kind)
        compass = reference(Self.compass, NorthSection.kind)
    }

    private static let orientation = Key(
        "orientation", .example("\"screen\""), usual: "the first [orientation.NAME], or one with the defaults",
        """
        The detector that says which edge of the screen is up. Without any, one is made: for the first sensor that \
        another detector uses as its accelerometer, or for any accelerometer in a screen.
        """)
    private static let compass = Key(
        "compass", .example("\"bow\""), usual: "the first [north.NAME], or one with the defaults",
        "The detector whose heading the compass of the desktop shows, from magnetic north.")

    /// The names of detectors in a section that is not read yet.
    static func namedDetectors(_ table: TableReader) -> [String] {
        [orientation, compass].compactMap { table.entry($0.name)?.node.string }
    }

    /// Avoids making the documentation of ``row``.
    static let keys = [orientation, compass, SectionSwitch.enabled].map(\.name) + DBusSettings.rows.map(\.name)

    static let row = SectionRow(
        "dbus", shown: "dbus", isSet: false,
        """
        The service on the system bus that desktops ask: net.hadess.SensorProxy with orientation, light, proximity and \
        compass, in the place of iio-sensor-proxy, and each event as a signal. Devices that only the desktop wants are read \
        while a program has claimed them.
        """,
        keys: [orientation, compass] + DBusSettings.rows.map { $0.key(DBusSettings()) } + [SectionSwitch.enabled])
}

extension DBusSettings {
    fileprivate static let groupKey = "group"

    fileprivate static let rows: [SettingRow<DBusSettings>] = [
        SettingRow(
            "claims", \.claims, .choice,
            """
            Who decides which programs may claim a sensor: "polkit", by the action org.binnacle.Binnacle1.claim-sensor, \
            which active sessions have (a daemon of root by net.hadess.SensorProxy.claim-sensor); or "group", for systems \
            without polkit: members of the group.
            """),
        SettingRow(
            groupKey, \.group, .text, idle: { $0.claims == .group ? nil : "without claims = \"group\"" },
            "The group whose members may claim sensors, with claims = \"group\". Root may as well."),
        SettingRow(
            "events", \.broadcastsEvents, .boolean,
            """
            Whether each event is a signal on the bus, of org.binnacle.Binnacle1. The policy of the bus lets root and the \
            group binnacle receive them.
            """),
    ]
}
