import Binnacle
import Glibc
import LinuxSystem

/// One connection to a client, on the server's thread.
final class ServedConnection {
    /// What it is about to do.
    enum Phase {
        /// Its request has not come to its end; it is closed at that time.
        case requesting(deadline: Int64)
        /// It waits for the answer to `status`.
        case asking
        /// It gets events.
        case subscribed(EventFeed)
        /// It is closed when everything is written.
        case closing
    }

    /// What became of writing.
    enum Writing {
        /// Everything is written.
        case done
        /// The rest has to wait for room.
        case blocked
        /// Nobody reads any more.
        case failed
    }

    /// The number by which it is known; none is used twice.
    let identifier: UInt64
    /// Who it is.
    let peer: PeerCredentials
    /// What it is about to do.
    var phase: Phase
    /// What has been read of its request.
    var request: [UInt8] = []
    /// How far it has come, once it has subscribed.
    var gauge: SubscriberGauge?
    /// A line that it has to be given before anything else.
    var announcement: [UInt8]?
    /// Whether something may still come from it.
    var isReading = true
    /// What is waited for, besides its end.
    var interest = (reads: true, writes: false)

    private let socket: Descriptor
    private var output: [UInt8] = []
    private var writtenCount = 0

    /// Creates a connection that has to say what it wants.
    init(identifier: UInt64, socket: Descriptor, peer: PeerCredentials, deadline: Int64) {
        self.identifier = identifier
        self.socket = socket
        self.peer = peer
        phase = .requesting(deadline: deadline)
    }

    /// The descriptor.
    var raw: Int32 { socket.raw }

    /// Whether something waits to be written.
    var hasOutput: Bool { writtenCount < output.count }

    /// Writes what waits.
    func flush() -> Writing {
        guard hasOutput else { return .done }
        let result = Self.send(socket.raw, output[writtenCount...])
        guard let result else { return .failed }
        writtenCount += result
        guard !hasOutput else { return .blocked }
        // A subscriber that keeps up needs no memory of its own.
        output = []
        writtenCount = 0
        return .done
    }

    /// Writes bytes, when nothing else waits; what there is no room for waits.
    func write(_ bytes: [UInt8]) -> Writing {
        guard let count = Self.send(socket.raw, bytes[...]) else { return .failed }
        guard count < bytes.count else { return .done }
        output = Array(bytes[count...])
        writtenCount = 0
        return .blocked
    }

    /// Reads what has come, up to a size.
    ///
    /// - Returns: The bytes; none at the end; `nil` when nothing has come.
    /// - Throws: ``SystemError`` when the connection is broken.
    func read() throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        do throws(SystemError) {
            // Descriptors that come along are closed by the kernel, because nobody asks for them.
            let count = try systemCall("recv") { recv(socket.raw, &bytes, bytes.count, 0) }
            return Array(bytes[..<count])
        } catch {
            guard error.code == EAGAIN else { throw error }
            return nil
        }
    }

    /// Sends as much as there is room for; `nil` when nobody reads any more.
    private static func send(_ socket: Int32, _ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) {
                return try systemCall("send") {
                    Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            } catch {
                return error.code == EAGAIN ? 0 : nil
            }
        }
    }
}
