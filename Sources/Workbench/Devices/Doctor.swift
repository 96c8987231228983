import Binnacle
package import Configuration
import Glibc
import LinuxSensors
import PlainText
package import Station

/// Explains how each sensor would be read, or why it cannot be.
package struct Doctor {
    private let inspections: [DeviceInspection]
    private let root: String?
    private let configuration: Configuration?

    /// Inspects the sensors below `root`, the parent of `sys` and `dev`; without a configuration an accelerometer is needed.
    package init(root: String?, configuration: Configuration?) throws(StationError) {
        self.root = root
        self.configuration = configuration
        inspections = try DeviceReport.inspections(root: root)
    }

    /// Whether all needed sensors are present and readable; a configuration that needs none needs any sensor.
    package var hasWhatIsNeeded: Bool {
        guard configuration != nil else { return usable(.accelerometer) != nil }
        return needs.allSatisfy { $0.device != nil || !$0.waiting.isEmpty } && needs.contains { $0.device != nil }
    }

    /// What detectors need, with the name of the device found, or else with the default detectors that wait for it.
    private typealias Need = (what: String, device: String?, waiting: [String])

    /// A device serves one section, and one that shares it.
    private var needs: [Need] {
        guard let configuration else { return [] }
        let devices = assignedDevices(configuration)
        let sampled = configuration.sensors.compactMap { section -> Need? in
            let kinds = configuration.kinds(of: section.name)
            guard !kinds.isEmpty else { return nil }
            let found: String?
            switch section.source {
            case .simulated: found = "simulated"
            case .trace(let file, _): found = access(file, R_OK) == 0 ? "played from \(file.printable)" : nil
            default:
                guard section.source.device != nil else { return nil }
                found = devices[section.name].map { inspection, owner in
                    inspection.device.name.printable + (owner.map { ", the device of sensor '\($0)'" } ?? "")
                        + Self.slowness(of: inspection, for: section, configuration)
                }
            }
            let users = configuration.detectors.filter { $0.needs.contains { $0.sensor == section.name } }
            return (
                "sensor '\(section.name)' of the configuration (\(kinds.map(\.rawValue).joined(separator: " and ")))",
                found,
                configuration.isOptional(section) ? users.map(\.name) : []
            )
        }
        return sampled + configuration.detectors.flatMap { readings(of: $0, configuration) }
    }

    /// The device of each section that gets one, by the section's name, in the order in which the daemon assigns them; with the section
    /// whose device it is, for one that shares it.
    private func assignedDevices(_ configuration: Configuration) -> [String: (DeviceInspection, owner: String?)] {
        var left = inspections.filter { $0.state == .ready }
        var hosts: [(request: SensorRequest, inspection: DeviceInspection)] = []
        var devices: [String: (DeviceInspection, owner: String?)] = [:]
        let requests = configuration.wantedSensors.compactMap { $0.request(for: Sensor(name: $0.section.name)) }
            .mostSpecificFirst(\.match)
        for request in requests.filter({ !$0.mayShare }) + requests.filter(\.mayShare) {
            let fitting = left.filter { request.accepts($0.device) && request.kinds.allSatisfy($0.kinds.contains) }
            let partners = requests.filter(request.pairs).flatMap { other in
                devices[other.sensor.name].map { [$0.0.device] }
                    ?? inspections.filter { $0.state == .ready && other.accepts($0.device) }.map(\.device)
            }
            let device = DeviceKinship.preferred(fitting.map(\.device), beside: partners)
            if let place = left.firstIndex(where: { $0.device.path == device?.path }) {
                let inspection = left.remove(at: place)
                hosts.append((request, inspection))
                devices[request.sensor.name] = (inspection, nil)
            } else if let place = hosts.lastIndex(where: { $0.request.mayServe(request, on: $0.inspection.device) }) {
                let (host, inspection) = hosts.remove(at: place)
                devices[request.sensor.name] = (inspection, host.sensor.name)
            }
        }
        return devices
    }

    /// The detectors for which a device is too slow, as the end of a line; empty for none.
    private static func slowness(
        of inspection: DeviceInspection, for sensor: SensorSection, _ configuration: Configuration
    ) -> String {
        guard let rate = inspection.fastestHz(with: sensor.settings) else { return "" }
        return configuration.needs(beyond: rate, of: sensor.name)
            .map { "; TOO SLOW with \(SysfsNumber.text(rate)) Hz: \($0.words)" }.joined()
    }

    /// What a detector without samples needs.
    private func readings(of section: any DetectorSection, _ configuration: Configuration) -> [Need] {
        guard section.needs.isEmpty else { return [] }
        let kinds = section.makeDetector(on: [], asking: []).ambientKinds
        let present = AmbientWatcher.present(Array(kinds), root: root)
        return kinds.map { kind in
            (
                "sensor of detector '\(section.name)' of the configuration (\(kind.rawValue))",
                present.contains(kind) ? "found" : nil,
                configuration.defaultDetectors.contains(section.name) ? [section.name] : []
            )
        }
    }

    package var lines: [String] {
        var lines = inspections.flatMap(Self.lines)
        if inspections.isEmpty {
            let place = (root ?? "") + "/sys/bus/iio/devices"
            lines.append(
                root == nil
                    ? "no sensor: udev knows no IIO device with three axes in \(place), and no input device that is an accelerometer"
                    : "no sensor: no device with three axes in \(place)")
            lines.append(
                "    is its driver loaded? lsmod | grep -E 'industrialio|hid_sensor', and dmesg say more; chips.md of the documents "
                    + "has the drivers of chips")
        }
        for device in DeviceFinder(under: root).incomplete() {
            lines.append("\(device.name.printable), \(device.path.printable): would not be used")
            lines.append("    because \(device.reason)")
        }
        for kind in SampleKind.allCases where !inspections.isEmpty && usable(kind) == nil {
            lines.append("no \(kind.rawValue) that can be read: " + consequence(kind))
        }
        if let accelerometer = usable(.accelerometer), let magnetometer = usable(.magnetometer) {
            let gyroscope = gyroscope(beside: accelerometer)
            let names = [
                "accelerometer \(accelerometer.device.name.printable)",
                "magnetometer \(magnetometer.device.name.printable)",
            ]
            lines.append(
                gyroscope.map { "a usable triple: \(names.joined(separator: ", ")), gyroscope \($0.name.printable)" }
                    ?? "a usable pair: \(names.joined(separator: ", "))")
            if gyroscope == nil, let other = usable(.gyroscope) {
                lines.append(
                    "    without the gyroscope \(other.device.name.printable), which may turn without that accelerometer; "
                        + "gyroscope = \"NAME\" in [north.NAME] uses it")
            }
        }
        return lines + needs.map(Self.line) + uses
    }

    private static func line(_ need: Need) -> String {
        let waiting = need.waiting.map { "'\($0)'" }.joined(separator: ", ")
        let missing =
            waiting.isEmpty ? "MISSING" : "none, which may be: only default detectors would use it, \(waiting)"
        return "\(need.what): \(need.device ?? missing)"
    }

    /// The detections that this machine makes possible, and the others.
    private var uses: [String] {
        guard let accelerometer = usable(.accelerometer) else { return [] }
        let isSlow = accelerometer.mode == .poll
        var lines = ["possible: motion" + (isSlow ? "" : ", shake, free fall, shock")]
        if isSlow {
            lines.append("not reliable: shake, free fall and shock, which fall between two single values")
        }
        lines += Self.unseen(accelerometer.device, isSlow: isSlow)
        let headings = "headings, facing a bearing, sectors"
        if usable(.magnetometer) != nil {
            lines.append("possible: \(headings); calibrate the magnetometer first, with 'binnacle calibrate'")
        } else {
            lines.append("not possible: \(headings): they need a magnetometer, too")
        }
        return lines
    }

    /// What an accelerometer does not show with the default limits.
    private static func unseen(_ device: SensorDevice, isSlow: Bool) -> [String] {
        let settings = MotionSettings()
        var lines: [String] = []
        if let least = device.leastReleaseG, Double(settings.effectiveReleaseG) < least {
            let words = Configuration.releaseWords(least)
            lines.append(
                "not reliable: motion with the default release_g, \(settings.effectiveReleaseG) g: \(words.why); "
                    + words.remedy)
        }
        if !isSlow, let range = device.accelerationRange.map({ $0 / Double(Units.standardGravity) }),
            range < Double(settings.shockG)
        {
            lines.append(
                "not reliable: a shock along one axis, which measures up to \(Figure.Value.number(range, decimals: 1)) g and shows "
                    + "no more of a harder one: shock_g is \(settings.shockG) g by default; give the device a larger range, or set shock_g "
                    + "below that")
        }
        return lines
    }

    /// The device whose gyroscope would be used with an accelerometer; `nil` for none.
    private func gyroscope(beside accelerometer: DeviceInspection) -> SensorDevice? {
        if accelerometer.kinds.contains(.gyroscope) { return accelerometer.device }
        let devices = inspections.filter { $0.state == .ready }.map(\.device)
        return DeviceKinship.gyroscope(for: accelerometer.device, among: devices)
    }

    private func consequence(_ kind: SampleKind) -> String {
        switch kind {
        case .accelerometer: "neither motion nor a heading"
        case .magnetometer: usable(.accelerometer) == nil ? "no heading" : "motion, and no heading"
        case .gyroscope: usable(.magnetometer) == nil ? "no rotation" : "headings by the compass alone"
        }
    }

    /// The device that would be chosen for a kind: accelerometer and magnetometer as a pair that turns together, where there is one.
    private func usable(_ kind: SampleKind) -> DeviceInspection? {
        let partners: [SensorDevice] =
            switch kind {
            case .accelerometer: ready(.magnetometer)
            case .magnetometer: usable(.accelerometer).map { [$0.device] } ?? []
            case .gyroscope: []
            }
        let device = DeviceKinship.preferred(ready(kind), beside: partners)
        return inspections.first { $0.device.path == device?.path }
    }

    private func ready(_ kind: SampleKind) -> [SensorDevice] {
        inspections.filter { $0.state == .ready && $0.kinds.contains(kind) }.map(\.device)
    }

    private static func lines(_ inspection: DeviceInspection) -> [String] {
        let device = inspection.device
        let kinds = Spelling.list(device.kinds.map(\.rawValue))
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
            lines.append("    because it has three axes and reports how many units are 1 g")
        }
        if inspection.mode != .poll, let reason = inspection.reason { lines.append("    but \(reason.printable)") }
        for matrix in inspection.matrices {
            let origin = matrix.source.map { "from \($0.printable)" } ?? "the default, as the kernel and udev have none"
            lines.append("    mount matrix of the \(matrix.kind.rawValue) \(matrix.matrix), \(origin)")
            if matrix.matrix.determinant < 0 {
                lines.append(
                    "    but it mirrors: attitudes and headings are right for a chip with reversed signs alone"
                )
            }
            if let words = matrix.matrix.distortionWords { lines.append("    but \(words)") }
        }
        if let events = inspection.events {
            let words = Spelling.list(events.events.map(\.words.printable))
            lines.append("    the chip reports by itself: \(words)")
            lines.append("    interrupt: \(DeviceReport.line(events.line))")
            if device.kinds.contains(.accelerometer) { lines.append("    " + events.watchAdvice) }
        }
        if device.kinds.contains(.accelerometer) {
            lines.append("    sign taken as specific force (up reads +9.81); check it with 'binnacle doctor --guide'")
        }
        return lines
    }
}
