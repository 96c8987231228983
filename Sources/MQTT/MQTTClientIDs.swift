import LinuxSystem
import Synchronization

/// The client IDs that this process uses, each with its broker.
///
/// A broker closes the connection of a client when another client connects with its ID. A handler's successor therefore waits
/// until the handler has disconnected: otherwise each would break the other's connection, and the last status would be the old
/// one's "offline".
enum MQTTClientIDs {
    private struct State {
        var taken: Set<String> = []
        var waiting: [(client: String, waker: Waker)] = []
    }

    private static let state = Mutex(State())

    /// Claims a client ID; if it is in use, the waker is woken when that may have changed.
    static func claim(_ client: String, waker: Waker) -> Bool {
        state.withLock { state in
            state.waiting.removeAll { $0.waker === waker }
            if state.taken.insert(client).inserted { return true }
            state.waiting.append((client, waker))
            return false
        }
    }

    static func cancel(_ waker: Waker) {
        state.withLock { state in state.waiting.removeAll { $0.waker === waker } }
    }

    static func release(_ client: String) {
        let wakers = state.withLock { state in
            state.taken.remove(client)
            return state.waiting.filter { $0.client == client }.map(\.waker)
        }
        for waker in wakers { waker.wake() }
    }
}
