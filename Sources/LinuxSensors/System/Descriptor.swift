import Glibc

/// An open file descriptor that is closed with its last owner.
final class Descriptor: Sendable {
    let raw: Int32

    /// Takes over an open descriptor.
    init(owning raw: Int32) {
        self.raw = raw
    }

    /// Opens a file; it is closed on exec.
    init(path: String, flags: Int32) throws(SystemError) {
        raw = try systemCall("open", path: path) { open(path, flags | O_CLOEXEC) }
    }

    deinit {
        close(raw)
    }
}
