import Glibc
import PlainText
import Synchronization

/// The trigger that makes a device take samples.
struct IIOTrigger: Sendable {
    private let device: SysfsDirectory
    private let deviceName: String
    /// The folder of the chip, whose own triggers are beside the device.
    private let chip: SysfsDirectory
    private let root: String

    /// The name of the first timer and the prefix of the others, as binnacle-trigger.service makes them.
    private static let timerName = "binnacle"
    private static let choice = Mutex(())

    init(_ device: SensorDevice) {
        self.device = device.directory
        deviceName = device.name
        chip = device.directory.resolved.parent
        root = device.root
    }

    /// Whether the device supports triggers.
    var isTaken: Bool { device.has("trigger/current_trigger") }

    /// Whether the current trigger is a timer, possibly with the rate of an earlier opening.
    var isTimer: Bool { current.map(Self.isTimer) ?? false }

    /// The rate of the current trigger in Hz; `nil` where it has none of its own.
    var rateHz: Double? {
        guard let current, let trigger = all().first(where: { $0.name == current }) else { return nil }
        return SamplingFrequency(trigger: trigger.directory).current
    }

    var current: String? { try? device.textIfPresent("trigger/current_trigger") }

    func set(_ name: String) throws(SensorFailure) {
        guard all().contains(where: { $0.name == name }) else {
            throw SensorFailure(
                .description,
                "\(device.path): there is no trigger '\(name.printable)'; found are \(Self.names(of: all()))")
        }
        try device.write(name, to: "trigger/current_trigger")
    }

    /// Sets the device's own trigger if it has one and none is set; returns whether a trigger is set afterwards.
    func setOwn() throws(SensorFailure) -> Bool {
        guard isTaken else { return true }
        let triggers = all()
        if let current {
            // Write the name even if it is set: after a trigger was removed and made again, the device keeps the removed one,
            // whose use crashes the kernel. A name without a trigger is cleared for the same reason.
            let isThere = triggers.contains { $0.name == current }
            try device.write(isThere ? current : "\n", to: "trigger/current_trigger")
            if isThere { return true }
        }
        let number = device.path.split(separator: ":").last.map { $0.drop { !$0.isNumber } } ?? ""
        let wanted = ["\(deviceName)-dev\(number)", "\(deviceName)-trigger"]
        let own =
            wanted.lazy.compactMap { name in triggers.first { $0.name == name } }.first
            ?? triggers.first(where: isOfChip)
        guard let own else { return false }
        try device.write(own.name, to: "trigger/current_trigger")
        return true
    }

    /// Whether a trigger is the chip's by its place in sysfs, and none of its events.
    private func isOfChip(_ trigger: (name: String, directory: SysfsDirectory)) -> Bool {
        let isEvent = ["any-motion", "peak"].contains(where: trigger.name.contains)
        let siblings = device.siblings.compactMap { try? $0.textIfPresent("name") }
        let isOfSibling = siblings.contains { $0 != deviceName && trigger.name.hasPrefix($0 + "-") }
        // What has no parent, as a timer, is in /sys/devices itself.
        return !isEvent && !isOfSibling && !chip.path.hasSuffix("/devices") && trigger.directory.resolved.parent == chip
    }

    /// Sets a high-resolution timer that no other device uses, or a new one, and returns its rate in Hz.
    ///
    /// A shared timer would have one rate for all devices. A kernel with the usual limit also gives a trigger only two devices:
    /// it lets the third enable its buffer, delivers nothing to it, and cannot open it afterwards.
    func setTimer(rateHz: Double) throws(SensorFailure) -> Double? {
        // Devices are opened in parallel, and two must not choose the same free timer.
        let timer = try Self.choice.withLock { _ throws(SensorFailure) in
            let timer = try chooseTimer()
            // Write the name even if it is set: after a timer was removed and made again, the device keeps the removed one.
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
        // A timer of another device is free while that device's buffer is off.
        let idle = timers.first { timer in
            !others.contains { $0.trigger == timer.name && IIOBufferDirectory.isAnyOn(in: $0.directory) }
        }
        if let idle { return idle }
        let further = all().filter { !Self.isTimer($0.name) }
        let found = further.isEmpty ? "" : " (found are \(Self.names(of: further)))"
        // Loading modules and making a folder in configfs require root.
        throw SensorFailure(
            folder.has(".") ? .permission : .description,
            "\(device.path): needs a trigger and has none of its own\(found), "
                + (timers.isEmpty
                    ? "and no timer can be made in \(folder.path): start binnacle-trigger.service, which makes some"
                    : "and all \(timers.count) timers serve other devices: have binnacle-trigger.service make more"))
    }

    private static func names(of triggers: [(name: String, directory: SysfsDirectory)]) -> String {
        triggers.map { "'\($0.name.printable)'" }.joined(separator: ", ")
    }

    private static func isTimer(_ name: String) -> Bool { name == timerName || name.hasPrefix(timerName + "-") }

    private func all() -> [(name: String, directory: SysfsDirectory)] {
        SysfsDirectory.iioDevices(under: root).directories("trigger").compactMap { directory in
            (try? directory.textIfPresent("name")).map { ($0, directory) }
        }
    }
}
