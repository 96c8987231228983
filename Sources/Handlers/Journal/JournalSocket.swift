import Glibc
package import LinuxSystem

/// Speaks the journal's own protocol, which keeps fields apart: one datagram an entry.
///
/// The protocol is documented and stable (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). libsystemd, which speaks it too,
/// would bring seven libraries and 1.5 MB.
package final class JournalSocket {
    private let socket: Descriptor
    private var entry: [UInt8] = []

    /// Connects to the journal.
    ///
    /// - Parameter path: The journal's socket.
    /// - Throws: ``SystemError`` when nobody listens there.
    package init(path: String = "/run/systemd/journal/socket") throws(SystemError) {
        socket = try DatagramSocket.connected(to: path)
    }

    /// Whether standard error of this process is read by the journal, so that an entry with fields can replace a line.
    ///
    /// systemd says which file that was; a redirection since then is another one.
    package static var isStandardError: Bool {
        guard let value = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: value) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes an entry.
    ///
    /// - Parameter fields: Names in capitals, digits and `_`, and their values.
    /// - Throws: ``SystemError`` when the journal does not take it.
    package func write(_ fields: [(name: String, value: String)]) throws(SystemError) {
        entry.removeAll(keepingCapacity: true)
        for (name, value) in fields { append(name, value) }
        let bytes = entry
        try systemCall("send") { send(socket.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    private func append(_ name: String, _ value: String) {
        entry.append(contentsOf: name.utf8)
        if value.utf8.contains(UInt8(ascii: "\n")) {
            // A value with line ends is preceded by its length, as 64 bits, the lowest byte first.
            entry.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { entry.append(contentsOf: $0) }
        } else {
            entry.append(UInt8(ascii: "="))
        }
        entry.append(contentsOf: value.utf8)
        entry.append(UInt8(ascii: "\n"))
    }
}
