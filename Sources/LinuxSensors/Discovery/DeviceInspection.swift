package import Binnacle
import Glibc
import LinuxSystem

/// What would become of a device if it were opened now, found out without changing anything.
package struct DeviceInspection: Sendable {
    /// How samples are taken.
    package enum Mode: String, Sendable {
        /// From the kernel's buffer, each one.
        case buffer
        /// Single values through sysfs, now and then.
        case poll
        /// From the input layer.
        case evdev
    }

    /// Whether it can be used.
    package enum State: String, Sendable {
        /// It can.
        case ready
        /// Not by this process.
        case denied
        /// Not by anybody, because what the kernel says of it makes no sense.
        case unusable
    }

    /// One channel.
    package struct Channel: Sendable, Equatable {
        /// The kernel's name of it.
        package let name: String
        /// How it lies in a scan; `nil` without a buffer.
        package let type: String?
        /// What a raw value is multiplied with, into m/s² or gauss.
        package let scale: Double
        /// What is added to a raw value before.
        package let offset: Double
    }

    /// The device.
    package let device: SensorDevice
    /// How samples would be taken.
    package internal(set) var mode: Mode
    /// The channels that would be used.
    package internal(set) var channels: [Channel] = []
    /// The device's rate now, in Hz, when it tells.
    package internal(set) var rateHz: Double?
    /// The mount matrix of each kind, and where it was found.
    package internal(set) var matrices: [(kind: SampleKind, matrix: MountMatrix, source: String?)] = []
    /// Whether it can be used.
    package internal(set) var state = State.ready
    /// Why it cannot be used, or not in the best way, and what to do about it.
    package internal(set) var reason: String?

    /// Looks at a device.
    ///
    /// This may take as long as a sleeping device needs to wake up.
    package init(_ device: SensorDevice) {
        self.device = device
        mode = device.interface == .evdev ? .evdev : .buffer
        do throws(SensorFailure) {
            switch device.interface {
            case .iio: try lookAtIIO()
            case .evdev: try lookAtEvdev()
            }
        } catch {
            state = error.category == .permission ? .denied : .unusable
            reason = error.description
        }
    }

    private mutating func lookAtIIO() throws(SensorFailure) {
        let iio = IIODevice(device)
        let buffer = IIOBufferDirectory.find(in: device.directory, for: device.kinds)
        let canPoll = device.kinds.allSatisfy(iio.canPoll)
        for kind in device.kinds {
            if rateHz == nil { rateHz = SamplingFrequency(kind, of: device.directory)?.current }
            for name in IIODevice.channels(kind) {
                channels.append(
                    Channel(
                        name: name, type: buffer.flatMap { try? $0.elements.text(name + "_type") },
                        scale: try iio.scale(name, kind), offset: try iio.offset(name, kind)))
            }
            let found = try iio.matrix(kind)
            matrices.append((kind, found.matrix, found.source))
        }
        guard let buffer, let node = device.node else {
            mode = .poll
            guard canPoll else {
                throw SensorFailure(
                    .description, "\(device.path): has neither a buffer nor values that can be read singly")
            }
            return
        }
        do throws(SensorFailure) {
            for channel in channels { _ = try buffer.channel(channel.name) }
            let controls = [buffer.controls.path("enable"), buffer.elements.path((channels.first?.name ?? "") + "_en")]
            try Permission.check(node, writing: false)
            for control in controls { try Permission.check(control, writing: true) }
        } catch {
            guard canPoll else { throw error }
            mode = .poll
            reason = error.description
        }
    }

    private mutating func lookAtEvdev() throws(SensorFailure) {
        guard let node = device.node else { throw SensorFailure(.missing, "\(device.path): has no event node") }
        try Permission.check(node, writing: false)
        let file = try EvdevHandle.open(device)
        let handle = try EvdevHandle(file, device)
        channels = zip(["ABS_X", "ABS_Y", "ABS_Z"], try handle.scales()).map {
            Channel(name: $0, type: nil, scale: $1, offset: 0)
        }
        let matrix = try handle.matrix()
        matrices = [(.accelerometer, matrix.matrix, matrix.source)]
    }
}
