import Glibc

/// A bar of a fixed width, and how it gets onto a terminal.
package enum TerminalBar {
    private static let width = 30

    /// The bar, and the share as a number.
    package static func text(_ fraction: Double) -> String {
        let filled = Int(fraction * Double(width))
        return "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
            + "] \(Int(fraction * 100)) %"
    }

    /// Writes a text; a terminal that takes no more costs the picture, not the work.
    package static func put(_ text: String, on descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
