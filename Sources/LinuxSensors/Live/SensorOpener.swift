import Binnacle
import Glibc
import LinuxSystem

struct OpenedDevice: Sendable {
    enum Access: Sendable {
        case buffer(OpenBuffer)
        case poller(IIOPoller)
        case evdev(Transfer<EvdevReader>)

        var method: SensorSlot.Method {
            switch self {
            case .buffer(let buffer): .buffer(canPoll: buffer.canPoll)
            case .poller: .polling
            case .evdev: .evdev
            }
        }

        func close() {
            switch self {
            case .buffer(let buffer): buffer.disable()
            case .poller(let poller): poller.stop()
            case .evdev: break
            }
        }
    }

    let access: Access
    /// The kinds that are read, in the order of the reader's streams.
    let kinds: [SampleKind]
    var notices: [String]
    /// Whether single values are read because the buffer was refused.
    var isSubstitute = false
    /// How the axes of each kind but the accelerometer are turned to the device's, as text.
    var axes: [SampleKind: String] = [:]
}

/// Opens a device in the best way available, on a worker thread, because it may block.
struct SensorOpener: Sendable {
    let device: SensorDevice
    /// The required kinds.
    let kinds: [SampleKind]
    /// The kinds that are read if the device has them.
    let optionalKinds: [SampleKind]
    /// The kinds that are read for another sensor, if that costs this one nothing.
    let guestKinds: [SampleKind]
    let settings: SensorSettings
    /// Whether to skip the buffer, because it gave no samples.
    let isPolled: Bool
    /// What an earlier opening has left enabled.
    let abandoned: BufferChanges?
    /// The last stamp of the sensor, a lower limit for new ones.
    let floor: Int64?

    /// Opens the device: its event node, its buffer, or else its single values.
    func open() throws(SensorFailure) -> OpenedDevice {
        var opened = try openMost()
        for kind in opened.kinds where kind != .accelerometer { opened.axes[kind] = try? axes(kind) }
        return opened
    }

    private func axes(_ kind: SampleKind) throws(SensorFailure) -> String {
        let (matrix, factor) = try settings.mounting(kind) { () throws(SensorFailure) in
            guard device.interface == .iio else { return try EvdevHandle.matrix(of: device).matrix }
            return try IIODevice(device).matrix(kind).matrix
        }
        return factor < 0 ? "-(\(matrix))" : matrix.description
    }

    /// Opens it with as many kinds as can be read.
    private func openMost() throws(SensorFailure) -> OpenedDevice {
        // While a buffer is enabled, many drivers refuse single values, and the sensor draws power.
        abandoned?.undo()
        let more = optionalKinds.filter(device.kinds.contains)
        do throws(SensorFailure) {
            let opened = try open(kinds + more + guestKinds)
            return withoutGuests(opened, kinds + more) ?? opened
        } catch {
            // What cannot be read, or has an invalid description, may be a kind that is not required.
            guard error.category == .description || error.category == .inputOutput, !kinds.isEmpty else { throw error }
            for fewer in [more, guestKinds, []] where fewer.count < more.count + guestKinds.count {
                guard var opened = try? open(kinds + fewer) else { continue }
                let left = (more + guestKinds).filter { !fewer.contains($0) }
                let names = left.map(\.rawValue).joined(separator: " and ")
                opened.notices.append("its \(names) cannot be used: \(error.description)")
                return opened
            }
            throw error
        }
    }

    /// The device with its buffer, where only single values can be read of all kinds with those of another sensor.
    private func withoutGuests(_ opened: OpenedDevice, _ kinds: [SampleKind]) -> OpenedDevice? {
        guard case .poller = opened.access, !guestKinds.isEmpty, var own = try? open(kinds) else { return nil }
        guard case .buffer = own.access else {
            own.access.close()
            return nil
        }
        opened.access.close()
        let names = guestKinds.map(\.rawValue).joined(separator: " and ")
        own.notices.append("its \(names) is not read, because its buffer does not take it")
        return own
    }

    private func open(_ kinds: [SampleKind]) throws(SensorFailure) -> OpenedDevice {
        if device.interface == .evdev {
            let reader = try EvdevReader(
                device, kinds: kinds, settings: settings, now: SystemClock.monotonic(), floor: floor)
            return OpenedDevice(access: .evdev(Transfer(reader)), kinds: kinds, notices: [])
        }
        guard !isPolled, !settings.isPolled, IIOBufferDirectory.find(in: device.directory, for: kinds) != nil else {
            return OpenedDevice(access: .poller(try openPoller(kinds)), kinds: kinds, notices: sleeplessness)
        }
        guard device.node != nil else {
            let notice = "\(device.missingNode): single values are read instead of its buffer"
            return OpenedDevice(access: .poller(try openPoller(kinds)), kinds: kinds, notices: [notice] + sleeplessness)
        }
        let refusal: SensorFailure
        do throws(SensorFailure) {
            let (buffer, notices) = try IIOOpener(device: device, kinds: kinds, settings: settings).openBuffer()
            return OpenedDevice(access: .buffer(buffer), kinds: kinds, notices: notices)
        } catch {
            refusal = error
        }
        guard refusal.category != .removed, refusal.category != .busy else { throw refusal }
        do throws(SensorFailure) {
            return OpenedDevice(
                access: .poller(try openPoller(kinds)), kinds: kinds,
                notices: ["its buffer cannot be used, so single values are read instead: \(refusal.description)"]
                    + sleeplessness,
                isSubstitute: true)
        } catch {
            // For a device without single values the refusal of its buffer explains more.
            throw error.category == .description && kinds.allSatisfy(IIODevice(device).canPoll) ? error : refusal
        }
    }

    /// Says of single values that they go on at rest, when that is not what was wanted.
    private var sleeplessness: [String] {
        let words = settings.chip?.withoutChip(because: "single values are read, and there is no buffer to switch off")
        return words.map { [$0] } ?? []
    }

    private func openPoller(_ kinds: [SampleKind]) throws(SensorFailure) -> IIOPoller {
        switchBufferOff()
        let needed = 1 / max(settings.updateInterval / .seconds(1), 1e-3)
        for kind in kinds {
            // Without permission the rate stays and values repeat, which is better than none.
            try? SamplingFrequency(kind, of: device.directory)?.raise(to: needed)
        }
        return try IIOPoller(device: device, kinds: kinds, settings: settings)
    }

    /// Disables a buffer that was left enabled, because many drivers then refuse single values.
    ///
    /// If a program still reads the buffer, it has the node open, and opening it here fails.
    private func switchBufferOff() {
        for buffer in IIOBufferDirectory.all(in: device.directory) {
            guard (try? buffer.controls.text("enable")) == "1", let node = device.node,
                let file = try? Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
            else { continue }
            try? buffer.controls.write("0", to: "enable")
            withExtendedLifetime(file) {}
        }
    }
}
