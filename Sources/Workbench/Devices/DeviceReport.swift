import Binnacle
import LinuxSensors
import PlainText
package import Station

/// The properties of a device, as text and as JSON.
package struct DeviceReport {
    private let inspection: DeviceInspection

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
        if device.interface == .iio, inspection.state == .ready {
            head.append(inspection.mode == .buffer ? "buffered" : "single values")
        }
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
        if let events = inspection.events {
            lines += events.events.map { "    event     \(Self.text($0))" }
            lines.append("    interrupt \(Self.line(events.line))")
        }
        lines.append("    state     \(inspection.state.rawValue)")
        if let reason = inspection.reason { lines.append("    because   \(reason.printable)") }
        return lines
    }

    /// An event with its threshold, as in "mag rising on x|y|z, at 0.5 m/s², off".
    private static func text(_ event: ChipEvent) -> String {
        var parts = [event.words.printable]
        if let value = event.valueSI, let unit = event.unit {
            parts.append("at \(SysfsNumber.text((value * 1e4).rounded() / 1e4)) \(unit)")
        } else if let value = event.value {
            parts.append("at \(SysfsNumber.text(value)), whose unit is not known")
        }
        if let period = event.periodSeconds, period > 0 { parts.append("after \(SysfsNumber.text(period)) s") }
        if let isOn = event.isOn { parts.append(isOn ? "on" : "off") }
        return parts.joined(separator: ", ")
    }

    /// Whether the events of a chip can come.
    static func line(_ line: InterruptLine) -> String {
        switch line {
        case .number(let number): "\(number.printable)"
        case .missing: "none in /proc/interrupts with the name of its driver: these events never come"
        case .unknown: "not known, because /proc/interrupts cannot be read"
        }
    }

    private static func json(_ event: ChipEvent) -> String {
        var object = JSONObject()
        object.add("name", event.stem)
        object.add("channel", event.channel)
        object.add("type", event.type)
        object.add("direction", event.direction.isEmpty ? nil : event.direction)
        object.add("on", raw: event.isOn.map(String.init) ?? "null")
        object.add("value", raw: event.value.map(SysfsNumber.text) ?? "null")
        object.add("value_si", raw: event.valueSI.map(SysfsNumber.text) ?? "null")
        object.add("unit", event.unit)
        object.add("period_s", raw: event.periodSeconds.map(SysfsNumber.text) ?? "null")
        return object.text
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
        if let events = inspection.events {
            object.add("events", raw: "[" + events.events.map(Self.json).joined(separator: ",") + "]")
            switch events.line {
            case .number(let number): object.add("interrupt", number)
            case .missing: object.add("interrupt", raw: "false")
            case .unknown: object.add("interrupt", raw: "null")
            }
        }
        object.add("state", inspection.state.rawValue)
        object.add("reason", inspection.reason)
        return object.text
    }
}
