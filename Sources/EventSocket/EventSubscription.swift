public import Binnacle

/// The events of a running daemon, from its socket, as an asynchronous sequence.
///
///     for try await message in EventSubscription(kinds: [.motionBegan]) {
///         switch message {
///         case .event(let event): print(event.kind, event.sensor ?? "")
///         case .missed(let missed): print("missed:", missed.reason)
///         }
///     }
///
/// Each iterator is a connection of its own, with a thread of its own that waits, so that no task of the concurrency
/// runtime does. What is read ahead is bounded: a loop that takes its time makes the daemon wait for this subscriber, which
/// costs others nothing, and the events are read from the daemon's store later. A cancelled task ends the sequence.
public struct EventSubscription: AsyncSequence, Sendable {
    /// What comes from the daemon.
    public enum Message: Sendable, Equatable {
        /// Something happened.
        case event(Event)
        /// Events will not come.
        case missed(MissedEvents)
    }

    /// An event or a notice.
    public typealias Element = Message
    /// Why there are no more.
    public typealias Failure = EventSubscriptionError

    /// The socket's path.
    public var path: String
    /// The kinds that are wanted; `nil` is all but those that repeat an ongoing state.
    public var kinds: Set<EventKind>?
    /// The names of the sensors that are wanted; `nil` is all, and events that are about none.
    public var sensors: Set<String>?
    /// The number of the event behind which to begin, 0 for the oldest that is kept; `nil` begins now.
    public var after: UInt64?
    /// Whether to wait for a daemon that is away or goes away, and to go on behind the last event; otherwise that is an
    /// error.
    public var reconnects: Bool

    /// Creates a subscription; nothing happens before somebody iterates.
    ///
    /// - Parameters:
    ///   - path: The socket's path; without one, where a daemon usually listens.
    ///   - kinds: The kinds that are wanted; `nil` is all but those that repeat an ongoing state.
    ///   - sensors: The names of the sensors that are wanted; `nil` is all.
    ///   - after: The number of the event behind which to begin; `nil` begins now.
    ///   - reconnects: Whether to wait for a daemon that is away, and to go on behind the last event.
    public init(
        path: String? = nil, kinds: Set<EventKind>? = nil, sensors: Set<String>? = nil, after: UInt64? = nil,
        reconnects: Bool = false
    ) {
        self.path = path ?? SocketPath.forClient()
        self.kinds = kinds
        self.sensors = sensors
        self.after = after
        self.reconnects = reconnects
    }

    /// Makes an iterator, which connects when it is first asked.
    public func makeAsyncIterator() -> Iterator {
        var request = SubscriptionRequest()
        request.filter = EventFilter(kinds: kinds, sensors: sensors)
        request.after = after
        return Iterator(SubscriptionThread(request, path: path, reconnects: reconnects))
    }

    /// Gives one message after the other; for one task.
    public struct Iterator: AsyncIteratorProtocol {
        private let thread: SubscriptionThread

        init(_ thread: SubscriptionThread) {
            self.thread = thread
        }

        /// Waits for the next message.
        ///
        /// - Parameter actor: The actor on which the wait goes on.
        /// - Returns: The message; `nil` when the task is cancelled.
        /// - Throws: ``EventSubscriptionError``, once; afterwards there is nothing more.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(EventSubscriptionError) -> Message? {
            try await thread.next()
        }

        /// Waits for the next message.
        ///
        /// - Returns: The message; `nil` when the task is cancelled.
        /// - Throws: ``EventSubscriptionError``, once; afterwards there is nothing more.
        public mutating func next() async throws(EventSubscriptionError) -> Message? {
            try await thread.next()
        }
    }
}
