import LinuxSystem

/// Whether an interrupt line is behind a chip's events, by /proc/interrupts.
package enum InterruptLine: Sendable, Equatable {
    /// The number of an interrupt with the name of the chip or its driver.
    case number(String)
    case missing
    /// /proc/interrupts cannot be read.
    case unknown

    /// Looks for an interrupt by the names of a driver and its device; `root` is the folder that contains `/proc`.
    ///
    /// A driver names its interrupt as itself or its device, perhaps with an ending of its own ("kxcjk1013_event").
    init(of names: [String], root: String) {
        guard let rows = Self.rows(root: root) else {
            self = .unknown
            return
        }
        let wanted = names.map { name in
            var plain = ChipRule.plain(name)
            for end in ["_i2c", "_spi", "_i3c"] where plain.hasSuffix(end) { plain = String(plain.dropLast(4)) }
            return plain
        }.filter { $0.count >= 4 }
        let its = rows.first { row in
            let plain = ChipRule.plain(row.action)
            return wanted.contains { plain.hasPrefix($0) || (plain.count >= 4 && $0.hasSuffix(plain)) }
        }
        self = its.map { .number($0.number) } ?? .missing
    }

    /// The numbers of the interrupts and the last words of their names; `nil` when they cannot be read.
    static func rows(root: String) -> [(number: String, action: String)]? {
        guard let bytes = try? SmallFile.bytes(root + "/proc/interrupts", limit: 1 << 20, kind: .present) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst().compactMap { row in
            guard let number = row.split(separator: ":").first, let action = row.split(separator: " ").last else {
                return nil
            }
            return (number.filter { $0 != " " }, String(action))
        }
    }
}
