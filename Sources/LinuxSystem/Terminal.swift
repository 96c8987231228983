import Glibc

/// The terminal behind a descriptor.
package enum Terminal {
    /// The width in characters; 80 where the terminal does not know, and `nil` when the descriptor is no terminal.
    package static func columns(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) != 0 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
