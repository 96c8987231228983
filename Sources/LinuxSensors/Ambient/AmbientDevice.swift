package import Binnacle
import CEvdev
import Glibc
import LinuxSystem

/// A device read by single values: light, proximity or a switch.
package struct AmbientDevice: Sendable {
    /// Reads the value, which may block for as long as the driver takes.
    package let read: @Sendable () throws(SensorFailure) -> AmbientReading
    /// The polling interval; a switch also wakes its reader.
    var intervalNanoseconds: Int64 = 800_000_000
    /// The event node that becomes readable when a switch changes; `nil` for a device that is polled.
    var switchDescriptor: Int32?

    /// A device whose value is the number in an attribute.
    init(
        _ directory: SysfsDirectory, _ attribute: String, reading: @escaping @Sendable (Double) -> AmbientReading
    ) {
        read = { () throws(SensorFailure) in reading(try directory.value(attribute)) }
    }

    /// The light sensor of an old laptop: the left of two numbers from 0 to 255 in brackets, read twice as often.
    init(pairIn directory: SysfsDirectory, _ attribute: String) {
        read = { () throws(SensorFailure) in
            let text = try directory.text(attribute)
            let first = text.drop { $0 == "(" }.prefix { $0 != "," && $0 != ")" }
            guard let level = SysfsNumber.parse(String(first)) else {
                throw SensorFailure(
                    .description, "\(directory.path(attribute)): '\(text.prefix(80))' has no level")
            }
            return .light(level / 255 * 100, .percent)
        }
        intervalNanoseconds = 400_000_000
    }

    init(
        _ directory: SysfsDirectory, switch code: UInt32, node: Descriptor,
        reading: @escaping @Sendable (Bool) -> AmbientReading
    ) {
        read = { () throws(SensorFailure) in reading(try Self.isOn(code, node, directory.path)) }
        switchDescriptor = node.raw
    }

    /// Discards the events of a node and reads the current state of a switch, so that lost events do not matter.
    private static func isOn(_ code: UInt32, _ file: Descriptor, _ path: String) throws(SensorFailure) -> Bool {
        var discarded = [UInt8](repeating: 0, count: 4096)
        try mapError(SensorFailure.init) { () throws(SystemError) in
            while let count = try systemCallOnce(
                "read", path: path, { Glibc.read(file.raw, &discarded, discarded.count) }), count > 0
            {}
        }
        var handle: OpaquePointer?
        let result = libevdev_new_from_fd(file.raw, &handle)
        guard result == 0, let handle else {
            throw SensorFailure(SystemError(code: -result, call: "libevdev_new_from_fd", path: path))
        }
        defer { libevdev_free(handle) }
        return libevdev_get_event_value(handle, UInt32(EV_SW), code) == 1
    }
}
