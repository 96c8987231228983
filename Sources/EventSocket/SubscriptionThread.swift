import Binnacle
import LinuxSystem
import Synchronization

/// A thread that reads a subscription for a task; it ends with the last reference to this object.
final class SubscriptionThread: Sendable {
    private let channel = SubscriptionChannel()
    private let hasBegun = Atomic(false)
    private let request: SubscriptionRequest
    private let path: String
    private let reconnects: Bool

    init(_ request: SubscriptionRequest, path: String, reconnects: Bool) {
        self.request = request
        self.path = path
        self.reconnects = reconnects
    }

    deinit {
        channel.cancel()
    }

    /// The next message, awaited without blocking a thread of the concurrency runtime; `nil` at the end.
    func next() async throws(EventSubscriptionError) -> EventSubscription.Message? {
        if !hasBegun.exchange(true, ordering: .relaxed) { start() }
        return try await channel.next().get()
    }

    /// Starts the thread, which retains the channel and not this object.
    private func start() {
        let (channel, request, path, reconnects) = (channel, request, path, reconnects)
        do throws(SystemError) {
            let wakers = SubscriptionChannel.Wakers(end: try Waker(), room: try Waker())
            guard channel.attach(wakers) else { return }
            try WorkerThread.start {
                let reader = SubscriptionReader(
                    request, path: path, patience: reconnects ? .always : .none, cancelling: wakers.end.descriptor)
                Self.read(reader, into: channel, wakers.room)
                // The reader polls their descriptors.
                withExtendedLifetime(wakers) {}
            }
        } catch {
            channel.messages.finish(.system(reason: error.description))
        }
    }

    private static func read(_ reader: SubscriptionReader, into channel: SubscriptionChannel, _ room: Waker) {
        while true {
            do throws(EventSubscriptionError) {
                switch try reader.next() {
                case .event(let event, _): guard channel.put(.event(event), room) else { return }
                case .readings(let readings): guard channel.put(.readings(readings), room) else { return }
                case .missed(let missed): guard channel.put(.missed(missed), room) else { return }
                case .end, .cancelled: return channel.messages.finish()
                }
            } catch {
                return channel.messages.finish(error)
            }
        }
    }
}
