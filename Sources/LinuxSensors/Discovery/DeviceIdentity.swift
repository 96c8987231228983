/// The identity of a device, unchanged when the device is plugged in again.
package enum DeviceIdentity {
    /// A device's path without the numbers that the kernel assigns, then its name.
    ///
    /// `/devices/…/0018:1209:5E45.0001/HID-SENSOR-200073.2.auto/iio:device0` and the same with `.0003`, `.7.auto` and
    /// `iio:device2` are one device in one place.
    package static func text(path: String, name: String) -> String {
        var parts: [String] = []
        for part in path.split(separator: "/") {
            let stable = stablePart(String(part))
            if !stable.isEmpty { parts.append(stable) }
        }
        if parts.first == "sys" { parts.removeFirst() }
        if parts.first == "devices" { parts.removeFirst() }
        return (parts + [name]).joined(separator: "/")
    }

    private static func stablePart(_ part: String) -> String {
        for prefix in ["iio:device", "event", "input", "js", "mouse", "hidraw"] where part.hasPrefix(prefix) {
            if part.dropFirst(prefix.count).allSatisfy(\.isNumber) { return prefix == "iio:device" ? "" : prefix }
        }
        let fields = part.split(separator: ".", omittingEmptySubsequences: false)
        // A platform device's number: NAME.2.auto.
        if fields.count > 2, fields.last == "auto", fields[fields.count - 2].allSatisfy(\.isNumber) {
            return (fields.dropLast(2) + ["auto"]).joined(separator: ".")
        }
        // A HID device's number: 0018:1209:5E45.0001.
        if fields.count == 2, fields[1].count == 4, fields[1].allSatisfy(\.isHexDigit),
            fields[0].filter({ $0 == ":" }).count == 2
        {
            return String(fields[0])
        }
        return part
    }

    /// Distinguishes devices with the same identity by their order: the second one gets `#2`.
    ///
    /// Devices before `start` already have unique identities.
    package static func distinguish(_ devices: inout [SensorDevice], from start: Int = 0) {
        for index in start..<devices.count {
            let base = devices[index].id
            var number = 2
            while devices[..<index].contains(where: { $0.id == devices[index].id }) {
                devices[index].id = "\(base)#\(number)"
                number += 1
            }
        }
    }
}
