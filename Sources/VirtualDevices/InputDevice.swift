import CVirtual
package import LinuxSystem

/// An accelerometer of the input layer.
package final class InputDevice: VirtualDevice {
    /// What it is.
    package struct Description: Sendable, Equatable {
        /// What the kernel calls the device.
        package var name = "Binnacle accelerometer"
        /// Whether a frame carries the device's own counter of microseconds.
        package var hasTime = true

        /// The longest name that fits, in bytes.
        package static let longestName = 79

        package init() {}
    }

    /// Counts in a g, the unit in which the input layer has the resolution of an accelerometer.
    static let resolution: Int32 = 1000
    /// The axes go from −32 to 32 g.
    static let limit: Int32 = 32_000

    private let description: Description
    private let open: () throws(SystemError) -> Descriptor
    private let create: (Descriptor, Description) throws(SystemError) -> Void
    private var file: Descriptor?
    /// The counter begins with the device.
    private var beginNanoseconds: Int64?

    /// Describes a device; the kernel gets it with ``plug()``.
    ///
    /// - Parameters:
    ///   - description: Its name and frames.
    ///   - open: Opens `/dev/uinput` for writing.
    ///   - create: Makes the device with what was opened; a test, whose file is a socket, has nothing to make.
    package init(
        _ description: Description, open: @escaping () throws(SystemError) -> Descriptor,
        create: @escaping (Descriptor, Description) throws(SystemError) -> Void = InputDevice.create
    ) {
        self.description = description
        self.open = open
        self.create = create
    }

    deinit {
        unplug()
    }

    package var sensors: [VirtualSensor] { [.accelerometer] }
    package var isPlugged: Bool { file != nil }
    package var descriptor: Int32? { nil }
    package var isWanted: Bool { true }
    package var isDriven: Bool { true }

    package func plug() throws(SystemError) {
        guard file == nil else { return }
        let opened = try open()
        try create(opened, description)
        file = opened
        beginNanoseconds = nil
    }

    package func unplug() {
        guard let file else { return }
        _ = cvirtual_input_destroy(file.raw)
        self.file = nil
    }

    package func serve() throws(SystemError) -> Bool { false }

    package func send(
        _ sensor: VirtualSensor, _ values: SIMD3<Double>, timeNanoseconds: Int64
    ) throws(SystemError) -> Bool {
        guard let file, sensor == .accelerometer, let counts = sensor.counts(values, in: -Self.limit...Self.limit)
        else { return false }
        let begin = beginNanoseconds ?? timeNanoseconds
        beginNanoseconds = begin
        // It wraps around, as devices' counters do.
        var microseconds = UInt32(truncatingIfNeeded: (timeNanoseconds - begin) / 1000)
        let raw = file.raw
        let hasTime = description.hasTime
        try systemCall("write") {
            hasTime
                ? cvirtual_input_frame(raw, counts.x, counts.y, counts.z, &microseconds)
                : cvirtual_input_frame(raw, counts.x, counts.y, counts.z, nil)
        }
        return true
    }

    /// Makes the device with the kernel.
    package static func create(_ file: Descriptor, _ description: Description) throws(SystemError) {
        try systemCall("UI_DEV_CREATE") {
            description.name.withCString { name in
                var identity = cvirtual_identity(
                    name: name, bus: VirtualIdentity.bus, vendor: VirtualIdentity.vendor,
                    product: VirtualIdentity.accelerometer, version: VirtualIdentity.version)
                return cvirtual_input_create(
                    file.raw, &identity, limit, resolution, description.hasTime ? 1 : 0)
            }
        }
    }
}
