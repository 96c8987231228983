import Binnacle
import CLinux
import Glibc
import LinuxSystem
import Synchronization

/// The settings of a chip's event: those that are wanted, and those that were there before.
///
/// All calls may block.
struct ChipArming: Sendable {
    let plan: ChipWatchPlan
    fileprivate let folder: SysfsDirectory
    private let before: [ChipWatchPlan.Setting]

    /// Notes what is set now.
    fileprivate init(_ plan: ChipWatchPlan, of device: SensorDevice) throws(SensorFailure) {
        self.plan = plan
        folder = device.directory.directory("events")
        var before: [ChipWatchPlan.Setting] = []
        for name in plan.values.map(\.name) + plan.switches + plan.lasting {
            try Permission.check(folder.path(name), writing: true)
            before.append(.init(name: name, text: try folder.text(name)))
        }
        self.before = before
    }

    /// Sets the thresholds and switches the event on.
    func arm() throws(SensorFailure) {
        // Some drivers refuse a threshold while the event is on.
        try disarm()
        for value in plan.values { try folder.ensure(value.name, is: value.text) }
        try switchOn(plan.switches)
    }

    /// Switches events on, which is read back: a driver may take 1 and stay at 0.
    fileprivate func switchOn(_ names: [String]) throws(SensorFailure) {
        for name in names where try folder.ensure(name, is: "1") != "1" {
            throw SensorFailure(.inputOutput, "\(folder.path(name)): stays off after it was switched on")
        }
    }

    /// The number of steps that the chip has counted so far.
    func stepCount() throws(SensorFailure) -> Int {
        let name = "../in_steps_input"
        let number = try folder.value(name)
        guard let count = UInt32(exactly: number) else {
            throw SensorFailure(.description, "\(folder.path(name)): \(number) is no number of steps")
        }
        return Int(count)
    }

    /// Switches the event off.
    func disarm() throws(SensorFailure) {
        for name in plan.switches { try folder.ensure(name, is: "0") }
    }

    /// Puts back what other programs had set; does nothing for a removed device.
    func restore() {
        for name in plan.switches + plan.lasting { _ = try? folder.ensure(name, is: "0") }
        for setting in before { _ = try? folder.ensure(setting.name, is: setting.text) }
    }
}

/// Refuses to switch a device that is closed: what begins later would leave the buffer or the event on.
final class SwitchGate: Sendable {
    private let isClosed = Mutex(false)

    /// Runs the work, unless the device is closed; ``close()`` waits for it.
    func run(_ work: () throws(SensorFailure) -> Void) throws(SensorFailure) {
        try isClosed.withLock { isClosed throws(SensorFailure) in
            if !isClosed { try work() }
        }
    }

    /// Waits for what runs; from then on nothing begins.
    func close() { isClosed.withLock { $0 = true } }
}

/// The events of a chip's open device.
struct ChipWatch: Sendable {
    /// One event as the kernel reports it, `struct iio_event_data` of linux/iio/events.h.
    struct Record: Equatable {
        let id: UInt64
        let timeNanoseconds: Int64

        /// The kernel's word for the type; `nil` when it is unknown.
        var type: String? {
            let number = Int(id >> 56)
            return number < ChipEvent.types.count ? ChipEvent.types[number] : nil
        }
        /// Whether it is a magnitude that falls: free fall, where it is of all axes at once.
        var isFall: Bool { isOfAccelerometer && type == "mag" && id >> 48 & 0x7F == 2 }
        /// The number of taps; `nil` for another event.
        var taps: Int? { isOfAccelerometer && type == "gesture" ? [4: 1, 5: 2][id >> 48 & 0x7F] : nil }
        /// Whether it is of an accelerometer: IIO_ACCEL is 3.
        var isOfAccelerometer: Bool { id >> 32 & 0xFF == 3 }
        /// Whether the number of steps has changed: IIO_STEPS is 20.
        var isOfSteps: Bool { type == "change" && id >> 32 & 0xFF == 20 }
        /// Whether an activity is that of someone who runs, jogs or walks (IIO_MOD_RUNNING is 27), and not rest (30); `nil` for
        /// what is no activity (IIO_ACTIVITY is 19), or another one.
        var isCarried: Bool? {
            guard type == "change", id >> 32 & 0xFF == 19 else { return nil }
            return [27: true, 28: true, 29: true, 30: false][id >> 40 & 0xFF]
        }
    }

    let arming: ChipArming
    /// The kernel's queue of events, of 16 records.
    let events: Descriptor
    /// Reads single values, for finding out whether the events come.
    let values: PolledValues
    /// What switches samples and event, on any thread; one for each opening.
    let gate = SwitchGate()
    /// The number of steps that the chip had counted when it was opened.
    let firstStepCount: Int

    /// Takes over the events of an open device, whose clock is set: later it could not be changed.
    ///
    /// `file` is the device's node, as it was opened.
    init(
        _ plan: ChipWatchPlan, of device: SensorDevice, file: Descriptor, node: String, values: PolledValues
    ) throws(SensorFailure) {
        self.values = values
        do throws(SystemError) {
            events = Descriptor(owning: try systemCall("ioctl", path: node) { clinux_iio_events(file.raw) })
        } catch {
            guard error.code == EBUSY else { throw SensorFailure(error) }
            throw SensorFailure(
                .busy, "\(node): another program has its events" + DeviceHolder.ofEvents(node: node),
                code: EBUSY)
        }
        // The kernel's descriptor blocks, whatever the device's does.
        _ = fcntl(events.raw, F_SETFL, O_NONBLOCK)
        _ = fcntl(events.raw, F_SETFD, FD_CLOEXEC)
        arming = try ChipArming(plan, of: device)
        do throws(SensorFailure) {
            try arming.switchOn(plan.lasting)
            if plan.staysArmed { try arming.arm() }
            firstStepCount = plan.reports.contains(.steps) ? try arming.stepCount() : 0
        } catch {
            arming.restore()
            throw error
        }
    }

    /// Reads the events that have come since the last call, without blocking.
    func read(_ found: (Record) -> Void) throws(SensorFailure) {
        while true {
            var words: (UInt64, Int64) = (0, 0)
            do throws(SystemError) {
                let count = try systemCall("read", path: arming.folder.path) {
                    withUnsafeMutableBytes(of: &words) { Glibc.read(events.raw, $0.baseAddress, $0.count) }
                }
                guard count == 16 else { return }
            } catch {
                guard error.code == EAGAIN else { throw SensorFailure(error) }
                return
            }
            found(Record(id: words.0, timeNanoseconds: words.1))
        }
    }
}
