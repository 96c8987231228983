import Binnacle
import Glibc
import PlainText
import Synchronization

/// The trigger that makes a device take its samples.
struct IIOTrigger: Sendable {
    private let device: SysfsDirectory
    private let deviceName: String
    private let root: String

    /// The first timer's name and the beginning of the others', as binnacle-trigger.service makes them.
    private static let timerName = "binnacle"
    private static let choice = Mutex(())

    init(_ device: SensorDevice) {
        self.device = device.directory
        deviceName = device.name
        root = device.root
    }

    /// Whether the device takes a trigger at all.
    var isTaken: Bool { device.has("trigger/current_trigger") }

    /// Whether a timer is set, perhaps with the rate of an earlier opening.
    var isTimer: Bool { current.map(Self.isTimer) ?? false }

    /// The name of the trigger that is set.
    var current: String? { try? device.textIfPresent("trigger/current_trigger") }

    func set(_ name: String) throws(SensorFailure) {
        guard all().contains(where: { $0.name == name }) else {
            let found = all().map { "'\($0.name.printable)'" }.joined(separator: ", ")
            throw SensorFailure(
                .description, "\(device.path): there is no trigger '\(name.printable)'; found are \(found)")
        }
        try device.write(name, to: "trigger/current_trigger")
    }

    /// Sets the device's own trigger, when it has one and none is set.
    ///
    /// - Returns: Whether a trigger is set afterwards.
    func setOwn() throws(SensorFailure) -> Bool {
        guard isTaken else { return true }
        let triggers = all()
        if let current {
            // Written again: one that was removed and made again is another one, and the device keeps the old one, whose
            // use crashes the kernel. One that does not exist is cleared for the same reason.
            let isThere = triggers.contains { $0.name == current }
            try device.write(isThere ? current : "\n", to: "trigger/current_trigger")
            if isThere { return true }
        }
        let number = device.path.split(separator: ":").last.map { $0.drop { !$0.isNumber } } ?? ""
        let wanted = ["\(deviceName)-dev\(number)", "\(deviceName)-trigger"]
        let own =
            wanted.lazy.compactMap { name in triggers.first { $0.name == name } }.first
            ?? triggers.first { $0.name.hasPrefix(deviceName + "-dev") }
        guard let own else { return false }
        try device.write(own.name, to: "trigger/current_trigger")
        return true
    }

    /// Sets a high-resolution timer as the trigger: one that no other device has, or a new one.
    ///
    /// One timer for all would have one rate for all. And a kernel built with the usual limit gives a trigger two
    /// devices: it lets the third one switch its buffer on, sends it nothing, and cannot open it afterwards.
    ///
    /// - Returns: The rate at which it runs, in Hz.
    func setTimer(rateHz: Double) throws(SensorFailure) -> Double? {
        // Devices are opened side by side, and two must not find the same timer free.
        let timer = try Self.choice.withLock { _ throws(SensorFailure) in
            let timer = try chooseTimer()
            // Also when the name is set: a timer that was removed and made again is another one, and the device keeps the
            // old one.
            try device.write(timer.name, to: "trigger/current_trigger")
            return timer.directory
        }
        return try SamplingFrequency(trigger: timer).set(rateHz)
    }

    private func chooseTimer() throws(SensorFailure) -> (name: String, directory: SysfsDirectory) {
        let timers = all().filter { Self.isTimer($0.name) }
        let devices = SysfsDirectory.iioDevices(under: root).directories("iio:device")
        let others = devices.filter { $0.name != device.name }.compactMap { other in
            (try? other.textIfPresent("trigger/current_trigger")).map { (trigger: $0, directory: other) }
        }
        let free = timers.filter { timer in !others.contains { $0.trigger == timer.name } }
        if let timer = free.first(where: { $0.name == current }) ?? free.first { return timer }
        let folder = SysfsDirectory(path: root + "/sys/kernel/config/iio/triggers/hrtimer")
        if access(folder.path, W_OK) == 0 {
            let names = [Self.timerName] + (1...timers.count + 1).map { "\(Self.timerName)-\($0)" }
            let name = names.first { name in !timers.contains { $0.name == name } } ?? Self.timerName
            try folder.makeDirectory(name)
            guard let timer = all().first(where: { $0.name == name }) else {
                throw SensorFailure(.inputOutput, "\(device.path): the trigger '\(name)' did not appear")
            }
            return timer
        }
        // A timer of another device is free while that one's buffer is off.
        let idle = timers.first { timer in
            !others.contains { $0.trigger == timer.name && IIOBufferDirectory.isAnyOn(in: $0.directory) }
        }
        if let idle { return idle }
        // Loading the modules, and making something in the folder, takes root.
        throw SensorFailure(
            folder.has(".") ? .permission : .description,
            "\(device.path): needs a trigger and has none of its own, "
                + (timers.isEmpty
                    ? "and no timer can be made in \(folder.path): start binnacle-trigger.service, which makes some"
                    : "and all \(timers.count) timers serve other devices: have binnacle-trigger.service make more"))
    }

    private static func isTimer(_ name: String) -> Bool { name == timerName || name.hasPrefix(timerName + "-") }

    private func all() -> [(name: String, directory: SysfsDirectory)] {
        SysfsDirectory.iioDevices(under: root).directories("trigger").compactMap { directory in
            (try? directory.textIfPresent("name")).map { ($0, directory) }
        }
    }
}
