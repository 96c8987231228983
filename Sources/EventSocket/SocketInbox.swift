package import Binnacle

/// The messages of other threads to the server's thread.
///
/// Not a ``BoundedQueue``: the oldest events are dropped instead of the newest, because subscribers read those from the history,
/// and of sequence numbers and answers only the last matters.
package struct SocketInbox: Sendable {
    /// Published events; the last ones after an overflow.
    private(set) var events: [PublishedEvent] = []
    private(set) var droppedThrough: UInt64?
    /// The number after which events are counted, if it has increased.
    package var behind: UInt64?
    /// Pages of the history, with the connections that requested them.
    var pages: [(connection: UInt64, page: EventPage)] = []
    /// The answer to `status`, for all connections that requested it.
    var status: String?
    /// What became of requests for a change, by their connections.
    var changes: [(connection: UInt64, answer: SocketMessage)] = []
    /// The live readings since the last call.
    var readings: LiveValues?
    /// The samples since the last call, of each stream that a client subscribes to.
    private(set) var samples: [SampleQueue] = []
    /// The streams that there are, if that has changed.
    var sampleStreams: [SampleOrigin]?

    private static let capacity = 8192

    /// Creates an inbox without messages.
    package init() {}

    /// Adds the events kept while the server was being opened.
    mutating func add(_ kept: SocketInbox) {
        publish(kept.events)
        droppedThrough = [droppedThrough, kept.droppedThrough].compactMap { $0 }.max()
        behind = [behind, kept.behind].compactMap { $0 }.max()
    }

    mutating func publish(_ columns: SampleColumns, of origin: SampleOrigin) {
        let place = samples.firstIndex { $0.origin == origin } ?? samples.endIndex
        if place == samples.endIndex { samples.append(SampleQueue(origin)) }
        samples[place].append(columns)
    }

    /// Adds events, and drops the oldest beyond the capacity.
    package mutating func publish(_ published: [PublishedEvent]) {
        events += published
        let excess = events.count - Self.capacity
        guard excess > 0 else { return }
        // More than necessary, so that not every further event moves the others.
        let gone = events.prefix(max(excess, Self.capacity / 2))
        let newest = gone.lazy.filter { !EventKind.repeated.contains($0.event.kind) }.map(\.event.sequence).max()
        droppedThrough = max(droppedThrough ?? 0, newest ?? 0)
        events.removeFirst(gone.count)
    }
}
