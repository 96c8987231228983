import Binnacle
import LinuxSystem
import PlainText

/// Reads a subscription, and continues after the last event when the daemon is back; for a thread that may block.
package final class SubscriptionReader {
    /// The treatment of a daemon that does not answer.
    package enum Patience: Sendable {
        /// An error.
        case none
        /// An error before the first answer; afterwards the reader waits.
        case afterFirstAnswer
        /// The reader always waits.
        case always
    }

    /// A change of the connection.
    package enum Change: Sendable, Equatable {
        /// The daemon does not answer; the reader keeps trying.
        case waiting(EventSubscriptionError)
        /// The daemon answers again, or at last.
        case connected
        /// The daemon at this path has accepted the subscription, each time.
        case subscribed(path: String)
    }

    private let findPath: () -> String
    private lazy var path = findPath()
    private let patience: Patience
    private var hasAnswered = false
    private let cancelling: Int32
    private let longestAnswer: Int64
    /// When a daemon that was asked has to have answered, on CLOCK_MONOTONIC; `nil` when it has.
    private var answerDeadline: Int64?
    private let tell: (Change) -> Void
    private var request: SubscriptionRequest
    private var connection: SocketConnection?
    private var connectedTime: Int64 = 0
    private var delayNanoseconds = firstDelayNanoseconds
    private var isWaiting = false
    /// The last readings, with their lanes, which the daemon does not repeat.
    private var lastReadings: LiveValues?

    private static let firstDelayNanoseconds: Int64 = 200_000_000
    private static let longestDelayNanoseconds: Int64 = 10_000_000_000
    private static let longestDelayBeforeAnswer: Int64 = 1_000_000_000

    /// Creates a reader that is not connected; every wait ends when the descriptor `cancelling` is readable.
    ///
    /// The path is determined at each attempt until a daemon has answered, because it may depend on which daemon runs. The
    /// daemon of a connection answers within `longestAnswer` nanoseconds, or is stopped.
    package init(
        _ request: SubscriptionRequest, path: @autoclosure @escaping () -> String, patience: Patience,
        cancelling: Int32, longestAnswer: Int64 = 30_000_000_000, tell: @escaping (Change) -> Void = { _ in }
    ) {
        self.request = request
        findPath = path
        self.patience = patience
        self.cancelling = cancelling
        self.longestAnswer = longestAnswer
        self.tell = tell
    }

    /// Waits for the next event, readings, samples, missed events or end of the subscription; `nil` when that is cancelled.
    package func next() throws(EventSubscriptionError) -> SocketMessage? {
        while true {
            do throws(EventSubscriptionError) {
                let connection = try connected()
                guard let line = try connection.readLine(cancelling: cancelling, deadline: answerDeadline) else {
                    if let answerDeadline, SystemClock.monotonic() >= answerDeadline { throw .busy(path: path) }
                    return nil
                }
                answerDeadline = nil
                if let message = try message(line) { return message }
            } catch {
                // One that accepts and closes again and again is asked less and less often.
                if connection != nil, SystemClock.monotonic() - connectedTime > Self.longestDelayNanoseconds {
                    delayNanoseconds = Self.firstDelayNanoseconds
                }
                connection = nil
                guard isPatient, error.isTransient else { throw error }
                if !isWaiting { tell(.waiting(error)) }
                isWaiting = true
                guard wait() else { return nil }
            }
        }
    }

    private var isPatient: Bool {
        switch patience {
        case .none: false
        case .afterFirstAnswer: hasAnswered
        case .always: true
        }
    }

    /// The connection, made on demand.
    private func connected() throws(EventSubscriptionError) -> SocketConnection {
        if let connection { return connection }
        if !hasAnswered { path = findPath() }
        let connection = try SocketConnection(path: path)
        try connection.send(request.json)
        connectedTime = SystemClock.monotonic()
        answerDeadline = connectedTime + longestAnswer
        self.connection = connection
        return connection
    }

    /// Where a later connection goes on: the identity of the sequence, and the number of the last event; `nil` before the daemon's
    /// first answer.
    package var position: (identity: String, after: UInt64)? {
        guard let identity = request.identity, let after = request.after else { return nil }
        return (identity, after)
    }

    /// A later connection continues by the number, and no longer by the time.
    private func goOn(after sequence: UInt64) {
        request.after = max(request.after ?? 0, sequence)
        request.sinceNanoseconds = nil
    }

    private func message(_ line: String) throws(EventSubscriptionError) -> SocketMessage? {
        let message = try mapError({ EventSubscriptionError.notUnderstood(reason: $0.description) }) {
            () throws(JSONReader.SyntaxError) in try SocketMessage(parsing: line)
        }
        switch message {
        case .subscribed(let identity, _, let after):
            request.identity = identity
            // Until an event has come, a later connection begins at the time again: the answered number is that of no event.
            if request.sinceNanoseconds == nil { request.after = after }
            hasAnswered = true
            if isWaiting { tell(.connected) }
            isWaiting = false
            tell(.subscribed(path: path))
            return nil
        case .event(let event, _):
            goOn(after: event.sequence)
            delayNanoseconds = Self.firstDelayNanoseconds
        case .missed(let missed): if let last = missed.last { goOn(after: last) }
        case .readings(let readings):
            let whole = readings.addingKnown(of: lastReadings)
            lastReadings = whole
            return .readings(whole)
        case .samples, .end: break
        case .error(let message, _):
            throw .refusal(message, path: path)
        // The connection throws the refusal of itself.
        case .status, .changed, .busy, .unknown: return nil
        }
        return message
    }

    /// Waits before the next attempt, each time twice as long; `false` when the wait is cancelled.
    private func wait() -> Bool {
        let end = SystemClock.monotonic() + delayNanoseconds
        // Events before the first answer are lost to a subscription that begins with it, so until then the waits are shorter.
        delayNanoseconds = min(
            delayNanoseconds * 2, hasAnswered ? Self.longestDelayNanoseconds : Self.longestDelayBeforeAnswer)
        return (try? waitUntilReady(cancelling, milliseconds: SystemClock.milliseconds(until: end))) != true
    }
}
