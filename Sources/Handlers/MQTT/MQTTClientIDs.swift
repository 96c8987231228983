import LinuxSystem
import Synchronization

/// Which clients this process has at which brokers.
///
/// A broker closes the connection of a client when another one comes under its name. So a handler that takes over from
/// another waits until that one has said goodbye: otherwise the old one would come back and close the new one's
/// connection, and its "offline" would be the last word.
enum MQTTClientIDs {
    private struct State {
        var taken: Set<String> = []
        var waiting: [(client: String, waker: Waker)] = []
    }

    private static let state = Mutex(State())

    /// Takes a client's name.
    ///
    /// - Parameters:
    ///   - client: The broker and the name.
    ///   - waker: Woken when the name may be free.
    /// - Returns: Whether it was free.
    static func claim(_ client: String, waker: Waker) -> Bool {
        state.withLock { state in
            state.waiting.removeAll { $0.waker === waker }
            if state.taken.insert(client).inserted { return true }
            state.waiting.append((client, waker))
            return false
        }
    }

    /// No longer waits for a name.
    static func forget(_ waker: Waker) {
        state.withLock { state in state.waiting.removeAll { $0.waker === waker } }
    }

    /// Gives a name back.
    static func release(_ client: String) {
        let wakers = state.withLock { state in
            state.taken.remove(client)
            return state.waiting.filter { $0.client == client }.map(\.waker)
        }
        for waker in wakers { waker.wake() }
    }
}
