import CEvdev
import Glibc
package import LinuxSystem

/// An accelerometer of the input layer, optionally with a gyroscope.
package final class InputDevice: VirtualDevice {
    /// The device's name and frames.
    package struct Description: Sendable, Equatable {
        /// The device's name in the kernel.
        package var name = "Binnacle accelerometer"
        /// Whether a frame carries the device's own counter of microseconds.
        package var hasTime = true
        package var hasGyroscope = false

        /// The maximum length of a name, in bytes.
        package static let longestName = 79

        package init() {}
    }

    /// Counts per g, the input layer's unit for the resolution of an accelerometer.
    static let resolution: Int32 = 1000
    /// The axes range from −32 to 32 g.
    static let limit: Int32 = 32_000

    /// Counts per degree per second, the input layer's unit for the resolution of a gyroscope.
    static let turnResolution: Int32 = 1000
    /// The rates range from −2000 to 2000 degrees per second.
    static let turnLimit: Int32 = 2_000_000

    private let description: Description
    private let open: () throws(SystemError) -> Descriptor
    private let create: (Descriptor, Description) throws(SystemError) -> OpaquePointer?
    private var file: Descriptor?
    /// The device created by libevdev, which also frees it.
    private var created: OpaquePointer?
    /// The time of the first sample, at which the counter is 0.
    private var beginNanoseconds: Int64?
    /// The counts of the gyroscope that the next frame carries.
    private var turn = SIMD3<Int32>.zero

    /// Describes a device; ``plug()`` opens `/dev/uinput` and creates it, which a test with a socket replaces.
    package init(
        _ description: Description, open: @escaping () throws(SystemError) -> Descriptor,
        create: @escaping (Descriptor, Description) throws(SystemError) -> OpaquePointer? = InputDevice.create
    ) {
        self.description = description
        self.open = open
        self.create = create
    }

    deinit {
        unplug()
    }

    package var sensors: [VirtualSensor] {
        description.hasGyroscope ? [.accelerometer, .gyroscope] : [.accelerometer]
    }
    package var isPlugged: Bool { file != nil }
    package var descriptor: Int32? { nil }
    package var isWanted: Bool { true }
    package var isDriven: Bool { true }

    package func plug() throws(SystemError) {
        guard file == nil else { return }
        let opened = try open()
        created = try create(opened, description)
        file = opened
        beginNanoseconds = nil
    }

    package func unplug() {
        if let created { libevdev_uinput_destroy(created) }
        created = nil
        file = nil
    }

    package func serve() throws(SystemError) -> Bool { false }

    package func send(
        _ sensor: VirtualSensor, _ values: SIMD3<Double>, timeNanoseconds: Int64
    ) throws(SystemError) -> Bool {
        guard let file else { return false }
        if sensor == .gyroscope, description.hasGyroscope {
            // It is sent in one frame with the accelerometer, whose sample follows.
            guard let counts = sensor.counts(values, in: -Self.turnLimit...Self.turnLimit) else { return false }
            turn = counts
            return true
        }
        guard sensor == .accelerometer, let counts = sensor.counts(values, in: -Self.limit...Self.limit) else {
            return false
        }
        let begin = beginNanoseconds ?? timeNanoseconds
        beginNanoseconds = begin
        var frame: [input_event] = []
        for axis in 0..<3 { frame.append(Self.event(EV_ABS, ABS_X + Int32(axis), counts[axis])) }
        if description.hasGyroscope {
            for axis in 0..<3 { frame.append(Self.event(EV_ABS, ABS_RX + Int32(axis), turn[axis])) }
        }
        if description.hasTime {
            // The counter wraps, like that of a real device.
            let microseconds = Int32(truncatingIfNeeded: (timeNanoseconds - begin) / 1000)
            frame.append(Self.event(EV_MSC, MSC_TIMESTAMP, microseconds))
        }
        frame.append(Self.event(EV_SYN, SYN_REPORT, 0))
        // A single write, for which libevdev has no function, so that a reader sees whole frames.
        try systemCall("write") { write(file.raw, frame, frame.count * MemoryLayout<input_event>.stride) }
        return true
    }

    /// An event without a time, which the kernel adds.
    private static func event(_ type: Int32, _ code: Int32, _ value: Int32) -> input_event {
        var event = input_event()
        event.type = UInt16(type)
        event.code = UInt16(code)
        event.value = value
        return event
    }

    /// Creates the device in the kernel; libevdev_uinput_destroy removes and frees it.
    package static func create(_ file: Descriptor, _ description: Description) throws(SystemError) -> OpaquePointer? {
        guard cevdev_problem() == nil else {
            throw SystemError(code: ELIBACC, call: "loading libevdev.so.2 (Debian has it in libevdev2)")
        }
        guard let device = libevdev_new() else { throw SystemError(code: ENOMEM, call: "libevdev_new") }
        defer { libevdev_free(device) }
        libevdev_set_name(device, description.name)
        libevdev_set_id_bustype(device, Int32(VirtualIdentity.bus))
        libevdev_set_id_vendor(device, Int32(VirtualIdentity.vendor))
        libevdev_set_id_product(device, Int32(VirtualIdentity.accelerometer))
        libevdev_set_id_version(device, Int32(VirtualIdentity.version))
        libevdev_enable_property(device, UInt32(INPUT_PROP_ACCELEROMETER))
        func enable(_ axes: ClosedRange<Int32>, limit: Int32, resolution: Int32) {
            var range = input_absinfo()
            range.minimum = -limit
            range.maximum = limit
            range.resolution = resolution
            for axis in axes { libevdev_enable_event_code(device, UInt32(EV_ABS), UInt32(axis), &range) }
        }
        enable(ABS_X...ABS_Z, limit: limit, resolution: resolution)
        if description.hasGyroscope { enable(ABS_RX...ABS_RZ, limit: turnLimit, resolution: turnResolution) }
        if description.hasTime { libevdev_enable_event_code(device, UInt32(EV_MSC), UInt32(MSC_TIMESTAMP), nil) }
        var created: OpaquePointer?
        let code = libevdev_uinput_create_from_device(device, file.raw, &created)
        guard code == 0 else { throw SystemError(code: -code, call: "UI_DEV_CREATE") }
        return created
    }
}
