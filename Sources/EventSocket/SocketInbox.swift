import Binnacle

/// What other threads leave for the server's thread, since it last looked.
///
/// Not a ``BoundedQueue``: the oldest events are thrown away instead of the newest, because subscribers read those from the
/// history, and of numbers and answers only the last counts.
struct SocketInbox: Sendable {
    /// Published events, the last ones when there were too many.
    private(set) var events: [PublishedEvent] = []
    /// The number of the newest event that was thrown away because there were too many.
    private(set) var droppedThrough: UInt64?
    /// The number behind which events are going to be counted, when that has become higher.
    var behind: UInt64?
    /// Pages of the history, by the connection that they are for.
    var pages: [(connection: UInt64, page: EventPage)] = []
    /// The answer to `status`, for all connections that have asked.
    var status: String?

    /// The most events that wait.
    static let capacity = 8192

    /// Whether there is nothing.
    var isEmpty: Bool { events.isEmpty && behind == nil && pages.isEmpty && status == nil }

    /// Adds events; when too many wait, the oldest are thrown away.
    mutating func publish(_ published: [PublishedEvent]) {
        events += published
        let excess = events.count - Self.capacity
        guard excess > 0 else { return }
        // More than necessary, so that not each further event moves them all.
        let gone = events.prefix(max(excess, Self.capacity / 2))
        let newest = gone.lazy.filter { !EventKind.repeated.contains($0.event.kind) }.map(\.event.sequence).max()
        droppedThrough = max(droppedThrough ?? 0, newest ?? 0)
        events.removeFirst(gone.count)
    }

    /// Takes everything.
    mutating func takeAll() -> SocketInbox {
        defer { self = SocketInbox() }
        return self
    }
}
