import Binnacle
import LinuxSystem
import Synchronization

/// A thread that reads a subscription for a task; it ends with the last reference to this object.
final class SubscriptionThread<Message: Sendable>: Sendable {
    private let channel = SubscriptionChannel<Message>()
    private let hasBegun = Atomic(false)
    private let request: SubscriptionRequest
    private let path: String
    private let reconnects: Bool
    private let choose: @Sendable (SocketMessage) -> Message?

    /// Creates an object without a thread; `choose` makes of the daemon's messages those of the task, and `nil` of the others.
    init(
        _ request: SubscriptionRequest, path: String, reconnects: Bool,
        choose: @escaping @Sendable (SocketMessage) -> Message?
    ) {
        self.request = request
        self.path = path
        self.reconnects = reconnects
        self.choose = choose
    }

    deinit {
        channel.cancel()
    }

    /// The next message, awaited without blocking a thread of the concurrency runtime; `nil` at the end.
    func next() async throws(EventSubscriptionError) -> Message? {
        if !hasBegun.exchange(true, ordering: .relaxed) { start() }
        return try await channel.next().get()
    }

    /// Starts the thread, which retains the channel and not this object.
    private func start() {
        let (channel, request, path, reconnects, choose) = (channel, request, path, reconnects, choose)
        do throws(SystemError) {
            let wakers = try (end: Waker(), room: Waker())
            guard channel.attach(wakers) else { return }
            try WorkerThread.start {
                let reader = SubscriptionReader(
                    request, path: path, patience: reconnects ? .always : .none, cancelling: wakers.end.descriptor)
                Self.read(reader, choose, into: channel, wakers.room)
                // The reader polls their descriptors.
                withExtendedLifetime(wakers) {}
            }
        } catch {
            channel.messages.finish(.system(reason: error.description))
        }
    }

    private static func read(
        _ reader: SubscriptionReader, _ choose: (SocketMessage) -> Message?,
        into channel: SubscriptionChannel<Message>, _ room: Waker
    ) {
        while true {
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .end, nil: return channel.messages.finish()
                case let message?: if let chosen = choose(message), !channel.put(chosen, room) { return }
                }
            } catch {
                return channel.messages.finish(error)
            }
        }
    }
}
