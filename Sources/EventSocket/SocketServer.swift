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
/// Every key of a subscription is optional. `kinds` and `sensors` filter; without `kinds` that is all except those that repeat an
/// ongoing state. With `"readings":{"interval_s":0.1,"sensors":["lid"]}`, both keys optional, live readings are sent between the
/// events, and `kinds` may be empty; with `"samples":{"sensors":["lid"],"kinds":["gyroscope"],"raw":false,"interval_s":0}` the
/// samples themselves. `after` is the number of the event after which to begin, 0 for the oldest stored one, and
/// `identity` the identity of that sequence from an earlier answer; `since_ns` begins at a wall clock time. Without both, a
/// subscription begins now. With `follow` false it ends with the events up to now.
///
/// The server answers `{"subscribed":{"identity":"…","seq":130,"after":123}}` (the newest number, and where it begins),
/// and then sends each event as ``Event/json`` in the order of the numbers.
/// `{"missed":{"count":12,"from":5,"through":16, "reason":"…"}}` replaces events that it cannot send; it has no count
/// and no numbers where they are unknown. `{"readings":{…}}` is what an interval showed (``LiveValues``), without the lanes
/// that the line before had as well. `{"samples":{…}}` has consecutive samples of one stream (``StreamedSamples``), and the
/// number of those before them that the client did not read in time. `{"end":{}}` is the last line of a subscription that does not follow.
/// `{"status":{…}}` answers the other request. `{"error":{"message":"…","column":n}}` refuses; the column is the byte
/// of the request that it is about, and `"busy":true` says that there are too many connections. After these three the
/// server closes the connection. A client ignores what it does not know.
///
/// A request has at most 64 KiB and has to arrive within ten seconds; after it a client sends nothing, but may shut down its
/// sending direction. A slow subscriber delays no other: it gets events from the ring of the last events, from the history when
/// it has fallen behind the ring, and without a history the numbers of missed events. Kinds that repeat a state (`motion.moving`,
/// `north.facing`) are in no history.
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
    private let gauges = Gauges(SocketGauges())

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

    /// The state of the server; on any thread.
    package var statistics: SocketStatistics { gauges.values.statistics }

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
