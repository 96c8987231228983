import PlainText

/// What woke a machine that was suspended, as far as the kernel tells.
enum MachineWakeUp {
    /// How often the machine was suspended; `nil` when the kernel does not say.
    static func suspendCount(root: String) -> String? {
        try? SysfsDirectory(path: root + "/sys/power/suspend_stats").textIfPresent("success")
    }

    /// The interrupt that woke the machine and its name, as in "interrupt 6 (lsm6dsx) woke the machine".
    ///
    /// `root` is the folder that contains `/sys` and `/proc`. Reads both.
    static func text(root: String) -> String {
        let power = SysfsDirectory(path: root + "/sys/power")
        // ENODATA when no interrupt did.
        guard let number = try? power.textIfPresent("pm_wakeup_irq") else {
            return "what woke the machine is not known: the kernel names no interrupt"
        }
        let row = InterruptLine.rows(root: root)?.first { $0.number == number }
        let name = row.map { " (\($0.action.printable))" } ?? ""
        return
            "interrupt \(number.printable)\(name) woke the machine; the chip's own report of it is lost in the kernel"
    }
}
