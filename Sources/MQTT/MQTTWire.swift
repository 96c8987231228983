import Glibc
import LinuxSystem

/// The connection between libmosquitto and a broker, with a limit to what comes.
///
/// The library takes memory for whatever a broker announces, up to 256 MB, and reads as long as anything comes. So it gets
/// one end of a pair of sockets in place of its own socket, and the bytes are carried over here, where they are counted.
/// TLS is the library's, and passes through.
final class MQTTWire {
    /// The socket of the broker.
    let outer: Descriptor
    /// The other end of what the library has.
    private let inner: Descriptor
    /// What the library has written and the broker has not taken.
    private var pending: ArraySlice<UInt8> = []
    private var receivedCount = 0

    /// How many bytes are read at a time; the pair has room for them.
    private static let pieceSize = 16_384
    /// What a handshake and answers may take: certificates have some kilobytes.
    private static let usualBytes = 1_000_000
    /// What the acknowledgement of one message may take, with TLS.
    private static let bytesPerMessage = 256

    /// Takes the place of a socket that the library has opened, under whose number it gets an end of the pair.
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

    /// Whether something waits for room at the broker.
    var hasPending: Bool { !pending.isEmpty }

    /// Carries over what the broker has sent; throws when the connection is broken.
    ///
    /// Returns whether it has sent no more than the acknowledgements of messages take, and what else is expected.
    func receive(acknowledging messageCount: Int, expecting expectedBytes: Int) throws(SystemError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: Self.pieceSize)
        let count: Int
        do throws(SystemError) {
            count = try systemCall("recv") { recv(outer.raw, &bytes, bytes.count, 0) }
        } catch {
            guard error.code == EAGAIN else { throw error }
            return true
        }
        guard count > 0 else {
            // The library meets the end behind what came before.
            _ = shutdown(inner.raw, Int32(SHUT_WR))
            return true
        }
        receivedCount += count
        let limit = Self.usualBytes + expectedBytes + messageCount * Self.bytesPerMessage
        guard receivedCount <= limit else { return false }
        try systemCall("send") { Glibc.send(inner.raw, bytes, count, Int32(MSG_NOSIGNAL)) }
        return true
    }

    /// Carries over what the library has written, as far as the broker takes it.
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
                // Not connected yet, or no room.
                guard error.code == EAGAIN || error.code == ENOTCONN else { throw error }
                return
            }
        }
    }

    /// How much of what the broker has sent the library, at a descriptor, has not read.
    static func unread(at descriptor: Int32) -> Int32 {
        var count: Int32 = 0
        let reading = UInt(0x541B)  // FIONREAD
        guard descriptor >= 0 else { return 0 }
        _ = try? systemCall("ioctl") { ioctl(descriptor, reading, &count) }
        return count
    }
}
