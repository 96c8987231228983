import Binnacle
import LinuxSensors
import PlainText
package import Station

/// Explains for every sensor how it would be read, or why it cannot be.
package struct Doctor {
    private let inspections: [DeviceInspection]
    private let root: String?

    /// Inspects the machine's sensors; `root` is the folder that contains `sys` and `dev`, if not the machine's own.
    package init(root: String?) throws(StationError) {
        self.root = root
        inspections = try DeviceReport.inspections(root: root)
    }

    /// Whether there is an accelerometer and a magnetometer that can be read.
    package var hasUsablePair: Bool {
        usable(.accelerometer) != nil && usable(.magnetometer) != nil
    }

    /// The findings as text.
    package var lines: [String] {
        var lines = inspections.flatMap(Self.lines)
        if inspections.isEmpty {
            let place = (root ?? "") + "/sys/bus/iio/devices"
            lines.append(
                root == nil
                    ? "no sensor: udev knows no IIO device with three axes in \(place), and no input device that is an accelerometer"
                    : "no sensor: no device with three axes in \(place)")
            lines.append("    is its driver loaded? lsmod | grep -E 'hid_sensor|accel|magn', and dmesg say more")
        }
        for kind in SampleKind.allCases where !inspections.isEmpty && usable(kind) == nil {
            lines.append("no \(kind.rawValue) that can be read: " + consequence(kind))
        }
        if let accelerometer = usable(.accelerometer), let magnetometer = usable(.magnetometer) {
            lines.append(
                "a usable pair: accelerometer \(accelerometer.device.name.printable), magnetometer "
                    + magnetometer.device.name.printable)
        }
        return lines
    }

    private func consequence(_ kind: SampleKind) -> String {
        switch kind {
        case .accelerometer: "neither motion nor a heading"
        case .magnetometer: "motion, and no heading"
        }
    }

    private func usable(_ kind: SampleKind) -> DeviceInspection? {
        inspections.first { $0.state == .ready && $0.device.kinds.contains(kind) }
    }

    private static func lines(_ inspection: DeviceInspection) -> [String] {
        let device = inspection.device
        let kinds = device.kinds.map(\.rawValue).joined(separator: " and ")
        let name = "\(device.name.printable) (\(device.interface.rawValue), \(kinds))"
        guard inspection.state == .ready else {
            return [
                "\(name): would not be used",
                "    because \(inspection.reason?.printable ?? inspection.state.rawValue)",
            ]
        }
        var lines: [String] = []
        switch inspection.mode {
        case .buffer:
            lines.append("\(name): every sample from its buffer")
            lines.append("    because it has one with all axes, and this user may use it")
        case .poll:
            lines.append("\(name): single values, ten a second")
            lines.append("    because \(inspection.reason?.printable ?? "it has no buffer")")
        case .evdev:
            lines.append("\(name): every change, through the input layer")
            lines.append("    because it has three axes and says how many units are 1 g")
        }
        for matrix in inspection.matrices {
            let origin = matrix.source.map { "from \($0.printable)" } ?? "as nobody says otherwise"
            lines.append("    mount matrix of the \(matrix.kind.rawValue) \(matrix.matrix), \(origin)")
        }
        if device.kinds.contains(.accelerometer) {
            lines.append("    sign taken as specific force (up reads +9.81); check it with 'binnacle doctor --guide'")
        }
        return lines
    }
}
