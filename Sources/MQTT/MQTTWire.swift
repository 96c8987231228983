import Glibc
import LinuxSystem

/// The connection between libmosquitto and a broker, with a limit to the received data.
///
/// The library allocates any size that a broker announces, up to 256 MB, and reads as long as data arrives. Therefore it gets one
/// end of a socket pair in place of its own socket; this class copies and counts the bytes. TLS is end to end between library and
/// broker.
final class MQTTWire {
    let outer: Descriptor
    /// The end of the pair opposite the library's.
    private let inner: Descriptor
    /// The bytes from the library that the broker has not accepted.
    private var pending: ArraySlice<UInt8> = []
    /// The received bytes that no acknowledgement and no expected message explains.
    private var unexplainedCount = 0

    /// The size of one read; the pair's buffer holds it.
    private static let pieceSize = 16_384

    /// Replaces a socket that the library has opened by an end of the pair, under the same number.
    init(takingPlaceOf socket: Int32) throws(SystemError) {
        outer = Descriptor(owning: try systemCall("fcntl") { fcntl(socket, F_DUPFD_CLOEXEC, 0) })
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        inner = Descriptor(owning: ends[0])
        let other = Descriptor(owning: ends[1])
        try systemCall("dup2") { dup2(other.raw, socket) }
        try systemCall("fcntl") { fcntl(socket, F_SETFD, FD_CLOEXEC) }
    }

    /// Counts received bytes as those of an expected packet.
    func explain(_ count: Int) { unexplainedCount = max(0, unexplainedCount - count) }

    /// Whether data waits for the broker to accept it.
    var hasPending: Bool { !pending.isEmpty }

    /// Copies the broker's data to the library; throws when the connection is broken.
    ///
    /// Returns whether what is unexplained is within a limit.
    func receive(atMost limit: Int) throws(SystemError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: Self.pieceSize)
        let count: Int
        do throws(SystemError) {
            count = try systemCall("recv") { recv(outer.raw, &bytes, bytes.count, 0) }
        } catch {
            guard error.code == EAGAIN else { throw error }
            return true
        }
        guard count > 0 else {
            // The library reads the preceding data before it sees the end.
            _ = shutdown(inner.raw, Int32(SHUT_WR))
            return true
        }
        unexplainedCount += count
        guard unexplainedCount <= limit else { return false }
        try systemCall("send") { Glibc.send(inner.raw, bytes, count, Int32(MSG_NOSIGNAL)) }
        return true
    }

    /// Copies the library's data to the broker, as far as it accepts them.
    func send() throws(SystemError) {
        while true {
            if pending.isEmpty {
                var bytes = [UInt8](repeating: 0, count: Self.pieceSize)
                let count = try systemCallOnce("recv") { recv(inner.raw, &bytes, bytes.count, 0) } ?? 0
                guard count > 0 else { return }
                pending = bytes[..<count]
            }
            do throws(SystemError) {
                let count = try systemCall("send") {
                    pending.withUnsafeBytes { Glibc.send(outer.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                }
                pending = pending.dropFirst(count)
            } catch {
                // Not connected yet, or the buffer is full.
                guard error.code == EAGAIN || error.code == ENOTCONN else { throw error }
                return
            }
        }
    }

    /// The number of bytes from the broker that the library has not read from its descriptor.
    static func unread(at descriptor: Int32) -> Int32 {
        var count: Int32 = 0
        let reading = UInt(0x541B)  // FIONREAD
        guard descriptor >= 0 else { return 0 }
        _ = try? systemCall("ioctl") { ioctl(descriptor, reading, &count) }
        return count
    }
}
