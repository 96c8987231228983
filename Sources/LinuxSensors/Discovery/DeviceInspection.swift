package import Binnacle
import Glibc

/// The way in which a device would be read if it were opened now; the inspection changes nothing.
package struct DeviceInspection: Sendable {
    /// The method of reading.
    package enum Mode: String, Sendable {
        /// Every sample, from the kernel's buffer.
        case buffer
        /// Single values, through sysfs.
        case poll
        /// Events of the input layer.
        case evdev
    }

    /// Whether it can be used.
    package enum State: String, Sendable {
        /// The device can be used.
        case ready
        /// This process may not use the device.
        case denied
        /// The kernel's description of the device is invalid.
        case unusable
    }

    package struct Channel: Sendable, Equatable {
        /// The kernel's name for it.
        package let name: String
        /// The layout in a scan; `nil` without a buffer.
        package let type: String?
        /// The factor of a raw value to m/s², gauss or rad/s.
        package let scale: Double
        /// The offset added to a raw value before scaling.
        package let offset: Double
    }

    package let device: SensorDevice
    /// The method of reading.
    package internal(set) var mode: Mode
    /// The kinds that would be read; one with an invalid description is omitted where others are left.
    package internal(set) var kinds: [SampleKind] = []
    /// The channels that would be used.
    package internal(set) var channels: [Channel] = []
    /// The device's current rate in Hz; `nil` when it cannot be read.
    package internal(set) var rateHz: Double?
    private var offeredHz: Double?
    package internal(set) var matrices: [(kind: SampleKind, matrix: MountMatrix, source: String?)] = []
    /// What the chip can report by itself; `nil` when it reports nothing.
    package let events: ChipEvents?
    /// Whether it can be used.
    package internal(set) var state = State.ready
    /// Why the device cannot be used, or not in the best way, and the remedy.
    package internal(set) var reason: String?

    /// The highest rate in Hz at which it would be read with these settings; `nil` when that is not known.
    package func fastestHz(with settings: SensorSettings) -> Double? {
        mode == .poll || settings.isPolled ? .seconds(1) / settings.updateInterval : offeredHz
    }

    /// Inspects a device; may block until a sleeping device has woken up.
    package init(_ device: SensorDevice) {
        self.device = device
        events = ChipEvents(device)
        mode = device.interface == .evdev ? .evdev : .buffer
        do throws(SensorFailure) {
            switch device.interface {
            case .iio: try inspectIIO()
            case .evdev: try inspectEvdev()
            }
        } catch {
            state = error.category == .permission ? .denied : .unusable
            reason = error.description
        }
    }

    private mutating func inspectIIO() throws(SensorFailure) {
        let iio = IIODevice(device)
        let (device, buffer) = (device, IIOBufferDirectory.find(in: device.directory, for: device.kinds))
        rateHz = device.kinds.lazy.compactMap { SamplingFrequency($0, of: device.directory)?.current }.first
        offeredHz = device.kinds.lazy.compactMap { SamplingFrequency($0, of: device.directory)?.fastest }.max()
        try describe { kind throws(SensorFailure) in
            var channels: [Channel] = []
            for name in IIODevice.channels(kind) {
                channels.append(
                    Channel(
                        name: name, type: buffer.flatMap { try? $0.elements.text(name + "_type") },
                        scale: try iio.scale(name, kind), offset: try iio.offset(name, kind)))
            }
            return (channels, try iio.matrix(kind))
        }
        let canPoll = kinds.allSatisfy(iio.canPoll)
        guard let buffer, let node = device.node else {
            mode = .poll
            if buffer != nil { reason = [reason, device.missingNode].compactMap { $0 }.joined(separator: "; ") }
            guard canPoll else {
                throw SensorFailure(
                    .description,
                    reason.map { "\(device.path): \($0)" }
                        ?? "\(device.path): has neither a buffer nor values that can be read singly")
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
            reason = [reason, error.description].compactMap { $0 }.joined(separator: "; ")
        }
    }

    /// Describes each kind; one that cannot be used does not affect the others.
    private mutating func describe(
        _ look: (SampleKind) throws(SensorFailure) -> ([Channel], (matrix: MountMatrix, source: String?))
    ) throws(SensorFailure) {
        var flaws: [String] = []
        for kind in device.kinds {
            do throws(SensorFailure) {
                let (channels, matrix) = try look(kind)
                self.channels += channels
                matrices.append((kind, matrix.matrix, matrix.source))
                kinds.append(kind)
            } catch {
                // The input layer's gyroscope is read with its accelerometer.
                let isNeeded = device.interface == .evdev && kind == .accelerometer
                flaws.append("its \(kind.rawValue) cannot be used: \(error.description)")
                guard !isNeeded, flaws.count < device.kinds.count else { throw error }
            }
        }
        if !flaws.isEmpty { reason = flaws.joined(separator: "; ") }
    }

    private mutating func inspectEvdev() throws(SensorFailure) {
        guard let node = device.node else { throw SensorFailure(.missing, "\(device.path): has no event node") }
        try Permission.check(node, writing: false)
        let file = try EvdevHandle.open(device)
        let handle = try EvdevHandle(file, device)
        let matrix = try EvdevHandle.matrix(of: device)
        try describe { kind throws(SensorFailure) in
            let channels = zip(EvdevHandle.axisNames(kind), try handle.scales(kind)).map {
                Channel(name: $0, type: nil, scale: $1, offset: 0)
            }
            return (channels, matrix)
        }
    }
}
