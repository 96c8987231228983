import LinuxSystem

/// A device's buffer that was set up, switched on and opened.
struct OpenBuffer: Sendable {
    let file: Descriptor
    /// Its node, for messages.
    let node: String
    /// What it gives.
    let scans: ScanDescription
    /// The device's rate, when it says one.
    let rateHz: Double?
    /// How long scans gather before they are read; `nil` when each one wakes the reader.
    let period: PollingPeriod?
    /// Whether single values can be read instead.
    let canPoll: Bool
    /// Where the buffer is switched off again.
    let controls: SysfsDirectory
    /// Whether the gyroscope gives a sample only when its rate has changed.
    let reportsOnChange: Bool

    /// Switches the buffer off; a device that has gone needs nothing.
    func disable() {
        try? controls.write("0", to: "enable")
    }
}
