import Binnacle
import LinuxSystem

/// A device's buffer that is configured, enabled and open.
struct OpenBuffer: Sendable {
    let file: Descriptor
    let node: String
    let scans: ScanDescription
    /// The device's rate; `nil` when it states none.
    let rateHz: Double?
    /// How long scans collect before they are read; `nil` when each scan wakes the reader.
    let period: PollingPeriod?
    /// The same while nothing moves; `nil` when it makes no difference.
    let restPeriod: PollingPeriod?
    /// Whether polling is possible instead.
    let canPoll: Bool
    /// Whether the gyroscope delivers a sample only when its rate has changed.
    let reportsOnChange: Bool
    /// The chip's event that notices movement while the buffer is off; `nil` when it is not used.
    let watch: ChipWatch?
    let changes: BufferChanges

    /// Disables the buffer; does nothing for a removed device.
    func disable() {
        watch?.gate.close()
        changes.undo()
    }
}

/// An attribute of a device, and what stood there.
struct DeviceValue: Sendable {
    let folder: SysfsDirectory
    let name: String
    let text: String

    func restore() { try? folder.write(text, to: name) }
}

/// What is undone when a device with an enabled buffer is closed.
struct BufferChanges: Sendable {
    /// The folder with the buffer's switch.
    let controls: SysfsDirectory
    let arming: ChipArming?
    /// What was set otherwise before the opening, such as the hysteresis of the sensors, and the rate 0 of those that were off.
    let before: [DeviceValue]

    func undo() {
        try? controls.write("0", to: "enable")
        arming?.restore()
        for value in before { value.restore() }
    }
}
