public import Binnacle

/// A subscription to the events of a running daemon, from its socket.
///
///     for try await message in EventSubscription(kinds: [.motionBegan]).messages {
///         switch message {
///         case .event(let event): print(event.kind, event.sensor ?? "")
///         case .missed(let missed): print("missed:", missed.reason)
///         case .readings: break
///         }
///     }
///
/// Each iteration has its own connection and thread, so that it never blocks a thread of the concurrency runtime. Reading ahead is
/// bounded: with a slow loop, the daemon waits for this subscriber, without affecting others, and later reads the events from its
/// store. A cancelled task ends the sequence.
public struct EventSubscription: Sendable {
    /// A message of the daemon.
    public enum Message: Sendable, Equatable {
        /// An event.
        case event(Event)
        /// A notice of missed events.
        case missed(MissedEvents)
        /// The live readings of an interval; only for a subscription with ``EventSubscription/readingsInterval``.
        case readings(LiveValues)
    }

    /// The socket's path.
    package var path: String
    /// The kinds of events; `nil` is all except those that repeat an ongoing state.
    package var kinds: Set<EventKind>?
    /// The names of the sensors; `nil` is all, and events without a sensor.
    package var sensors: Set<String>?
    /// The number of the event after which to begin, 0 for the oldest stored one; `nil` begins now.
    package var after: UInt64?
    /// Whether to wait for a daemon that does not answer, and to continue after the last event; otherwise that is an error.
    package var reconnects: Bool
    /// The interval of live readings, from 30 ms to a minute; `nil` for none.
    ///
    /// They are those of the sensors that the subscription was made with; made with an empty set of kinds, it gets no events. They
    /// are not queued: a slow loop gets fewer, each for a longer time.
    public var readingsInterval: Duration?

    /// Creates a subscription; the first iteration connects.
    ///
    /// - Parameters:
    ///   - path: The socket's path; the default is that of the machine's daemon.
    ///   - kinds: The kinds of events; `nil` is all except those that repeat an ongoing state.
    ///   - sensors: The names of the sensors; `nil` is all.
    ///   - after: The number of the event after which to begin; `nil` begins now.
    ///   - reconnects: Whether to wait for a daemon that does not answer, and to continue after the last event.
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

    /// The messages, for one task for each iteration, which connects when it begins.
    ///
    /// The sequence ends when the task is cancelled, or with an ``EventSubscriptionError``, which is thrown once.
    public var messages: some AsyncSequence<Message, EventSubscriptionError> & Sendable {
        SubscriptionMessages(subscription: self)
    }

    /// Makes an iterator, with a connection of its own, for one task.
    package func makeAsyncIterator() -> SubscriptionIterator<Message> {
        var request = SubscriptionRequest()
        request.filter = EventFilter(kinds: kinds, sensors: sensors)
        request.after = after
        if let readingsInterval {
            var readings = LiveValuesRequest(intervalNanoseconds: Units.nanoseconds(readingsInterval))
            readings.sensors = sensors
            request.readings = readings
        }
        return SubscriptionIterator(
            SubscriptionThread(request, path: path, reconnects: reconnects) { message in
                switch message {
                case .event(let event, _): .event(event)
                case .readings(let readings): .readings(readings)
                case .missed(let missed): .missed(missed)
                default: nil
                }
            })
    }
}

private struct SubscriptionMessages: AsyncSequence, Sendable {
    let subscription: EventSubscription

    func makeAsyncIterator() -> SubscriptionIterator<EventSubscription.Message> { subscription.makeAsyncIterator() }
}
