import Binnacle
import Glibc

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
    }

    /// Opens the device: its event node, its buffer, or else its single values.
    ///
    /// - Parameter tell: Called with what a poller says, on its thread.
    /// - Returns: The open device, and what a person should know.
    /// - Throws: ``SensorFailure`` when it can be read in no way.
    func open(
        tell: @escaping @Sendable (PollOutcome) -> Void
    ) throws(SensorFailure) -> (opened: Opened, notices: [String]) {
        switch device.interface {
        case .evdev: return (.evdev(try openEvent()), [])
        case .iio: break
        }
        // While it is on, many drivers refuse single values, and the sensor costs power.
        try? abandonedControls?.write("0", to: "enable")
        guard !isPolled, !settings.isPolled, IIOBufferDirectory.find(in: device.directory, for: kinds) != nil,
            device.node != nil
        else { return (.poller(try openPoller(tell)), []) }
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
                .poller(try openPoller(tell)),
                ["its buffer cannot be used, so single values are read instead: \(refusal.description)"]
            )
        } catch {
            // Without single values, why there is no buffer is what matters.
            throw error.category == .description && IIODevice(device).canPoll(kinds[0]) ? error : refusal
        }
    }

    private func openPoller(_ tell: @escaping @Sendable (PollOutcome) -> Void) throws(SensorFailure) -> IIOPoller {
        try IIOPoller(device: device, kinds: kinds, settings: settings, tell: tell)
    }

    private func openEvent() throws(SensorFailure) -> Descriptor {
        guard let node = device.node else { throw SensorFailure(.missing, "\(device.path): has no event node") }
        do throws(SystemError) {
            return try Descriptor(path: node, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            throw Permission.explain(SensorFailure(error), node)
        }
    }
}
