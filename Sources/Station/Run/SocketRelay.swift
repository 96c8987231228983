package import Binnacle
package import EventSocket
import Synchronization

/// Forwards events to the current socket server, and keeps them for the one that is being opened.
package final class SocketRelay: Sendable {
    private struct State {
        var server: SocketServer?
        /// What was published since the opening of another server began.
        var kept: SocketInbox?
        /// The number of the last event that was published; the store has those before it.
        var sequence: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates a relay without a server.
    package init() {}

    /// The server; `nil` when there is none.
    package var server: SocketServer? { state.withLock { $0.server } }

    /// Whether a server, or one that is being opened, wants the events.
    package var isUsed: Bool { state.withLock { $0.server != nil || $0.kept != nil } }

    /// Counts events after a number, up to which the store has them.
    package func `continue`(behind sequence: UInt64) {
        state.withLock { state in
            state.sequence = max(state.sequence, sequence)
            state.server?.continue(behind: sequence)
            if let kept = state.kept { state.kept?.behind = max(kept.behind ?? 0, sequence) }
        }
    }

    /// Keeps what is published from now on, for the server that is being opened; the current one gets it as well.
    ///
    /// - Returns: The number of the last event that is not kept.
    package func keep() -> UInt64 {
        state.withLock { state in
            state.kept = SocketInbox()
            return state.sequence
        }
    }

    /// Keeps nothing any more, because the server could not be opened.
    package func discard() {
        state.withLock { $0.kept = nil }
    }

    /// Puts another server in the place of the one that is there, and hands it what was kept.
    package func exchange(for server: SocketServer?) {
        state.withLock { state in
            if let kept = state.kept { server?.publish(kept) }
            state.kept = nil
            state.server = server
        }
    }

    /// Hands live readings on; what is being opened has no subscribers yet.
    package func publish(_ readings: LiveValues) {
        state.withLock { $0.server?.publish(readings) }
    }

    /// Hands events on; called on any thread.
    package func publish(_ events: [PublishedEvent]) {
        state.withLock { state in
            state.server?.publish(events)
            state.kept?.publish(events)
            // A repeated state has the number of the event before it, which may not be published yet.
            for published in events where !EventKind.repeated.contains(published.event.kind) {
                state.sequence = max(state.sequence, published.event.sequence)
            }
        }
    }
}
