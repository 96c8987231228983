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
    try writeAll(bytes, from: &written, to: descriptor, path: path())
}

/// Writes the bytes behind an index to a descriptor, and moves the index behind what was written, also when it fails.
package func writeAll(
    _ bytes: [UInt8], from written: inout Int, to descriptor: Int32, path: @autoclosure () -> String? = nil
) throws(SystemError) {
    while written < bytes.count {
        let start = written
        do throws(SystemError) {
            written += try systemCall("write", path: path()) {
                bytes.withUnsafeBytes { bytes in
                    write(descriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start)
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
