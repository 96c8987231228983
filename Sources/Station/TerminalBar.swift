import LinuxSystem

/// A progress bar of a fixed width.
package enum TerminalBar {
    private static let width = 30

    /// The bar, and the share as a number.
    package static func text(_ fraction: Double) -> String {
        let filled = Int(fraction * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
            + "] \(Int(fraction * 100)) %"
    }

    /// Writes a text; errors of the terminal affect the display only.
    package static func put(_ text: String, on descriptor: Int32) {
        try? writeAll(Array(text.utf8), to: descriptor)
    }
}
