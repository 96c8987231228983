package import Binnacle
package import EventSocket
import Synchronization

/// Forwards events to the present socket server, and keeps them for one that is being opened.
package final class SocketRelay: Sendable {
    private struct State {
        var server: SocketServer?
        /// Events since the opening of another server began.
        var kept: SocketInbox?
        /// The last published number; the store has all events before it.
        var sequence: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates a relay without a server.
    package init() {}

    /// The server; `nil` when there is none.
    package var server: SocketServer? { state.withLock { $0.server } }

    /// Whether a server, or one that is being opened, receives the events.
    package var isUsed: Bool { state.withLock { $0.server != nil || $0.kept != nil } }

    /// Continues after a number; the store has the events up to it.
    package func `continue`(behind sequence: UInt64) {
        state.withLock { state in
            state.sequence = max(state.sequence, sequence)
            state.server?.continue(behind: sequence)
            if let kept = state.kept { state.kept?.behind = max(kept.behind ?? 0, sequence) }
        }
    }

    /// Begins to keep published events for the server that is being opened; the present one still gets them.
    ///
    /// - Returns: The number of the last event that is not kept.
    package func keep() -> UInt64 {
        state.withLock { state in
            state.kept = SocketInbox()
            return state.sequence
        }
    }

    /// Discards kept events after the opening of a server failed.
    package func discard() {
        state.withLock { $0.kept = nil }
    }

    /// Replaces the server, and hands the kept events to the new one.
    package func exchange(for server: SocketServer?) {
        state.withLock { state in
            if let kept = state.kept { server?.publish(kept) }
            state.kept = nil
            state.server = server
        }
    }

    /// Publishes events; callable on any thread.
    package func publish(_ events: [PublishedEvent]) {
        state.withLock { state in
            state.server?.publish(events)
            state.kept?.publish(events)
            // A repeated state carries the number of the event before it, which may not be published yet.
            for published in events where !EventKind.repeated.contains(published.event.kind) {
                state.sequence = max(state.sequence, published.event.sequence)
            }
        }
    }
}
