package import Glibc

/// An open file descriptor that is closed with its last owner.
package final class Descriptor: Sendable {
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

/// Waits until a descriptor is ready for events of poll(2), continuing after signals; `false` on timeout, −1 is without limit.
package func waitUntilReady(
    _ descriptor: Int32, for events: Int32 = POLLIN, milliseconds: @autoclosure () -> Int32 = -1
) throws(SystemError) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return try systemCall("poll") { poll(&entry, 1, milliseconds()) } > 0
}

/// Whether the other end of a connection has closed it, or the connection has failed.
package func isHungUp(_ descriptor: Int32) -> Bool {
    let readHangup: Int32 = 0x2000  // POLLRDHUP, which Swift's Glibc does not show.
    var entry = pollfd(fd: descriptor, events: Int16(readHangup), revents: 0)
    guard poll(&entry, 1, 0) > 0 else { return false }
    return Int32(entry.revents) & (readHangup | POLLHUP | POLLERR | POLLNVAL) != 0
}

/// Waits once for the poll(2) events of the entries; `false` after the timeout or a signal, −1 is without limit.
package func waitOnce(for entries: inout [pollfd], milliseconds: Int32) -> Bool {
    (try? systemCallOnce("poll") { poll(&entries, nfds_t(entries.count), milliseconds) }) ?? 0 > 0
}

/// Writes all bytes to a descriptor, which the caller keeps open, in as many calls as needed; a socket raises no SIGPIPE.
package func writeAll(
    _ bytes: [UInt8], to descriptor: Int32, path: @autoclosure () -> String? = nil, isSocket: Bool = false
) throws(SystemError) {
    var written = 0
    try writeAll(bytes, from: &written, to: descriptor, path: path(), isSocket: isSocket)
}

/// Writes the bytes from an index on to a descriptor, and advances the index by what was written, also on failure.
package func writeAll(
    _ bytes: [UInt8], from written: inout Int, to descriptor: Int32, path: @autoclosure () -> String? = nil,
    isSocket: Bool = false
) throws(SystemError) {
    while written < bytes.count {
        let start = written
        do throws(SystemError) {
            written += try systemCall(isSocket ? "send" : "write", path: path()) {
                bytes[start...].withUnsafeBytes {
                    isSocket
                        ? send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                        : write(descriptor, $0.baseAddress, $0.count)
                }
            }
        } catch {
            guard error.code == EAGAIN else { throw error }
            // Another process that shares the descriptor made it non-blocking: wait as a blocking write does.
            _ = try waitUntilReady(descriptor, for: POLLOUT)
        }
    }
}
