import Binnacle
import CEvdev
import Glibc
import LinuxSystem

/// libevdev's state of an open event node, and how its values become samples.
final class EvdevHandle {
    let raw: OpaquePointer
    private let device: SensorDevice

    /// Opens a device's event node, not blocking.
    static func open(_ device: SensorDevice) throws(SensorFailure) -> Descriptor {
        guard let node = device.node else { throw SensorFailure(.missing, "\(device.path): has no event node") }
        return try mapError(SensorFailure.init) { () throws(SystemError) in
            try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
        }
    }

    /// Asks the kernel for the device's axes as they are now.
    ///
    /// - Parameters:
    ///   - file: The open event node; it has to stay open as long as this object.
    ///   - device: What it is.
    /// - Throws: ``SensorFailure`` when the kernel does not answer.
    init(_ file: Descriptor, _ device: SensorDevice) throws(SensorFailure) {
        self.device = device
        var pointer: OpaquePointer?
        let code = libevdev_new_from_fd(file.raw, &pointer)
        guard code == 0, let pointer else {
            throw SensorFailure(SystemError(code: -code, call: "libevdev_new_from_fd", path: device.node))
        }
        raw = pointer
    }

    deinit {
        libevdev_free(raw)
    }

    /// How raw values become samples.
    func conversion(_ settings: SensorSettings) throws(SensorFailure) -> AxisConversion {
        let scales = try scales()
        let matrix: MountMatrix
        if let given = settings.mountMatrix { matrix = given } else { matrix = try self.matrix().matrix }
        return AxisConversion(
            scales: scales, offsets: [0, 0, 0], matrix: matrix, factor: settings.acceleration.factor)
    }

    /// The mount matrix and where it was found; the identity from nowhere without any.
    func matrix() throws(SensorFailure) -> (matrix: MountMatrix, source: String?) {
        guard let text = device.properties["ACCEL_MOUNT_MATRIX"] else { return (.identity, nil) }
        let source = "udev ACCEL_MOUNT_MATRIX"
        return (try IIODevice.matrix(text, from: source), source)
    }

    /// The axes' scales, in m/s² for each unit.
    func scales() throws(SensorFailure) -> [Double] {
        var scales: [Double] = []
        for (axis, name) in ["X", "Y", "Z"].enumerated() {
            guard libevdev_has_event_code(raw, UInt32(EV_ABS), UInt32(axis)) == 1 else {
                throw SensorFailure(.description, "\(device.node ?? device.path): has no axis ABS_\(name)")
            }
            let resolution = libevdev_get_abs_resolution(raw, UInt32(axis))
            guard resolution > 0 else {
                throw SensorFailure(
                    .description,
                    "\(device.node ?? device.path): does not say how many units of ABS_\(name) are 1 g (its resolution is "
                        + "\(resolution)). Set it in the hardware database, with EVDEV_ABS_0\(axis)=::UNITS_PER_G")
            }
            scales.append(Double(Units.standardGravity) / Double(resolution))
        }
        return scales
    }
}
