import Binnacle
import CEvdev
import Glibc
import LinuxSystem

/// A device of which single values are read.
struct AmbientDevice: Sendable {
    /// Where the value comes from.
    enum Source: Sendable {
        /// An attribute in lux, multiplied by a scale.
        case lux(attribute: String, scale: Double)
        /// An attribute without a unit, as percent of its largest value.
        case vendor(attribute: String, scale: Double)
        /// The left one of two numbers from 0 to 255 in brackets, of old laptops.
        case pair(attribute: String)
        /// An attribute that grows as something comes nearer, and its value where that is near.
        case proximity(attribute: String, nearLevel: Double)
        /// A switch of an input device's event node.
        case inputSwitch(code: UInt32, kind: AmbientReading.Kind, Descriptor)
    }

    let directory: SysfsDirectory
    let source: Source

    /// The event node that becomes readable when a switch moves; `nil` for what has to be polled.
    var switchDescriptor: Int32? {
        if case .inputSwitch(_, _, let file) = source { file.raw } else { nil }
    }

    /// Reads the value; this can take as long as a driver needs.
    func read() throws(SensorFailure) -> AmbientReading {
        switch source {
        case .lux(let attribute, let scale): return .light(try directory.value(attribute) * scale, .lux)
        case .vendor(let attribute, let scale): return .light(try directory.value(attribute) * scale, .percent)
        case .pair(let attribute):
            let text = try directory.text(attribute)
            let first = text.drop { $0 == "(" }.prefix { $0 != "," && $0 != ")" }
            guard let level = SysfsNumber.parse(String(first)) else {
                throw SensorFailure(
                    .description, "\(directory.path(attribute)): '\(text.prefix(80))' has no level")
            }
            return .light(level / 255 * 100, .percent)
        case .proximity(let attribute, let nearLevel):
            return .proximity(try directory.value(attribute) / nearLevel)
        case .inputSwitch(let code, let kind, let file):
            let isOn = try Self.isOn(code, file, directory.path)
            return kind == .proximity ? .proximity(isOn ? 2 : 0) : .tabletMode(isOn)
        }
    }

    /// Discards the events of a node and asks the kernel for a switch as it is now, so that no lost event matters.
    private static func isOn(_ code: UInt32, _ file: Descriptor, _ path: String) throws(SensorFailure)
        -> Bool
    {
        var discarded = [UInt8](repeating: 0, count: 4096)
        try mapError(SensorFailure.init) { () throws(SystemError) in
            while let count = try systemCallOnce(
                "read", path: path, { Glibc.read(file.raw, &discarded, discarded.count) }), count > 0
            {}
        }
        var handle: OpaquePointer?
        let code32 = libevdev_new_from_fd(file.raw, &handle)
        guard code32 == 0, let handle else {
            throw SensorFailure(SystemError(code: -code32, call: "libevdev_new_from_fd", path: path))
        }
        defer { libevdev_free(handle) }
        return libevdev_get_event_value(handle, UInt32(EV_SW), code) == 1
    }
}
