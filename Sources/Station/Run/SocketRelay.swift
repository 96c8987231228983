import Binnacle
import EventSocket
import Synchronization

/// Forwards events to the current socket server.
final class SocketRelay: Sendable {
    private let current = Mutex<SocketServer?>(nil)

    /// The server; `nil` when the configuration wants none.
    var server: SocketServer? { current.withLock { $0 } }

    /// Puts another server in the place of the one that is there.
    func exchange(for server: SocketServer?) {
        current.withLock { $0 = server }
    }

    /// Hands events on; called on any thread.
    func publish(_ events: [PublishedEvent]) {
        server?.publish(events)
    }
}
