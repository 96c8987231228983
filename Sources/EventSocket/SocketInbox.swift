import Binnacle
import LinuxSystem
import Synchronization

/// What other threads leave for the server's thread.
final class SocketInbox: Sendable {
    /// Everything that has come since somebody last looked.
    struct Contents {
        /// Published events, the last ones when there were too many.
        var events: [PublishedEvent] = []
        /// The number of the newest event that was thrown away because there were too many.
        var droppedThrough: UInt64?
        /// The number behind which events are going to be counted, when that has become higher.
        var behind: UInt64?
        /// Pages of the history, by the connection that they are for.
        var pages: [(connection: UInt64, page: EventPage)] = []
        /// The answer to `status`, for all who have asked.
        var status: String?
        /// When the server has to have ended, on CLOCK_MONOTONIC; `nil` as long as it goes on.
        var deadline: Int64?

        /// Whether there is nothing.
        var isEmpty: Bool { events.isEmpty && behind == nil && pages.isEmpty && status == nil }
    }

    /// The most events that wait.
    static let capacity = 8192

    /// Wakes the server's thread.
    let waker: Waker
    private let contents = Mutex(Contents())

    /// Creates an empty inbox.
    init() throws(SystemError) {
        waker = try Waker()
    }

    /// Leaves something, and wakes the thread unless it was woken for something before.
    func leave(_ change: (inout Contents) -> Void) {
        let isFirst = contents.withLock { contents in
            let wasEmpty = contents.isEmpty
            change(&contents)
            return wasEmpty
        }
        if isFirst { waker.wake() }
    }

    /// Leaves events; when too many wait, the oldest are thrown away.
    func publish(_ events: [PublishedEvent]) {
        leave { contents in
            contents.events += events
            let excess = contents.events.count - Self.capacity
            guard excess > 0 else { return }
            // More than necessary, so that not each further event moves them all.
            let gone = contents.events.prefix(max(excess, Self.capacity / 2))
            let newest = gone.lazy.filter { !EventKind.repeated.contains($0.event.kind) }.map(\.event.sequence).max()
            contents.droppedThrough = max(contents.droppedThrough ?? 0, newest ?? 0)
            contents.events.removeFirst(gone.count)
        }
    }

    /// Takes everything; the deadline stays.
    func takeAll() -> Contents {
        contents.withLock { contents in
            let taken = contents
            contents = Contents()
            contents.deadline = taken.deadline
            return taken
        }
    }
}
