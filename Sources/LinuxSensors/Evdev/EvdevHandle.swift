import Binnacle
import CEvdev
import Glibc
import Kernels
import LinuxSystem

/// libevdev's state of an open event node, and the conversion of its values to samples.
final class EvdevHandle {
    let raw: OpaquePointer
    private let device: SensorDevice

    static func open(_ device: SensorDevice) throws(SensorFailure) -> Descriptor {
        guard let node = device.node else { throw SensorFailure(.missing, "\(device.path): has no event node") }
        return try mapError(SensorFailure.init) { () throws(SystemError) in
            try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
        }
    }

    /// Reads the axes' current values from the kernel; the node has to stay open as long as this object lives.
    init(_ file: Descriptor, _ device: SensorDevice) throws(SensorFailure) {
        self.device = device
        guard cevdev_problem() == nil else {
            throw SensorFailure(
                SystemError(
                    code: ELIBACC, call: "loading libevdev.so.2 (Debian has it in libevdev2)", path: device.node))
        }
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

    /// The first axis of a kind; the other two follow.
    static func firstAxis(_ kind: SampleKind) -> Int32 { kind == .gyroscope ? ABS_RX : ABS_X }

    static func axisNames(_ kind: SampleKind) -> [String] {
        kind == .gyroscope ? ["ABS_RX", "ABS_RY", "ABS_RZ"] : ["ABS_X", "ABS_Y", "ABS_Z"]
    }

    func conversion(_ kind: SampleKind, _ settings: SensorSettings) throws(SensorFailure) -> ScanConversion {
        let scales = try scales(kind)
        let (matrix, factor) = try settings.mounting(kind) { () throws(SensorFailure) in
            try Self.matrix(of: device).matrix
        }
        return AxisScaling(scales: scales, offsets: [0, 0, 0], matrix: matrix, factor: factor).conversion
    }

    /// The largest value, in m/s² or rad/s, that every axis of a kind can give in both directions; `nil` if the device states
    /// none.
    func range(_ kind: SampleKind) throws(SensorFailure) -> Double? {
        let scales = try scales(kind)
        let ranges = (0..<3).map { offset in
            let axis = UInt32(Self.firstAxis(kind)) + UInt32(offset)
            let (least, most) = (libevdev_get_abs_minimum(raw, axis), libevdev_get_abs_maximum(raw, axis))
            return scales[offset] * Double(least < 0 ? min(most, -max(least, -Int32.max)) : most)
        }
        return ranges.min().flatMap { $0 > 0 ? $0 : nil }
    }

    /// The mount matrix and its source; the identity and `nil` without one.
    static func matrix(of device: SensorDevice) throws(SensorFailure) -> (matrix: MountMatrix, source: String?) {
        guard let text = device.properties["ACCEL_MOUNT_MATRIX"] else { return (.identity, nil) }
        let source = IIODevice.matrixProperty
        let matrix = try IIODevice.matrix(text, from: source)
        return (device.isInBase ? matrix.openedFlat : matrix, source)
    }

    /// The scales of a kind's axes, in m/s² or rad/s for each unit.
    ///
    /// With INPUT_PROP_ACCELEROMETER a resolution counts units in 1 g or 1°/s (`struct input_absinfo` in input.h).
    func scales(_ kind: SampleKind) throws(SensorFailure) -> [Double] {
        let unit: (name: String, key: String, size: Double) =
            kind == .gyroscope ? ("1°/s", "DEGREE", .pi / 180) : ("1 g", "G", Double(Units.standardGravity))
        var scales: [Double] = []
        for (offset, name) in Self.axisNames(kind).enumerated() {
            let axis = UInt32(Self.firstAxis(kind)) + UInt32(offset)
            guard libevdev_has_event_code(raw, UInt32(EV_ABS), axis) == 1 else {
                throw SensorFailure(.description, "\(device.node ?? device.path): has no axis \(name)")
            }
            let resolution = libevdev_get_abs_resolution(raw, axis)
            guard resolution > 0 else {
                throw SensorFailure(
                    .description,
                    "\(device.node ?? device.path): does not say how many units of \(name) are \(unit.name) (its resolution "
                        + "is \(resolution)). Set it in the hardware database, with EVDEV_ABS_0\(axis)=::UNITS_PER_\(unit.key)"
                )
            }
            scales.append(unit.size / Double(resolution))
        }
        return scales
    }
}
