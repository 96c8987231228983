import Binnacle
import LinuxSensors
import LinuxSystem
import PlainText
package import Station

/// The properties of a device, as text and as JSON.
package struct DeviceReport {
    private let inspection: DeviceInspection

    init(_ inspection: DeviceInspection) {
        self.inspection = inspection
    }

    /// Inspects all sensors in a stable order; `root` is the parent of `sys` and `dev`, `nil` for this machine.
    package static func all(root: String?) throws(StationError) -> [DeviceReport] {
        try inspections(root: root).map(DeviceReport.init)
    }

    static func inspections(root: String?) throws(StationError) -> [DeviceInspection] {
        try DeviceFinder(under: root).list().map(DeviceInspection.init)
    }

    package var lines: [String] {
        let device = inspection.device
        var head = [
            device.name.printable, Spelling.list(device.kinds.map(\.rawValue)),
            "\(device.interface.rawValue)",
        ]
        if device.interface == .iio { head.append(inspection.mode == .buffer ? "buffered" : "single values") }
        if let rate = inspection.rateHz { head.append("\(SysfsNumber.text(rate)) Hz") }
        var lines = [head.joined(separator: ", ")]
        lines.append("    node      \(device.node?.printable ?? "none")")
        lines.append("    path      \(device.path.printable)")
        lines.append("    id        \(device.id.printable)")
        if let label = device.label { lines.append("    label     \(label.printable)") }
        if let location = device.location { lines.append("    location  \(location.printable)") }
        for channel in inspection.channels {
            var line = "    channel   \(channel.name)"
            if let type = channel.type { line += "  \(type.printable)" }
            line += "  scale \(SysfsNumber.text(channel.scale))"
            if channel.offset != 0 { line += "  offset \(SysfsNumber.text(channel.offset))" }
            lines.append(line)
        }
        for matrix in inspection.matrices {
            let kind = inspection.matrices.count > 1 ? "\(matrix.kind.rawValue), " : ""
            lines.append("    matrix    \(matrix.matrix)  (\(kind)\(matrix.source?.printable ?? "none given"))")
        }
        lines.append("    state     \(inspection.state.rawValue)")
        if let reason = inspection.reason { lines.append("    because   \(reason.printable)") }
        return lines
    }

    package var json: String {
        let device = inspection.device
        var object = JSONObject()
        object.add("name", device.name)
        object.add("source", device.interface.rawValue)
        object.add("kinds", raw: "[" + device.kinds.map { "\"\($0.rawValue)\"" }.joined(separator: ",") + "]")
        object.add("node", device.node)
        object.add("path", device.path)
        object.add("id", device.id)
        object.add("label", device.label)
        object.add("location", device.location)
        object.add("mode", inspection.mode.rawValue)
        let channels = inspection.channels.map { channel in
            var object = JSONObject()
            object.add("name", channel.name)
            object.add("type", channel.type)
            object.add("scale", raw: SysfsNumber.text(channel.scale))
            object.add("offset", raw: SysfsNumber.text(channel.offset))
            return object.text
        }
        object.add("channels", raw: "[" + channels.joined(separator: ",") + "]")
        object.add("rate_hz", raw: inspection.rateHz.map(SysfsNumber.text) ?? "null")
        let matrix = inspection.matrices.first
        object.add("mount_matrix", matrix.map { $0.matrix.description })
        object.add("mount_matrix_from", matrix?.source)
        for matrix in inspection.matrices.dropFirst() {
            object.add("\(matrix.kind.rawValue)_mount_matrix", matrix.matrix.description)
            object.add("\(matrix.kind.rawValue)_mount_matrix_from", matrix.source)
        }
        object.add("state", inspection.state.rawValue)
        object.add("reason", inspection.reason)
        return object.text
    }
}
