import Binnacle
import CEvdev
import Glibc
import LinuxSystem

/// Finds the devices of single readings in sysfs: those of IIO, of old laptops' hwmon, and switches of input devices.
struct AmbientFinder: Sendable {
    /// The folder under which `/sys` and `/dev` lie; empty for the machine's own.
    let root: String

    /// The first device of a kind; a failure says why there is none.
    func device(_ kind: AmbientReading.Kind) throws(SensorFailure) -> AmbientDevice {
        var refusal: SensorFailure?
        for place in Place.all(of: kind) {
            do throws(SensorFailure) {
                if let device = try look(in: place) { return device }
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? SensorFailure(.missing, "this machine has no sensor of \(kind.rawValue)")
    }

    /// Where a device may be.
    private enum Place {
        case iio(AmbientReading.Kind)
        case hwmon
        case inputSwitch(Int32, AmbientReading.Kind)

        static func all(of kind: AmbientReading.Kind) -> [Place] {
            switch kind {
            case .light: [.iio(.light), .hwmon]
            case .proximity: [.iio(.proximity), .inputSwitch(SW_FRONT_PROXIMITY, .proximity)]
            case .tabletMode: [.inputSwitch(SW_TABLET_MODE, .tabletMode)]
            }
        }
    }

    private func look(in place: Place) throws(SensorFailure) -> AmbientDevice? {
        switch place {
        case .iio(let kind): try iio(kind)
        case .hwmon: hwmon()
        case .inputSwitch(let code, let kind): try inputSwitch(code, kind)
        }
    }

    // MARK: - IIO

    private func iio(_ kind: AmbientReading.Kind) throws(SensorFailure) -> AmbientDevice? {
        for directory in iioDevices {
            let source = kind == .light ? try Self.light(directory) : try Self.proximity(directory)
            if let source { return AmbientDevice(directory: directory, source: source) }
        }
        return nil
    }

    /// The folders of the IIO devices, as udev lists them; in another tree, by their names.
    private var iioDevices: [SysfsDirectory] {
        if root.isEmpty, let paths = udevPaths("iio") { return paths }
        let folder = SysfsDirectory(path: root + "/sys/bus/iio/devices")
        return folder.names().filter { $0.hasPrefix("iio:device") }.map(folder.directory)
    }

    private func udevPaths(_ subsystem: String) -> [SysfsDirectory]? {
        guard let udev = try? Udev(), let paths = try? udev.paths(subsystems: [subsystem]) else { return nil }
        return paths.sorted().map { SysfsDirectory(path: $0) }
    }

    private static func light(_ directory: SysfsDirectory) throws(SensorFailure) -> AmbientDevice
        .Source?
    {
        for channel in ["in_illuminance", "in_illuminance0"] {
            if directory.has(channel + "_input") { return .lux(attribute: channel + "_input", scale: 1) }
            guard directory.has(channel + "_raw") else { continue }
            return .lux(attribute: channel + "_raw", scale: try directory.number(channel + "_scale") ?? 1)
        }
        for channel in ["in_intensity_clear", "in_intensity_both", "in_intensity0"]
        where directory.has(channel + "_raw") {
            return .vendor(
                attribute: channel + "_raw", scale: try directory.number(channel + "_scale") ?? 1)
        }
        return nil
    }

    private static func proximity(_ directory: SysfsDirectory) throws(SensorFailure) -> AmbientDevice
        .Source?
    {
        for channel in ["in_proximity", "in_proximity0"] where directory.has(channel + "_raw") {
            // The kernel has one name for the level, with and without a number.
            for name in [channel + "_nearlevel", "in_proximity_nearlevel"] {
                guard let level = try directory.number(name), level > 0 else { continue }
                return .proximity(attribute: channel + "_raw", nearLevel: level)
            }
            throw SensorFailure(
                .description,
                "\(directory.path(channel + "_nearlevel")): there is no level at which something is near")
        }
        return nil
    }

    // MARK: - Others

    private func hwmon() -> AmbientDevice? {
        let folder = SysfsDirectory(path: root + "/sys/class/hwmon")
        for name in folder.names() {
            for directory in [folder.directory(name), folder.directory(name + "/device")]
            where directory.has("light") {
                return AmbientDevice(directory: directory, source: .pair(attribute: "light"))
            }
        }
        // The driver of some has the attribute at a platform device alone.
        let platform = root.isEmpty ? udevPaths("platform") ?? [] : []
        return platform.first { $0.has("light") }.map {
            AmbientDevice(directory: $0, source: .pair(attribute: "light"))
        }
    }

    private func inputSwitch(_ code: Int32, _ kind: AmbientReading.Kind) throws(SensorFailure)
        -> AmbientDevice?
    {
        let folder = SysfsDirectory(path: root + "/sys/class/input")
        for name in folder.names() where name.hasPrefix("event") {
            let directory = folder.directory(name + "/device")
            guard let text = try? directory.textIfPresent("capabilities/sw"),
                let word = text.split(separator: " ").last.flatMap({ UInt64($0, radix: 16) }),
                word >> UInt64(code) & 1 == 1
            else { continue }
            let file = try mapError(SensorFailure.init) { () throws(SystemError) in
                try Descriptor(path: "\(root)/dev/input/\(name)", flags: O_RDONLY | O_NONBLOCK)
            }
            return AmbientDevice(
                directory: directory, source: .inputSwitch(code: UInt32(code), kind: kind, file))
        }
        return nil
    }
}
