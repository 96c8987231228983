import Binnacle
import SensorGeometry

package struct ChipEvents: Sendable {
    /// The folder of their attributes.
    let folder: SysfsDirectory
    /// The events in the order of their names.
    package let events: [ChipEvent]
    /// The name of the device's driver; `nil` when it is not known.
    package let driver: String?
    /// What is known of the driver's events.
    let rule: ChipRule?
    /// Whether an interrupt is behind the events.
    package let line: InterruptLine

    /// The events that a device describes; `nil` when it has none.
    ///
    /// Reads sysfs, which may block.
    package init?(_ device: SensorDevice) {
        let folder = device.directory.directory("events")
        let names = folder.names()
        let found = names.compactMap(ChipEvent.init(switchName:))
        guard device.interface == .iio, !found.isEmpty else { return nil }
        let driver = SysfsDirectory(path: device.parent + "/driver").resolved.name
        self.driver = driver.isEmpty || driver == "driver" ? nil : driver
        self.folder = folder
        let rule = ChipRule.all.first { rule in
            [driver, device.name].contains { ChipRule.plain($0).hasPrefix(rule.driver) }
        }
        self.rule = rule
        line = InterruptLine(of: [self.driver, device.name].compactMap { $0 }, root: device.root)
        events = found.map { event in
            var event = event
            event.isOn = (try? folder.textIfPresent(event.stem + "_en")).map { $0 == "1" }
            event.value = event.attribute("value", in: folder).flatMap { try? folder.number($0) }
            event.periodSeconds = event.attribute("period", in: folder).flatMap { try? folder.number($0) }
                .map { $0 * (rule?.periodSeconds ?? 1) }
            if let value = event.value, let (step, unit, _) = Self.step(of: event, device, folder, rule) {
                event.valueSI = value * step
                event.unit = unit
            }
            return event
        }
    }

    /// The size of one unit of an event's threshold, its name, and the least difference of two thresholds in that unit; `nil` when it
    /// is not known.
    ///
    /// An attribute `…_scale` of the event counts first, unless the driver is known to say something else there, then what is
    /// known of the driver, then the channel's scale
    /// (Documentation/ABI/testing/sysfs-bus-iio: values are in the units of the channel's raw values).
    static func step(
        of event: ChipEvent, _ device: SensorDevice, _ folder: SysfsDirectory, _ rule: ChipRule?
    ) -> (step: Double, unit: String, least: Double)? {
        guard event.channel.hasPrefix("in_accel"), event.type != nil, event.type != "gesture", event.type != "change"
        else { return nil }
        let unit = event.type == "roc" && rule?.threshold == .ratePerSecond ? "m/s³" : "m/s²"
        let text = event.attribute("value", in: folder).flatMap { try? folder.text($0) }
        if case .g(let step) = rule?.threshold, text?.contains(".") == true { return (Gravity.standard, unit, step) }
        if let name = event.attribute("scale", in: folder), let scale = try? folder.number(name), scale > 0 {
            return (scale, unit, 1)
        }
        switch rule?.threshold {
        case .ratePerSecond: return (1, unit, 1)
        case .step(let step): return (step, unit, 1)
        case .ofRange(let part): return device.accelerationRange.map { ($0 * part, unit, 1) }
        case .g, nil:
            let axis = event.modifier.first.map { "in_accel_\($0)" } ?? "in_accel_x"
            return (try? IIODevice(device).scale(axis, .accelerometer)).map { ($0, unit, 1) }
        }
    }
}
