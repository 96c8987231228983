import Glibc

/// An open file descriptor that is closed with its last owner.
package final class Descriptor: Sendable {
    /// The number.
    package let raw: Int32

    /// Takes over an open descriptor.
    package init(owning raw: Int32) {
        self.raw = raw
    }

    /// Opens a file; it is closed on exec.
    package init(path: String, flags: Int32) throws(SystemError) {
        raw = try systemCall("open", path: path) { open(path, flags | O_CLOEXEC) }
    }

    deinit {
        close(raw)
    }
}
