import Glibc
import LinuxSystem

/// One connection that takes sentences, on the sender's thread.
///
/// What it has no room for is not kept: it gets the sentences that are sent when there is room again, and never a part of
/// one. Only the rest of a piece that the kernel took in part waits.
final class NMEAClient {
    /// What became of writing.
    enum Writing {
        /// Everything is written.
        case done
        /// The rest has to wait for room.
        case blocked
        /// The other end is gone.
        case failed
    }

    private let socket: Descriptor
    private var rest: ArraySlice<UInt8> = []
    /// Since when it has taken nothing of what waits; `nil` when nothing waits.
    private(set) var blockedSince: Int64?
    /// Whether room to write is waited for.
    var waitsForRoom = false

    /// Takes over a connection.
    init(_ socket: Descriptor) {
        self.socket = socket
    }

    /// The descriptor.
    var raw: Int32 { socket.raw }

    /// Writes a piece, unless something waits already; then the piece is passed over.
    func write(_ piece: [UInt8], at now: Int64) -> Writing {
        guard rest.isEmpty else { return flush(at: now) }
        rest = piece[...]
        return flush(at: now)
    }

    /// Writes what waits.
    func flush(at now: Int64) -> Writing {
        guard !rest.isEmpty else { return .done }
        let count = rest.withUnsafeBytes { bytes -> Int? in
            do throws(SystemError) {
                return try systemCall("send") {
                    Glibc.send(socket.raw, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            } catch {
                return error.code == EAGAIN ? 0 : nil
            }
        }
        guard let count else { return .failed }
        rest = rest.dropFirst(count)
        if rest.isEmpty {
            blockedSince = nil
            return .done
        }
        if count > 0 || blockedSince == nil { blockedSince = now }
        return .blocked
    }

    /// Reads input and discards it: a plotter may send sentences of its own.
    ///
    /// - Returns: Whether it is still there.
    func discardInput() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        // One read only, so that a flood does not delay the other connections.
        do throws(SystemError) {
            return try systemCall("recv") { recv(socket.raw, &bytes, bytes.count, 0) } > 0
        } catch {
            return error.code == EAGAIN
        }
    }
}
