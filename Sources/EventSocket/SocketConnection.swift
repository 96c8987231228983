import Glibc
import LinuxSystem
import PlainText

/// A client's connection, for a thread that may block.
package final class SocketConnection {
    private let socket: Descriptor
    private let path: String
    private var piece = [UInt8](repeating: 0, count: 16_384)
    private var buffer: [UInt8] = []
    /// The size of the lines in the buffer that were returned.
    private var givenCount = 0
    /// The size of the part of the buffer that was searched for a line end.
    private var searchedCount = 0

    private static let longestLine = 1 << 20
    /// How long the daemon may take for an answer, in nanoseconds.
    private static let longestAnswer: Int64 = 5_000_000_000

    package init(path: String) throws(EventSubscriptionError) {
        self.path = path
        guard let address = UnixAddress(path: path) else {
            throw .system(
                reason: "\(path): no socket can have this path: it has \(path.utf8.count) bytes, and 1 to "
                    + "\(UnixAddress.longestPath) are possible")
        }
        socket = try mapError({ Self.explained($0, path: path) }) { () throws(SystemError) in
            let socket = try UnixAddress.makeStream()
            // The queue of a daemon that temporarily accepts no connections may be full: a blocking connect(2) would wait without
            // end, a non-blocking one fails with EAGAIN.
            for attempt in 0... {
                do throws(SystemError) {
                    try systemCall("connect", path: path) { address.withPointer { connect(socket.raw, $0, $1) } }
                    break
                } catch {
                    guard error.code == EAGAIN, attempt < 50 else { throw error }
                    usleep(20_000)
                }
            }
            return socket
        }
    }

    /// The status of the daemon at a socket, as JSON.
    ///
    /// A daemon whose event thread hangs does not answer; a monitoring script must not hang with it.
    package static func status(path: String) throws(EventSubscriptionError) -> String {
        guard case .status(let text) = try answer(to: .status, path: path) else {
            throw .notUnderstood(reason: "the answer is not a status")
        }
        return text
    }

    /// Changes something in the daemon at a socket; returns why a restart will not know of it.
    package static func change(_ change: DaemonChange, path: String) throws(EventSubscriptionError) -> String? {
        guard case .changed(let done) = try answer(to: .change(change), path: path),
            (done.action, done.name) == (change.action, change.name)
        else { throw .notUnderstood(reason: "the answer does not say that it was done") }
        return done.problem
    }

    private static func answer(
        to request: SocketRequest, path: String
    ) throws(EventSubscriptionError) -> SocketMessage? {
        let connection = try SocketConnection(path: path)
        try connection.send(request.json)
        guard let line = try connection.readLine(deadline: SystemClock.monotonic() + longestAnswer) else {
            var reason = "\(path): the daemon does not answer within 5 s"
            // It reads the request when it goes on.
            if case .change = request { reason += "; it may do that later, which `binnacle status` shows" }
            throw .system(reason: reason)
        }
        let message = try? SocketMessage(parsing: line)
        if case .error(let text, _) = message { throw .refusal(text, path: path) }
        return message
    }

    package func send(_ line: String) throws(EventSubscriptionError) {
        do throws(SystemError) {
            try writeAll(Array((line + "\n").utf8), to: socket.raw, isSocket: true)
        } catch {
            // The daemon sent the reason before it closed the connection.
            guard error.code == EPIPE || error.code == ECONNRESET else { throw .system(reason: error.description) }
        }
    }

    /// Waits for a line and returns it without its end; `nil` when the wait was ended.
    ///
    /// The wait ends when `cancelling` is readable, which it stays, or at the deadline on CLOCK_MONOTONIC. Throws
    /// ``EventSubscriptionError/disconnected`` after the last line, and ``EventSubscriptionError/busy(path:reason:)``
    /// where there are too many connections.
    package func readLine(
        cancelling: Int32? = nil, deadline: Int64? = nil
    ) throws(EventSubscriptionError) -> String? {
        while true {
            if let line = try nextLine() {
                // It is about the connection, and so an error for every caller.
                if line.hasPrefix("{\"error\":"), case .busy(let reason)? = try? SocketMessage(parsing: line) {
                    throw .busy(path: path, reason: reason.printable)
                }
                return line
            }
            let ready = Readiness.wait(
                for: [socket.raw, cancelling],
                timeoutNanoseconds: deadline.map { max(0, $0 - SystemClock.monotonic()) })
            if ready[1] { return nil }
            if ready[0] {
                try read()
            } else if let deadline, SystemClock.monotonic() >= deadline {
                return nil
            }
        }
    }

    private func nextLine() throws(EventSubscriptionError) -> String? {
        guard let end = buffer[searchedCount...].firstIndex(of: UInt8(ascii: "\n")) else {
            searchedCount = buffer.count
            guard buffer.count - givenCount <= Self.longestLine else {
                throw .notUnderstood(
                    reason: "a line is longer than \(Self.longestLine) bytes, as of far too many detectors")
            }
            return nil
        }
        defer {
            givenCount = end + 1
            searchedCount = givenCount
        }
        return String(decoding: buffer[givenCount..<end], as: UTF8.self)
    }

    private func read() throws(EventSubscriptionError) {
        buffer.removeFirst(givenCount)
        searchedCount -= givenCount
        givenCount = 0
        do throws(SystemError) {
            guard let count = try systemCallOnce("recv", { recv(socket.raw, &piece, piece.count, 0) }) else { return }
            buffer += piece[..<count]
            guard count == 0 else { return }
        } catch {
            guard error.code == ECONNRESET else { throw .system(reason: error.description) }
        }
        throw .disconnected
    }

    private static func explained(_ error: SystemError, path: String) -> EventSubscriptionError {
        switch error.code {
        case ENOENT, ECONNREFUSED, ENOTDIR: .notRunning(path: path)
        case EAGAIN: .busy(path: path)
        case EACCES, EPERM: .noPermission(path: path, reason: nil)
        default: .system(reason: error.description)
        }
    }
}
