import Binnacle
import LinuxSensors

/// What `[dbus]` needs and no section describes.
extension Configuration {
    /// Adds the detectors of the screen and of the heading, and their sensors, where there are none.
    ///
    /// Their names have a dot, which names in files do not have. A replay does without them.
    package mutating func addDesktop() {
        guard let dbus else { return }
        if dbus.orientation == nil, orientations.isEmpty {
            let section = OrientationSection(name: "dbus.orientation", accelerometer: screenSensor())
            orientations.append(section)
            desktopDetectors.insert(section.name)
            fitScreens()
        }
        defer { fitRates() }
        guard dbus.compass == nil, norths.isEmpty, let accelerometer = desktopOrientation?.accelerometer else { return }
        let magnetometer = "dbus.magnetometer"
        sensors.append(SensorSection(name: magnetometer, source: .auto(DeviceMatch())))
        var settings = NorthSettings()
        settings.headingFilterDegrees = 0.5
        let section = NorthSection(
            name: "dbus.heading", accelerometer: accelerometer, magnetometer: magnetometer, gyroscope: .none,
            settings: settings)
        norths.append(section)
        desktopDetectors.insert(section.name)
    }

    /// The section of the detector that says how the screen is held.
    package var desktopOrientation: OrientationSection? {
        dbus.flatMap { dbus in orientations.first { dbus.orientation == nil || $0.name == dbus.orientation } }
    }

    /// The section of the detector that has the heading.
    package var desktopNorth: NorthSection? {
        dbus.flatMap { dbus in norths.first { dbus.compass == nil || $0.name == dbus.compass } }
    }

    /// The sensor that another detector uses as its accelerometer, or a new one.
    private mutating func screenSensor() -> String {
        let used = motions.map(\.accelerometer) + norths.map(\.accelerometer) + hinges.compactMap(\.parts?.display)
        if let first = used.first { return first }
        let name = "dbus.accelerometer"
        sensors.append(SensorSection(name: name, source: .auto(DeviceMatch())))
        return name
    }

    /// Whether a handler, the store or the socket takes what a detector finds.
    ///
    /// What tells of its sensors counts as well. The detectors that only the desktop has are heard by claims alone.
    package func isHeard(_ detector: String) -> Bool {
        guard !desktopDetectors.contains(detector) else { return false }
        // Without the service on the bus there is no other reason to read, and each detector is there to be heard.
        if dbus == nil || store != nil || socket != nil { return true }
        return handlers.contains { handler in
            (handler.detectors?.contains(detector) ?? true)
                && handler.kinds.contains { makes($0, detector) || Self.sensorKinds.contains($0) }
        }
    }

    private static let sensorKinds: Set<EventKind> = [
        .gap, .samplesLost, .sensorActive, .sensorInactive, .sensorsOneLeft, .sensorsNoneLeft, .detectorFailed,
        .detectorUnavailable,
    ]
}
