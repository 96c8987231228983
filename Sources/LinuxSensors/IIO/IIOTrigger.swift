import Binnacle
import Glibc

/// The trigger that makes a device take its samples.
struct IIOTrigger: Sendable {
    private let device: SysfsDirectory
    private let deviceName: String
    private let root: String

    /// The timer's name, under which binnacle-trigger.service makes it, too.
    private static let timerName = "binnacle"

    init(_ device: SensorDevice) {
        self.device = device.directory
        deviceName = device.name
        root = device.root
    }

    /// Whether the device takes a trigger at all.
    var isTaken: Bool { device.has("trigger/current_trigger") }

    /// Whether the timer is set, perhaps from an earlier time and with that one's rate.
    var isTimer: Bool { current == Self.timerName }

    /// The name of the trigger that is set.
    var current: String? { (try? device.textIfPresent("trigger/current_trigger")) ?? nil }

    /// Sets the device's own trigger, when it has one and none is set.
    ///
    /// - Returns: Whether a trigger is set afterwards.
    func setOwn() throws(SensorFailure) -> Bool {
        guard isTaken else { return true }
        if current != nil { return true }
        let triggers = all()
        let number = device.path.split(separator: ":").last.map { $0.drop { !$0.isNumber } } ?? ""
        let wanted = ["\(deviceName)-dev\(number)", "\(deviceName)-trigger"]
        let own =
            wanted.lazy.compactMap { name in triggers.first { $0.name == name } }.first
            ?? triggers.first { $0.name.hasPrefix(deviceName + "-dev") }
        guard let own else { return false }
        try device.write(own.name, to: "trigger/current_trigger")
        return true
    }

    /// Sets a high-resolution timer as the trigger: one that is there under the name `binnacle`, or a new one.
    ///
    /// - Returns: The rate at which it runs, in Hz.
    func setTimer(rateHz: Double) throws(SensorFailure) -> Double? {
        let name = Self.timerName
        if !all().contains(where: { $0.name == name }) {
            let folder = SysfsDirectory(path: root + "/sys/kernel/config/iio/triggers/hrtimer")
            // Loading the modules, and making something in the folder, takes root.
            guard access(folder.path, W_OK) == 0 else {
                throw SensorFailure(
                    folder.has(".") ? .permission : .description,
                    "\(device.path): needs a trigger and has none of its own, and no timer can be made in "
                        + "\(folder.path): start binnacle-trigger.service, which makes one")
            }
            try folder.makeDirectory(name)
        }
        guard let timer = all().first(where: { $0.name == name }) else {
            throw SensorFailure(.inputOutput, "\(device.path): the trigger '\(name)' did not appear")
        }
        let rate = try SamplingFrequency(trigger: timer.directory).set(rateHz)
        try device.write(name, to: "trigger/current_trigger")
        return rate
    }

    private func all() -> [(name: String, directory: SysfsDirectory)] {
        let devices = SysfsDirectory(path: root + "/sys/bus/iio/devices")
        return devices.names().filter { $0.hasPrefix("trigger") }.compactMap { entry in
            let directory = devices.directory(entry)
            return ((try? directory.textIfPresent("name")) ?? nil).map { ($0, directory) }
        }
    }
}
