import LinuxSystem

/// A progress bar of a fixed width.
package enum TerminalBar {
    private static let width = 30

    /// A bar, followed by the percentage.
    package static func text(_ fraction: Double) -> String {
        let filled = Int(fraction * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
            + "] \(Int(fraction * 100)) %"
    }

    /// Writes a text and ignores errors, which affect only the display.
    package static func put(_ text: String, on descriptor: Int32) {
        try? writeAll(Array(text.utf8), to: descriptor)
    }
}
