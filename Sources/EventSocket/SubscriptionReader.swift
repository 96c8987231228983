package import Binnacle
import Glibc
import LinuxSystem
import PlainText

/// Reads a subscription, and goes on behind the last event when the daemon was away; for a thread that may wait.
///
/// What was read counts as handled when the next message is asked for.
package final class SubscriptionReader {
    /// What comes.
    package enum Message: Sendable, Equatable {
        /// An event, and its line.
        case event(Event, json: String)
        /// Events that will not come.
        case missed(MissedEvents)
        /// There is nothing more; a subscription that does not follow ends with it.
        case end
        /// The wait was ended.
        case cancelled
    }

    /// What is done about a daemon that is away.
    package enum Patience: Sendable {
        /// It is an error.
        case none
        /// It is waited for once it has answered; before, it is an error.
        case afterFirstAnswer
        /// It is waited for.
        case always
    }

    /// What becomes of the connection.
    package enum Change: Sendable, Equatable {
        /// The daemon is away; it is looked for again and again.
        case waiting(EventSubscriptionError)
        /// The daemon answers.
        case connected
    }

    private let path: String
    private let patience: Patience
    private var hasAnswered = false
    private let cancelling: Int32
    private let tell: (Change) -> Void
    private var request: SubscriptionRequest
    private var connection: SocketConnection?
    private var delayNanoseconds = firstDelayNanoseconds
    private var isWaiting = false

    private static let firstDelayNanoseconds: Int64 = 200_000_000
    private static let longestDelayNanoseconds: Int64 = 10_000_000_000

    /// Creates a reader that has not connected yet.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - path: The socket's path.
    ///   - patience: What is done about a daemon that is away.
    ///   - cancelling: A descriptor that ends every wait when it is readable.
    ///   - tell: Told what becomes of the connection: once when it is lost, and once when it is back.
    package init(
        _ request: SubscriptionRequest, path: String, patience: Patience, cancelling: Int32,
        tell: @escaping (Change) -> Void = { _ in }
    ) {
        self.request = request
        self.path = path
        self.patience = patience
        self.cancelling = cancelling
        self.tell = tell
    }

    /// The number of the event behind which it goes on.
    package var after: UInt64? { request.after }

    /// Waits for the next message.
    ///
    /// - Throws: ``EventSubscriptionError`` when there will be none.
    package func next() throws(EventSubscriptionError) -> Message {
        while true {
            do throws(EventSubscriptionError) {
                let connection = try connected()
                guard let line = try connection.readLine(cancelling: cancelling) else { return .cancelled }
                if let message = try message(line) { return message }
            } catch {
                connection = nil
                guard isPatient, error.isTransient else { throw error }
                if !isWaiting { tell(.waiting(error)) }
                isWaiting = true
                guard wait() else { return .cancelled }
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

    /// The connection with a subscription, made when there is none.
    private func connected() throws(EventSubscriptionError) -> SocketConnection {
        if let connection { return connection }
        let connection = try SocketConnection(path: path)
        try connection.send(request.json)
        self.connection = connection
        return connection
    }

    private func message(_ line: String) throws(EventSubscriptionError) -> Message? {
        let message: SocketMessage
        do throws(JSONReader.SyntaxError) {
            message = try SocketMessage(parsing: line)
        } catch {
            throw .notUnderstood(reason: error.description)
        }
        switch message {
        case .subscribed(let identity, _, let after):
            request.identity = identity
            request.after = after
            // What has been begun is gone on with.
            request.sinceNanoseconds = nil
            hasAnswered = true
            delayNanoseconds = Self.firstDelayNanoseconds
            if isWaiting { tell(.connected) }
            isWaiting = false
            return nil
        case .event(let event, let json):
            request.after = max(request.after ?? 0, event.sequence)
            return .event(event, json: json)
        case .missed(let missed):
            if let last = missed.last { request.after = max(request.after ?? 0, last) }
            return .missed(missed)
        case .end: return .end
        case .error(let message, _):
            throw .refusal(message, path: path)
        case .status, .unknown: return nil
        }
    }

    /// Waits before the next attempt, each time twice as long.
    ///
    /// - Returns: Whether the wait came to its end.
    private func wait() -> Bool {
        var entry = pollfd(fd: cancelling, events: Int16(POLLIN), revents: 0)
        let end = SystemClock.monotonic() + delayNanoseconds
        delayNanoseconds = min(delayNanoseconds * 2, Self.longestDelayNanoseconds)
        while true {
            let left = SystemClock.milliseconds(until: end)
            if poll(&entry, 1, left) > 0 { return false }
            if left == 0 { return true }
        }
    }
}
