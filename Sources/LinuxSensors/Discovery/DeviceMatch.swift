package import Binnacle
import LinuxSystem
import PlainText

/// The criteria by which a device is chosen; a device has to match all that are given.
public struct DeviceMatch: Sendable, Equatable {
    /// The device's name from its driver.
    public var name: String?
    /// The device's label from the firmware or a udev rule.
    public var label: String?
    /// The sensor's location, such as `display` or `base`.
    public var location: String?
    /// The device's node, its folder in sysfs, udev's `ID_PATH`, or its stable identity.
    public var path: String?
    /// Whether devices known not to be fixed to a screen are excluded.
    package var isInScreen = false
    /// The udev properties, by their names.
    public var properties: [String: String] = [:]

    /// A match that any device satisfies.
    public init() {}

    /// Whether every device matches.
    package var isEmpty: Bool { self == DeviceMatch() }

    /// The number of criteria given.
    fileprivate var criterionCount: Int {
        [name, label, location, path].count { $0 != nil } + properties.count + (isInScreen ? 1 : 0)
    }

    package func accepts(_ device: SensorDevice) -> Bool {
        if let name, device.name != name { return false }
        if let label, device.label != label { return false }
        if let location, !device.isAt(location) { return false }
        if isInScreen, !device.mayBeInScreen { return false }
        if let path, !isPath(path, of: device) { return false }
        return properties.allSatisfy { device.properties[$0.key] == $0.value }
    }

    /// Whether a device matches, is read through the interface (`nil` for any), and measures the kinds.
    package func accepts(
        _ device: SensorDevice, as interface: SensorDevice.Interface?, with kinds: [SampleKind]
    ) -> Bool {
        (interface == nil || device.interface == interface) && accepts(device)
            && kinds.allSatisfy(device.kinds.contains)
    }

    private func isPath(_ path: String, of device: SensorDevice) -> Bool {
        var names = [device.id, device.path, device.node, device.properties["ID_PATH"], device.properties["DEVPATH"]]
        names += (device.properties["DEVLINKS"] ?? "").split(separator: " ").map(String.init)
        if names.contains(path) { return true }
        // A link, such as those in /sys/bus/iio/devices, is resolved to its target.
        return path.hasPrefix("/") && (Self.isSame(path, device.path) || Self.isSame(path, device.node))
    }

    private static func isSame(_ path: String, _ other: String?) -> Bool {
        guard let other, let status = try? fileStatus(path) else { return false }
        return status.isSameFile(as: try? fileStatus(other))
    }

    /// The criteria as text, except the place.
    var criteria: String {
        let named = [("name", name), ("label", label), ("location", location), ("path", path)]
        let parts = named.compactMap { key, value in value.map { "\(key) '\($0)'" } }
        return (parts + properties.sorted { $0.key < $1.key }.map { "\($0.key)='\($0.value)'" })
            .joined(separator: ", ")
    }
}

extension Sequence {
    /// The elements in the order in which they choose their devices.
    ///
    /// Those with the most specific match come first, equal ones as they stand: otherwise one that any device satisfies could take the
    /// only one of another.
    package func mostSpecificFirst(_ match: (Element) -> DeviceMatch) -> [Element] {
        enumerated()
            .map { (place: $0.offset, count: match($0.element).criterionCount, element: $0.element) }
            .sorted { ($1.count, $0.place) < ($0.count, $1.place) }
            .map(\.element)
    }
}
