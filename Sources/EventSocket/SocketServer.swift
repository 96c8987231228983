package import Binnacle
import LinuxSystem
package import PlainText
import Synchronization

/// Offers events on a Unix stream socket, as lines of JSON, to the clients that may connect.
///
/// The protocol: a client sends one line and reads lines.
///
///     {"subscribe":{"kinds":["motion.began"],"sensors":["lid"],"after":123,"identity":"…","since_ns":…,"follow":true}}
///     {"status":{}}
///
/// Every key of a subscription may be omitted. `kinds` and `sensors` choose; without `kinds` that is all but those that
/// repeat an ongoing state. With `"readings":{"interval_s":0.1,"sensors":["lid"]}`, both keys optional, live readings come
/// between the events, and `kinds` may be empty. `after` is the number of the event after which to begin, 0 for the oldest that is kept, and
/// `identity` what that number belongs to, as the server told it before; `since_ns` begins at a time of the wall clock.
/// Without both, a subscription begins now. With `follow` false it ends with the events up to now.
///
/// The server answers `{"subscribed":{"identity":"…","seq":130,"after":123}}` (the newest number, and where it begins),
/// and then sends each event as ``Event/json`` in the order of the numbers.
/// `{"missed":{"count":12,"from":5,"through":16, "reason":"…"}}` replaces events that it cannot send; it has no count
/// and no numbers where they are unknown. `{"readings":{…}}` is what an interval showed (``LiveValues``). `{"end":{}}` is the last line of a subscription that does not follow.
/// `{"status":{…}}` answers the other request. `{"error":{"message":"…","column":n}}` refuses; the column is the byte
/// of the request that it is about. After these three the server closes the connection. A client ignores what it does
/// not know.
///
/// A request has at most 64 KiB and comes within ten seconds; after it a client sends nothing, but may shut down its
/// sending direction. A slow subscriber delays nothing: it gets events from the ring of the last events, from the
/// history when it has fallen behind the ring, and without a history gets the numbers that it missed. Kinds that repeat a state
/// (`motion.moving`, `north.facing`) are in no history.
package final class SocketServer: Sendable {
    /// What the server needs of the rest of the daemon; everything is called on the server's thread.
    package struct Surroundings: Sendable {
        /// Writes a message to the log.
        package var say: @Sendable (_ message: String, _ level: LogLevel) -> Void = { _, _ in }
        /// Requests the daemon's status; the reply is a JSON object on one line, and comes once, on any thread.
        package var status: @Sendable (_ reply: @escaping @Sendable (String) -> Void) -> Void = { $0("{}") }
        /// Called with the repeated kinds that are subscribed to, each time they change.
        package var repeatedKindsChanged: @Sendable (Set<EventKind>) -> Void = { _ in }
        /// Called with the shortest interval of the live readings that are subscribed to, in nanoseconds, or `nil` when
        /// none are, each time it changes.
        package var readingsIntervalChanged: @Sendable (Int64?) -> Void = { _ in }

        /// Creates surroundings that ignore everything.
        package init() {}
    }

    private let courier: Courier<SocketInbox>
    private let listener: SocketListener
    private let gauges = SocketGauges()

    /// Creates the socket and starts the server's thread.
    ///
    /// - Parameters:
    ///   - settings: The socket, and who may connect.
    ///   - history: The events that are no longer in memory; it has every event before it is published.
    ///   - identity: What the numbers belong to without a history; `nil` for a new identity.
    ///   - sequence: The number of the last event in the history, after which events are counted.
    ///   - ringCapacity: The maximum number of events in memory.
    ///   - requestTime: The time for a client's request.
    ///   - old: The server of this process whose place it takes; it goes on until it is told to finish.
    ///   - surroundings: The rest of the daemon.
    /// - Throws: ``SocketServerError``.
    package init(
        _ settings: SocketSettings, history: (any EventHistory)? = nil, identity: String? = nil,
        startingBehind sequence: UInt64 = 0, ringCapacity: Int = 1024, requestTime: Duration = .seconds(10),
        replacing old: SocketServer? = nil, surroundings: Surroundings = Surroundings()
    ) throws(SocketServerError) {
        let policy = try PeerPolicy(settings)
        courier = try mapError(SocketServerError.system) { () throws(SystemError) in try Courier(SocketInbox()) }
        listener = try SocketListener(settings, replacing: old?.listener)
        do throws(SystemError) {
            let service = Transfer(
                try SocketService(
                    listener: listener, courier: courier, gauges: gauges, policy: policy, settings: settings,
                    history: history, identity: identity,
                    ring: EventRing(capacity: ringCapacity, startingBehind: sequence),
                    requestNanoseconds: Units.nanoseconds(requestTime), surroundings: surroundings))
            try courier.start { service.take()?.run() }
        } catch {
            listener.remove()
            throw .system(error)
        }
    }

    /// Sends events, in the order of their numbers, to their subscribers; from any thread, without waiting.
    package func publish(_ events: [PublishedEvent]) {
        if !events.isEmpty { courier.add { $0.publish(events) } }
    }

    /// Sends live readings to those who want them; from any thread, without waiting.
    package func publish(_ readings: LiveValues) {
        courier.add { $0.readings = $0.readings?.joined(with: readings) ?? readings }
    }

    /// Sends the events that were kept while the server was opened.
    package func publish(_ kept: SocketInbox) {
        courier.add { $0.add(kept) }
    }

    /// Counts events after a higher number, up to which the history has them; for a history that is opened later.
    package func `continue`(behind sequence: UInt64) {
        courier.add { $0.behind = max($0.behind ?? 0, sequence) }
    }

    /// The state of the server; on any thread.
    package var statistics: SocketStatistics { gauges.statistics }

    /// Accepts no more connections, removes the socket's file, and sends subscribers the published events.
    ///
    /// When the time for that is over, connections are closed.
    package func finish(within duration: Duration = .milliseconds(200)) {
        courier.requestStop(StopPlan(within: Units.nanoseconds(duration)))
    }

    /// Waits for the end, after ``finish(within:)``; whether it has ended by a time on CLOCK_MONOTONIC.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        courier.waitForEnd(until: deadlineNanoseconds)
    }
}
