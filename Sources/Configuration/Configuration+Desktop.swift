import Binnacle
import LinuxSensors

extension Configuration {
    /// Adds default detectors of the screen and the heading for `[dbus]`, with their sensors, where there are none.
    ///
    /// Their names contain a dot, which names in files cannot. A replay does without them.
    package mutating func addDesktop() {
        guard let dbus else { return }
        defer { fit() }
        if dbus.orientation == nil, desktopOrientation == nil {
            let settings = OrientationSection.defaults
            add(OrientationSection(.init(name: "dbus.orientation", settings: settings, sensor: screenSensor())))
        }
        guard dbus.compass == nil, desktopNorth == nil, let accelerometer = desktopOrientation?.sensor else {
            return
        }
        let magnetometer = "dbus.magnetometer"
        sensors.append(SensorSection(name: magnetometer, source: .auto(DeviceMatch())))
        add(NorthSection(ofDesktop: "dbus.heading", accelerometer: accelerometer, magnetometer: magnetometer))
    }

    /// Inserts a detector of the desktop service after those of its kind.
    private mutating func add(_ section: some DetectorSection) {
        let order = DetectorSections.all.map { $0.kind }
        func place(_ section: any DetectorSection) -> Int { order.firstIndex(of: type(of: section).kind) ?? 0 }
        let own = place(section)
        detectors.insert(section, at: detectors.firstIndex { place($0) > own } ?? detectors.count)
        desktopDetectors.insert(section.name)
        defaultDetectors.insert(section.name)
    }

    /// The detector of the screen's orientation.
    package var desktopOrientation: OrientationSection? { desktopSection { $0.orientation } }

    package var desktopNorth: NorthSection? { desktopSection { $0.compass } }

    /// The section that `[dbus]` names, or the first of its kind.
    private func desktopSection<Section: DetectorSection>(_ name: (DBusSection) -> String?) -> Section? {
        guard let dbus else { return nil }
        return sections().first { name(dbus) == nil || $0.name == name(dbus) }
    }

    /// The sections of a kind, in their order.
    package func sections<Section: DetectorSection>(_ type: Section.Type = Section.self) -> [Section] {
        detectors.compactMap { $0 as? Section }
    }

    /// The accelerometer that another detector uses, or a new section.
    private mutating func screenSensor() -> String {
        let used = detectors.flatMap { $0.needs }.first { $0.kind == .accelerometer && !$0.isOptional }
        if let used { return used.sensor }
        let name = "dbus.accelerometer"
        sensors.append(SensorSection(name: name, source: .auto(DeviceMatch())))
        return name
    }

    /// Whether a handler, the store or the socket receives a detector's events.
    ///
    /// Its sensors' state events count as well. Detectors made for the desktop service are read only while claimed.
    package func isHeard(_ detector: String) -> Bool {
        guard !desktopDetectors.contains(detector) else { return false }
        // Without the desktop service, each detector is configured to be read.
        if dbus == nil || store != nil || socket != nil { return true }
        let section = self.detector(detector)
        return handlers.contains { handler in
            (handler.detectors?.contains(detector) ?? true)
                && handler.kinds.contains {
                    section?.canMake($0) == true || $0.row.source == .sensors || $0.row.source == .anyDetector
                }
        }
    }
}
