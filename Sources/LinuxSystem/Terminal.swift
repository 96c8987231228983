import Glibc

/// The terminal behind a descriptor.
package enum Terminal {
    /// The width in characters; 80 if the terminal does not know it, and `nil` when the descriptor is not a terminal.
    package static func columns(of descriptor: Int32) -> Int? { size(of: descriptor)?.columns }

    /// The width and the height in characters; 80 and 24 if the terminal does not know them, `nil` when the descriptor is not a
    /// terminal.
    package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        guard isatty(descriptor) != 0 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (80, 24) }
        return (size.ws_col > 0 ? Int(size.ws_col) : 80, size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
}
