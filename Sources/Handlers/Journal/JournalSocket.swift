package import Binnacle
import Glibc
package import LinuxSystem
package import PlainText

/// A client of the journal's native protocol, one datagram per entry (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/).
///
/// libsystemd, which also has one, would load seven libraries and 1.5 MB.
package final class JournalSocket {
    private let path: String
    private var socket: Descriptor
    private var entry: [UInt8] = []
    /// The maximum size of a value, in bytes, after an entry was too large for one datagram.
    private static let shortened = 4096

    /// Connects to the journal's socket.
    package init(path: String = "/run/systemd/journal/socket") throws(SystemError) {
        self.path = path
        socket = try DatagramSocket.connected(to: path)
    }

    /// Whether journald reads standard error, so that an entry with fields can replace a line.
    ///
    /// systemd passes the file's identity in the environment; a redirected file has another one.
    package static var isStandardError: Bool {
        guard let value = getenv("JOURNAL_STREAM"), let status = try? fileStatus(of: STDERR_FILENO) else {
            return false
        }
        return String(cString: value) == "\(status.st_dev):\(status.st_ino)"
    }

    /// The journal's socket if standard error is the journal.
    ///
    /// `nil` otherwise, and if the socket cannot be used: journald still reads standard error.
    package static func ofStandardError() -> JournalSocket? {
        isStandardError ? try? JournalSocket() : nil
    }

    /// Writes an entry of fields, with names of capitals, digits and `_`; the values of an entry that is too large are truncated.
    package func write(_ fields: [(name: String, value: String)]) throws(SystemError) {
        do throws(SystemError) {
            try send(fields, limit: .max)
        } catch {
            switch error.code {
            case EMSGSIZE:
                try send(fields, limit: Self.shortened)
            case ECONNREFUSED, ENOTCONN, ECONNRESET, EPIPE:
                // A restarted journal has another socket.
                socket = try DatagramSocket.connected(to: path)
                try send(fields, limit: .max)
            default:
                throw error
            }
        }
    }

    /// Writes an event of a handler, with a field for each of its values.
    package func write(_ event: Event, of handler: String, level: LogLevel) throws(SystemError) {
        let own = [
            ("MESSAGE", TextHandler.words(event)), ("PRIORITY", String(level.rawValue)),
            ("MESSAGE_ID", event.kind.row.messageID), ("SYSLOG_IDENTIFIER", "binnacle"),
            ("BINNACLE_LOG", handler),
        ]
        try write(own + EventVariables.all(of: event))
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
