package import Binnacle
import LinuxSystem
package import PlainText

/// Offers events on a Unix stream socket, as lines of JSON, to the clients that may connect; docs/events.md and
/// binnacle-events(7) have the protocol.
///
/// A slow subscriber delays no other: it gets events from the ring of the last events, from the history when it has fallen behind
/// the ring, and without a history the numbers of missed events.
package final class SocketServer: Sendable {
    /// The server's interface to the daemon; everything is called on the server's thread.
    package struct Surroundings: Sendable {
        package var say: @Sendable (_ message: String, _ level: LogLevel) -> Void = { _, _ in }
        /// Requests the daemon's status; `reply` is called once, on any thread, with a JSON object on one line.
        package var status: @Sendable (_ reply: @escaping @Sendable (String) -> Void) -> Void = { $0("{}") }
        /// Changes something in the daemon; `reply` is called once, on any thread, with why it cannot, or why a restart will not know.
        package var change:
            @Sendable (DaemonChange, _ reply: @escaping @Sendable (_ refusal: String?, _ problem: String?) -> Void) ->
                Void = { $1(nil, nil) }
        /// Called after each change of the subscribed repeated kinds.
        package var repeatedKindsChanged: @Sendable (Set<EventKind>) -> Void = { _ in }
        /// Called after each change of the live readings that serve all subscribers; `nil` for none.
        package var readingsChanged: @Sendable (LiveValuesRequest?) -> Void = { _ in }
        /// Called after each change of the streams whose samples are subscribed to.
        package var samplesChanged: @Sendable (Set<SampleOrigin>) -> Void = { _ in }

        /// Creates surroundings that ignore everything.
        package init() {}
    }

    private let courier: Courier<SocketInbox>
    private let listener: SocketListener
    private let gauges = Gauges(SocketStatistics())

    /// Creates the socket and starts the server's thread.
    ///
    /// - Parameters:
    ///   - settings: The socket, and the clients that may connect.
    ///   - history: The events that are no longer in memory; it gets every event before the event is published.
    ///   - identity: The identity of the sequence without a history; `nil` for a new one.
    ///   - sequence: The number of the last event in the history, after which events are counted.
    ///   - ringCapacity: The maximum number of events in memory.
    ///   - sampleStreams: The streams whose samples clients may request.
    ///   - requestTime: The timeout of a client's request.
    ///   - old: The server of this process that it replaces; it runs until it is requested to finish.
    ///   - surroundings: The interface to the daemon.
    /// - Throws: ``SocketServerError``.
    package init(
        _ settings: SocketSettings, history: (any EventHistory)? = nil, identity: String? = nil,
        startingBehind sequence: UInt64 = 0, ringCapacity: Int = 1024, sampleStreams: [SampleOrigin] = [],
        requestTime: Duration = .seconds(10), replacing old: SocketServer? = nil,
        surroundings: Surroundings = Surroundings()
    ) throws(SocketServerError) {
        let policy = try PeerPolicy(settings)
        courier = try mapError(SocketServerError.system) { () throws(SystemError) in try Courier(SocketInbox()) }
        listener = try SocketListener(settings, replacing: old?.listener)
        do throws(SystemError) {
            let service = Transfer(
                try SocketService(
                    listener: listener, courier: courier, gauges: gauges, policy: policy, settings: settings,
                    history: history, identity: identity,
                    ring: EventRing(capacity: ringCapacity, startingBehind: sequence), sampleStreams: sampleStreams,
                    requestNanoseconds: Units.nanoseconds(requestTime), surroundings: surroundings))
            try courier.start { service.take()?.run() }
        } catch {
            listener.remove()
            throw .system(error)
        }
    }

    /// Sends events, in the order of their numbers, to subscribers; on any thread, without waiting.
    package func publish(_ events: [PublishedEvent]) {
        if !events.isEmpty { courier.add { $0.publish(events) } }
    }

    /// Sends live readings to the clients that requested them; on any thread, without waiting.
    package func publish(_ readings: LiveValues) {
        courier.add { $0.readings = $0.readings?.joined(with: readings) ?? readings }
    }

    /// Sends samples of a stream to the clients that requested them; on any thread, without waiting.
    package func publish(_ columns: SampleColumns, of origin: SampleOrigin) {
        courier.add { $0.publish(columns, of: origin) }
    }

    /// Replaces the streams whose samples clients may request.
    package func offer(_ streams: [SampleOrigin]) {
        courier.add { $0.sampleStreams = streams }
    }

    /// Sends the events kept while the server was being opened.
    package func publish(_ kept: SocketInbox) {
        courier.add { $0.add(kept) }
    }

    /// Counts events after a higher number, up to which a history that is opened later has them.
    package func `continue`(behind sequence: UInt64) {
        courier.add { $0.behind = max($0.behind ?? 0, sequence) }
    }

    /// Whether clients still find the socket at its path; on any thread, which a slow file system may keep.
    package var isThere: Bool { listener.isThere }

    package var statistics: SocketStatistics { gauges.values }

    /// Accepts no more connections, removes the socket's file, sends subscribers the published events, and closes connections
    /// after that duration.
    package func finish(within duration: Duration = .milliseconds(200)) {
        courier.requestStop(StopPlan(within: Units.nanoseconds(duration)))
    }

    /// Waits for the end after ``finish(within:)``; returns whether it ended before a time on CLOCK_MONOTONIC.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        courier.waitForEnd(until: deadlineNanoseconds)
    }
}
