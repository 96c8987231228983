package import Binnacle
import Glibc
import LinuxSystem
import Synchronization

/// Offers events on a Unix stream socket, as lines of JSON, to whoever may connect.
///
/// The protocol: a client sends one line and reads lines.
///
///     {"subscribe":{"kinds":["motion.began"],"sensors":["lid"],"after":123,"identity":"…","since_ns":…,"follow":true}}
///     {"status":{}}
///
/// Every key of a subscription may be left out. `kinds` and `sensors` choose; without `kinds` that is all but those that
/// repeat an ongoing state. `after` is the number of the event behind which to begin, 0 for the oldest that is kept, and
/// `identity` what that number belongs to, as the server has said it before; `since_ns` begins at a time of the wall
/// clock. Without both, a subscription begins now. With `follow` false it ends with what has happened by now.
///
/// The server answers `{"subscribed":{"identity":"…","seq":130,"after":123}}` (the newest number, and where it begins), and
/// then sends each event as ``Event/json`` writes it, in the order of the numbers. `{"missed":{"count":12,"from":5,
/// "through":16,"reason":"…"}}` stands in for events that it cannot send; it has no count and no numbers where nobody knows
/// them. `{"end":{}}` is the last line of a subscription that does not follow. `{"status":{…}}` answers the other request.
/// `{"error":{"message":"…","column":n}}` refuses; the column is the byte of the request that it is about. After these
/// three the server closes the connection. A client passes over what it does not know.
///
/// A request has at most 64 KiB and comes within ten seconds; after it a client sends nothing, but may shut down its
/// sending direction. A subscriber that reads slowly keeps nobody waiting: it gets what it wants from the ring of the last
/// events, from the history when it has fallen behind that, and without a history is told what it missed. States that
/// repeat (`motion.moving`, `north.facing`) are in no history.
package final class SocketServer: Sendable {
    /// How urgent something is that is said.
    package enum Level: Sendable {
        /// What helps to find a fault.
        case debug
        /// Something that is as it should be.
        case info
        /// Something may go wrong.
        case warning
    }

    /// What the server needs of the rest of the daemon; everything is called on the server's thread.
    package struct Surroundings: Sendable {
        /// Says something to whoever runs the daemon.
        package var say: @Sendable (_ message: String, _ level: Level) -> Void = { _, _ in }
        /// Asks how the daemon is; the answer is an object of JSON on one line, and is given once, on any thread.
        package var status: @Sendable (_ reply: @escaping @Sendable (String) -> Void) -> Void = { $0("{}") }
        /// Told which of the kinds that repeat a state somebody wants, each time that changes.
        package var repeatedKindsChanged: @Sendable (Set<EventKind>) -> Void = { _ in }

        /// Creates surroundings in which nobody listens.
        package init() {}
    }

    private let courier: Courier<SocketInbox>
    private let gauges = SocketGauges()

    /// Makes the socket and starts the server's thread.
    ///
    /// - Parameters:
    ///   - settings: Where, and who may connect.
    ///   - history: Where events can be had that are no longer in memory; it has every event before it is published.
    ///   - sequence: The number behind which events are counted: that of the last event in the history.
    ///   - ringCapacity: The most events in memory.
    ///   - requestTime: How long a client may take to say what it wants.
    ///   - surroundings: The rest of the daemon.
    /// - Throws: ``SocketServerError``.
    package init(
        _ settings: SocketSettings, history: (any EventHistory)? = nil, startingBehind sequence: UInt64 = 0,
        ringCapacity: Int = 1024, requestTime: Duration = .seconds(10), surroundings: Surroundings = Surroundings()
    ) throws(SocketServerError) {
        let policy = try PeerPolicy(settings)
        let (courier, epoll) = try mapError(SocketServerError.system) { () throws(SystemError) in
            (try Courier(SocketInbox()), try Epoll())
        }
        self.courier = courier
        let listener = try SocketListener(settings)
        let gauges = gauges
        // From here on only the server's thread uses it.
        nonisolated(unsafe) let threadEpoll = epoll
        do throws(SystemError) {
            try threadEpoll.add(listener.raw, token: SocketService.listenerToken)
            try threadEpoll.add(courier.waker.descriptor, token: SocketService.wakerToken)
            try courier.start {
                let service = SocketService(
                    listener: listener, epoll: threadEpoll, courier: courier, gauges: gauges, policy: policy,
                    connectionLimit: settings.connectionLimit, reservedPlaces: settings.reservedPlaces,
                    history: history,
                    ring: EventRing(capacity: ringCapacity, startingBehind: sequence),
                    requestNanoseconds: Units.nanoseconds(requestTime), surroundings: surroundings)
                service.run()
            }
        } catch {
            listener.remove()
            throw .system(error)
        }
    }

    /// Sends events to all who want them; from any thread, without waiting.
    ///
    /// - Parameter events: In the order of their numbers, also from one call to the next.
    package func publish(_ events: [PublishedEvent]) {
        if !events.isEmpty { courier.add { $0.publish(events) } }
    }

    /// Goes on behind a number, where that is further than what was published: the events up to it are in the history.
    ///
    /// - Parameter sequence: The number; for a history that can be read only later than the server begins.
    package func `continue`(behind sequence: UInt64) {
        courier.add { $0.behind = max($0.behind ?? 0, sequence) }
    }

    /// How the server is; may be asked on any thread.
    package var statistics: SocketStatistics { gauges.statistics }

    /// Takes no more connections, removes the socket's file, and gives subscribers what has been published.
    ///
    /// - Parameter duration: How long that may take; then connections are closed.
    package func finish(within duration: Duration = .milliseconds(200)) {
        courier.requestStop(StopPlan(within: Units.nanoseconds(duration)))
    }

    /// Waits for the end, after ``finish(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: Whether the server has ended by then.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        courier.waitForEnd(until: deadlineNanoseconds)
    }
}

extension Courier<SocketInbox> {
    /// Adds something, and wakes the thread unless it was woken for something before.
    func add(_ change: (inout SocketInbox) -> Void) {
        leave { inbox in
            defer { change(&inbox) }
            return inbox.isEmpty
        }
    }
}
