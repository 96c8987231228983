import Binnacle
import LinuxSensors

/// What `[dbus]` needs and no section describes.
extension Configuration {
    /// Adds the detectors of the screen and of the heading, and their sensors, where there are none.
    ///
    /// Their names have a dot, which names in files do not have. A replay does without them.
    package mutating func addDesktop() {
        guard let dbus else { return }
        defer { fit() }
        if dbus.orientation == nil, desktopOrientation == nil {
            add(OrientationSection(name: "dbus.orientation", accelerometer: screenSensor()))
        }
        guard dbus.compass == nil, desktopNorth == nil, let accelerometer = desktopOrientation?.accelerometer else {
            return
        }
        let magnetometer = "dbus.magnetometer"
        sensors.append(SensorSection(name: magnetometer, source: .auto(DeviceMatch())))
        add(NorthSection(ofDesktop: "dbus.heading", accelerometer: accelerometer, magnetometer: magnetometer))
    }

    /// Adds a detector that only the desktop needs behind those of its kind.
    private mutating func add(_ section: some DetectorSection) {
        let order = DetectorSections.all.map { $0.kind }
        func place(_ section: any DetectorSection) -> Int { order.firstIndex(of: type(of: section).kind) ?? 0 }
        let own = place(section)
        detectors.insert(section, at: detectors.firstIndex { place($0) > own } ?? detectors.count)
        desktopDetectors.insert(section.name)
    }

    /// The section of the detector that says how the screen is held.
    package var desktopOrientation: OrientationSection? { desktopSection { $0.orientation } }

    /// The section of the detector that has the heading.
    package var desktopNorth: NorthSection? { desktopSection { $0.compass } }

    /// The first section of a kind, or the one that `[dbus]` names.
    private func desktopSection<Section: DetectorSection>(_ name: (DBusSection) -> String?) -> Section? {
        guard let dbus else { return nil }
        return sections().first { name(dbus) == nil || $0.name == name(dbus) }
    }

    /// The sections of a kind, in their order.
    package func sections<Section: DetectorSection>(_ type: Section.Type = Section.self) -> [Section] {
        detectors.compactMap { $0 as? Section }
    }

    /// The sensor that another detector uses as its accelerometer, or a new one.
    private mutating func screenSensor() -> String {
        let used = detectors.flatMap { $0.needs }.first { $0.kind == .accelerometer && !$0.isOptional }
        if let used { return used.sensor }
        let name = "dbus.accelerometer"
        sensors.append(SensorSection(name: name, source: .auto(DeviceMatch())))
        return name
    }

    /// Whether a handler, the store or the socket takes what a detector finds.
    ///
    /// What reports its sensors' state counts as well. The detectors that only the desktop has are heard by claims alone.
    package func isHeard(_ detector: String) -> Bool {
        guard !desktopDetectors.contains(detector) else { return false }
        // Without the service on the bus there is no other reason to read, and each detector is there to be heard.
        if dbus == nil || store != nil || socket != nil { return true }
        return handlers.contains { handler in
            (handler.detectors?.contains(detector) ?? true)
                && handler.kinds.contains {
                    makes($0, detector) || $0.row.source == .sensors || $0.row.source == .anyDetector
                }
        }
    }
}
