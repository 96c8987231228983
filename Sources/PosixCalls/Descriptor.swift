import Glibc

/// An open file descriptor that is closed with its last owner.
package final class Descriptor: Sendable {
    /// The number.
    package let raw: Int32

    /// Takes ownership of an open descriptor.
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

/// Writes all bytes to a descriptor, which the caller keeps open, in as many calls as needed.
package func writeAll(
    _ bytes: [UInt8], to descriptor: Int32, path: @autoclosure () -> String? = nil
) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        do throws(SystemError) {
            written += try systemCall("write", path: path()) {
                bytes.withUnsafeBytes { bytes in
                    write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                }
            }
        } catch {
            guard error.code == EAGAIN else { throw error }
            // Another process that shares the descriptor made it non-blocking: wait for room as a blocking write does.
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&room, 1, -1)
        }
    }
}
