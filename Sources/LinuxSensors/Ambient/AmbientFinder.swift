package import Binnacle
import CEvdev
import Glibc
import LinuxSystem

/// Finds devices with single values in sysfs: IIO devices, hwmon of old laptops, and switches of input devices.
package struct AmbientFinder: Sendable {
    /// The folder that contains `/sys` and `/dev`; empty for the machine's own.
    let root: String

    package init(root: String) { self.root = root }

    /// The result of a search: a device, `nil` for none, or why it cannot be used.
    private typealias Found = Result<AmbientDevice?, SensorFailure>

    private func searches(_ kind: AmbientReading.Kind) -> [() -> Found] {
        switch kind {
        case .light: iio(Self.light) + [hwmon]
        case .proximity: iio(proximity) + [inputSwitch(SW_FRONT_PROXIMITY) { .proximity($0 ? 2 : 0) }]
        case .tabletMode: [inputSwitch(SW_TABLET_MODE) { .tabletMode($0) }]
        }
    }

    /// The first device of a kind; throws the reason if there is none.
    package func device(_ kind: AmbientReading.Kind) throws(SensorFailure) -> AmbientDevice {
        var refusal: SensorFailure?
        for search in searches(kind) {
            switch search() {
            case .success(let device?): return device
            case .success(nil): break
            case .failure(let failure): refusal = refusal ?? failure
            }
        }
        throw refusal ?? SensorFailure(.missing, "this machine has no sensor of \(kind.rawValue)")
    }

    // MARK: - IIO

    private func iio(
        _ make: @escaping (SysfsDirectory) throws(SensorFailure) -> AmbientDevice?
    ) -> [() -> Found] {
        iioDevices.map { directory in { Result { () throws(SensorFailure) in try make(directory) } } }
    }

    /// The folders of the IIO devices, in udev's order; under another root, by name.
    private var iioDevices: [SysfsDirectory] {
        if root.isEmpty, let paths = udevPaths("iio") { return paths }
        return SysfsDirectory.iioDevices(under: root).directories("iio:device")
    }

    private func udevPaths(_ subsystem: String) -> [SysfsDirectory]? {
        guard let udev = try? Udev(), let paths = try? udev.paths(subsystems: [subsystem]) else { return nil }
        return paths.sorted().map { SysfsDirectory(path: $0) }
    }

    private static func light(_ directory: SysfsDirectory) throws(SensorFailure) -> AmbientDevice? {
        for channel in ["in_illuminance", "in_illuminance0", "in_illuminance_clear"] {
            if directory.has(channel + "_input") {
                return AmbientDevice(directory, channel + "_input") { .light($0, .lux) }
            }
            guard directory.has(channel + "_raw") else { continue }
            let scale = try directory.number("_scale", of: channel, "in_illuminance")?.value ?? 1
            let offset = try directory.number("_offset", of: channel, "in_illuminance")?.value ?? 0
            return AmbientDevice(directory, channel + "_raw") { .light(($0 + offset) * scale, .lux) }
        }
        // Without a unit; reported in percent of the largest value.
        for channel in ["in_intensity_clear", "in_intensity_both", "in_intensity0"]
        where directory.has(channel + "_raw") {
            let scale = try directory.number("_scale", of: channel, "in_intensity")?.value ?? 1
            return AmbientDevice(directory, channel + "_raw") { .light($0 * scale, .percent) }
        }
        return nil
    }

    private func proximity(_ directory: SysfsDirectory) throws(SensorFailure) -> AmbientDevice? {
        for channel in ["in_proximity", "in_proximity0"] where directory.has(channel + "_raw") {
            guard let level = try nearLevel(directory, channel) else {
                throw SensorFailure(
                    .description,
                    "\(directory.path(channel + "_nearlevel")): there is no level at which something is near")
            }
            return AmbientDevice(directory, channel + "_raw") { .proximity($0 / level) }
        }
        return nil
    }

    /// The level from which something is near: that of udev's hardware database, which corrects drivers and device trees, or the
    /// driver's.
    private func nearLevel(_ directory: SysfsDirectory, _ channel: String) throws(SensorFailure) -> Double? {
        if root.isEmpty, let device = (try? Udev())?.device(path: directory.path),
            let level = device.property("PROXIMITY_NEAR_LEVEL").flatMap(Double.init), level > 0
        {
            return level
        }
        // The kernel uses both names, with and without a channel number.
        for name in [channel + "_nearlevel", "in_proximity_nearlevel"] {
            if let level = try directory.number(name), level > 0 { return level }
        }
        return nil
    }

    // MARK: - Others

    private func hwmon() -> Found {
        let folder = SysfsDirectory(path: root + "/sys/class/hwmon")
        let places = folder.names().flatMap { [folder.directory($0), folder.directory($0 + "/device")] }
        // With some drivers only the platform device has the attribute.
        let found =
            places.first { $0.has("light") }
            ?? (root.isEmpty ? udevPaths("platform") ?? [] : []).first { $0.has("light") }
        return .success(found.map { AmbientDevice(pairIn: $0, "light") })
    }

    private func inputSwitch(
        _ code: Int32, _ reading: @escaping @Sendable (Bool) -> AmbientReading
    ) -> () -> Found {
        {
            Result { () throws(SensorFailure) in
                let folder = SysfsDirectory(path: root + "/sys/class/input")
                for name in folder.names() where name.hasPrefix("event") {
                    let directory = folder.directory(name + "/device")
                    guard directory.bits("capabilities/sw", contain: [code]) else { continue }
                    let node = try mapError(SensorFailure.init) { () throws(SystemError) in
                        try Descriptor(path: "\(root)/dev/input/\(name)", flags: O_RDONLY | O_NONBLOCK)
                    }
                    return AmbientDevice(directory, switch: UInt32(code), node: node, reading: reading)
                }
                return nil
            }
        }
    }
}
