import CLinux
import Glibc

/// Accepts the connections of a listening socket, and pauses when the system refuses more; for the thread of an epoll.
///
/// A listening socket with waiting connections is always ready: without the pause it would keep its thread busy.
package final class StreamAcceptor {
    /// When accepting resumes; `nil` while it is not paused.
    package private(set) var resumeTime: Int64?

    /// The epoll token of the listening socket; those of connections begin at 0.
    package static let token = UInt64.max - 1
    private let listener: Descriptor
    private let epoll: Epoll
    /// The pause when no descriptor is available.
    private static let pauseNanoseconds: Int64 = 1_000_000_000
    /// The number of connections accepted in a row before other descriptors are handled.
    private static let mostAtOnce = 64

    /// Adds a listening socket to an epoll.
    package init(_ listener: Descriptor, _ epoll: Epoll) throws(SystemError) {
        self.listener = listener
        self.epoll = epoll
        try epoll.add(listener.raw, token: Self.token)
    }

    /// Accepts the waiting connections, non-blocking, and passes them to `admit`; returns why accepting is paused, or `nil`.
    package func accept(_ admit: (Descriptor) throws(SystemError) -> Void) -> SystemError? {
        for _ in 0..<Self.mostAtOnce {
            do throws(SystemError) {
                try admit(Descriptor(owning: try systemCall("accept4") { clinux_accept(listener.raw) }))
            } catch {
                switch error.code {
                // EAGAIN of `admit`, such as no thread, pauses below.
                case EAGAIN where error.call == "accept4": return nil
                // Errors of one connection: accept(2) passes on those of its network, and `admit` has ENOTCONN, or EINVAL as POSIX
                // allows, when the client has closed it already.
                case ECONNABORTED, EPROTO, ENOTCONN, EINVAL, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
                    EOPNOTSUPP, ENETUNREACH:
                    continue
                // The descriptor is taken before the queue is looked at: there may be no connection that waits.
                case EMFILE where !hasWaiting, ENFILE where !hasWaiting: return nil
                default:
                    resumeTime = SystemClock.monotonic() + Self.pauseNanoseconds
                    listen(false)
                    return error
                }
            }
        }
        return nil
    }

    private var hasWaiting: Bool {
        var entries = [pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)]
        return waitOnce(for: &entries, milliseconds: 0)
    }

    /// Resumes accepting after a pause, when its time is over or, without a time, a connection was closed.
    package func resume(at now: Int64 = .max) {
        guard let resumeTime, resumeTime <= now else { return }
        self.resumeTime = nil
        listen(true)
    }

    /// Stops accepting for good.
    package func stop() {
        resumeTime = nil
        epoll.remove(listener.raw)
    }

    private func listen(_ reads: Bool) {
        do throws(SystemError) {
            try epoll.change(listener.raw, token: Self.token, reads: reads, writes: false)
        } catch {
            // The kernel is out of memory.
            resumeTime = SystemClock.monotonic() + Self.pauseNanoseconds
        }
    }
}

/// A stream connection that never blocks; for the thread of an epoll.
package final class StreamConnection {
    package enum Writing {
        /// Everything is written.
        case done
        /// The rest waits until the socket is writable.
        case blocked
        /// The other end is gone.
        case failed
    }

    /// The epoll token of the connection.
    package let token: UInt64
    /// Whether to wait for input; set to `false` after the end of the input.
    package var isReading = true
    /// The bytes that wait until the socket is writable.
    package private(set) var output: ArraySlice<UInt8> = []

    /// Whether the other end has closed the connection, also before the epoll has told so.
    package var isGone: Bool { isHungUp(socket.raw) }

    private let socket: Descriptor
    private let epoll: Epoll
    private var interest = (reads: true, writes: false)

    package init(_ socket: Descriptor, _ epoll: Epoll, token: UInt64) throws(SystemError) {
        self.socket = socket
        self.epoll = epoll
        self.token = token
        try epoll.add(socket.raw, token: token)
    }

    deinit {
        epoll.remove(socket.raw)
    }

    /// Writes bytes; discards them if output is waiting.
    package func write(_ bytes: [UInt8]) -> Writing {
        if output.isEmpty { output = bytes[...] }
        return flush()
    }

    /// Writes the waiting output.
    package func flush() -> Writing {
        guard !output.isEmpty else { return .done }
        let sent = Result { () throws(SystemError) in
            try systemCallOnce("send") {
                output.withUnsafeBytes { send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
        }
        guard case .success(let count) = sent else { return .failed }
        output = output.dropFirst(count ?? 0)
        guard output.isEmpty else { return .blocked }
        // Frees the memory.
        output = []
        return .done
    }

    /// Shuts down writing; the other end may still write.
    package func endWriting() {
        _ = shutdown(socket.raw, Int32(SHUT_WR))
    }

    /// Reads a piece of the input; no bytes at its end, `nil` when none have arrived.
    package func read() throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        // The kernel closes descriptors sent with the data, because there is no buffer for them.
        let count = try systemCallOnce("recv") { recv(socket.raw, &bytes, bytes.count, 0) }
        return count.map { Array(bytes[..<$0]) }
    }

    /// Sets the epoll to wait for input while ``isReading``, and for writability while output waits.
    package func watch() throws(SystemError) {
        let wanted = (reads: isReading, writes: !output.isEmpty)
        guard wanted != interest else { return }
        interest = wanted
        try epoll.change(socket.raw, token: token, reads: wanted.reads, writes: wanted.writes)
    }
}
