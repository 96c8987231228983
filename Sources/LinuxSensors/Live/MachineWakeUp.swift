import LinuxSystem
import PlainText

/// What woke a machine that was suspended, as far as the kernel tells.
enum MachineWakeUp {
    /// The interrupt that woke the machine and its name, as in "interrupt 6 (lsm6dsx) woke the machine".
    ///
    /// `root` is the folder that contains `/sys` and `/proc`. Reads both.
    static func text(root: String) -> String {
        let power = SysfsDirectory(path: root + "/sys/power")
        // ENODATA when no interrupt did.
        guard let number = try? power.textIfPresent("pm_wakeup_irq") else {
            return "what woke the machine is not known: the kernel names no interrupt"
        }
        let bytes = (try? SmallFile.bytes(root + "/proc/interrupts", limit: 1 << 20, kind: .present)) ?? []
        let row = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { row in
            row.split(separator: ":").first?.filter { $0 != " " } == number
        }
        let name = row?.split(separator: " ").last.map { " (\(String($0).printable))" } ?? ""
        return
            "interrupt \(number.printable)\(name) woke the machine; the chip's own report of it is lost in the kernel"
    }
}
