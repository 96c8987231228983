import Binnacle
import Glibc
import LinuxSystem

/// Opens a device on a worker thread, whichever way it can be read.
struct SensorOpener: Sendable {
    let device: SensorDevice
    let kinds: [SampleKind]
    let settings: SensorSettings
    /// Whether the buffer is passed over, because it was tried and says nothing.
    let isPolled: Bool
    /// The controls of the buffer that the device was read from until now, if it is still on.
    let abandonedControls: SysfsDirectory?

    /// A device that is open.
    enum Opened: Sendable {
        case buffer(OpenBuffer)
        case poller(IIOPoller)
        case evdev(Descriptor)

        /// Closes a device that nobody wants any more, on a worker thread, because sysfs may be slow.
        func discard() {
            // Out of threads, the buffer stays on; the next opening switches it off.
            if case .buffer = self { try? WorkerThread.start { discardHere() } } else { discardHere() }
        }

        /// Closes a device that nobody wants any more.
        func discardHere() {
            switch self {
            case .buffer(let buffer): buffer.disable()
            case .poller(let poller): poller.stop()
            case .evdev: break
            }
        }
    }

    /// Opens the device: its event node, its buffer, or else its single values.
    ///
    /// - Returns: The open device, and what a person should know.
    /// - Throws: ``SensorFailure`` when it can be read in no way.
    func open() throws(SensorFailure) -> (opened: Opened, notices: [String]) {
        switch device.interface {
        case .evdev: return (.evdev(try openEvent()), [])
        case .iio: break
        }
        // While it is on, many drivers refuse single values, and the sensor costs power.
        try? abandonedControls?.write("0", to: "enable")
        guard !isPolled, !settings.isPolled, IIOBufferDirectory.find(in: device.directory, for: kinds) != nil,
            device.node != nil
        else { return (.poller(try openPoller()), []) }
        let refusal: SensorFailure
        do throws(SensorFailure) {
            let (buffer, notices) = try IIOOpener(device: device, kinds: kinds, settings: settings).openBuffer()
            return (.buffer(buffer), notices)
        } catch {
            refusal = error
        }
        guard refusal.category != .removed, refusal.category != .busy else { throw refusal }
        do throws(SensorFailure) {
            return (
                .poller(try openPoller()),
                ["its buffer cannot be used, so single values are read instead: \(refusal.description)"]
            )
        } catch {
            // Without single values, why there is no buffer is what matters.
            throw error.category == .description && IIODevice(device).canPoll(kinds[0]) ? error : refusal
        }
    }

    private func openPoller() throws(SensorFailure) -> IIOPoller {
        switchBufferOff()
        return try IIOPoller(device: device, kinds: kinds, settings: settings)
    }

    /// Switches a buffer off that somebody has left on, because many drivers then refuse single values.
    ///
    /// Whoever still reads it has the node open, and is left in peace.
    private func switchBufferOff() {
        for buffer in IIOBufferDirectory.all(in: device.directory) {
            guard (try? buffer.controls.text("enable")) == "1", let node = device.node,
                let file = try? Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
            else { continue }
            try? buffer.controls.write("0", to: "enable")
            withExtendedLifetime(file) {}
        }
    }

    private func openEvent() throws(SensorFailure) -> Descriptor {
        guard let node = device.node else { throw SensorFailure(.missing, "\(device.path): has no event node") }
        return try mapError(SensorFailure.init) { () throws(SystemError) in
            try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
        }
    }
}
