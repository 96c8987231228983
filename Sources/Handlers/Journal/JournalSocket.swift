import Glibc
package import LinuxSystem

/// Speaks the journal's own protocol, which keeps fields apart: one datagram an entry.
///
/// The protocol is documented and stable (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). libsystemd, which speaks it too,
/// would bring seven libraries and 1.5 MB.
package final class JournalSocket {
    private let path: String
    private var socket: Descriptor
    private var entry: [UInt8] = []
    /// The most bytes of a value in an entry that was too large for one datagram.
    private static let shortened = 4096

    /// Connects to the journal.
    ///
    /// - Parameter path: The journal's socket.
    /// - Throws: ``SystemError`` when no journal listens there.
    package init(path: String = "/run/systemd/journal/socket") throws(SystemError) {
        self.path = path
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

    /// Writes an entry; of one that is too large, the values are cut.
    ///
    /// - Parameter fields: Names in capitals, digits and `_`, and their values.
    /// - Throws: ``SystemError`` when the journal does not take it.
    package func write(_ fields: [(name: String, value: String)]) throws(SystemError) {
        do throws(SystemError) {
            try send(fields, limit: .max)
        } catch {
            switch error.code {
            case EMSGSIZE:
                try send(fields, limit: Self.shortened)
            case ECONNREFUSED, ENOTCONN, ECONNRESET, EPIPE:
                // A journal that was started anew has a socket of its own.
                socket = try DatagramSocket.connected(to: path)
                try send(fields, limit: .max)
            default:
                throw error
            }
        }
    }

    private func send(_ fields: [(name: String, value: String)], limit: Int) throws(SystemError) {
        entry.removeAll(keepingCapacity: true)
        for (name, value) in fields {
            append(
                name,
                value.utf8.count <= limit ? value : String(decoding: value.utf8.prefix(limit), as: UTF8.self) + "…")
        }
        let bytes = entry
        try systemCall("send") { Glibc.send(socket.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
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
