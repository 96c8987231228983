import Binnacle
import LinuxSystem
import Synchronization

/// What ends the waits of a subscription's thread: at its end, and when the queue has space.
typealias SubscriptionWakers = (end: Waker, room: Waker)

/// Passes messages from a thread that may block to a task that must not; the thread waits while the queue is full.
final class SubscriptionChannel<Message: Sendable>: Sendable {
    let messages = Handover<Message, EventSubscriptionError>(capacity: 64, overflow: .refuse)
    private let wakers = Mutex<(wakers: SubscriptionWakers?, isCancelled: Bool)>((nil, false))
    /// Whether the thread waits for space, or is about to.
    private let isFull = Atomic(false)

    /// The next message, or the end when the task is cancelled.
    func next() async -> Handover<Message, EventSubscriptionError>.Outcome {
        let outcome = await messages.next { [self] in cancel() }
        if isFull.exchange(false, ordering: .sequentiallyConsistent) { wakers.withLock { $0.wakers }?.room.wake() }
        return outcome
    }

    /// Ends the thread and the wait of the task.
    func cancel() {
        messages.close()
        let wakers = wakers.withLock { state in
            state.isCancelled = true
            return state.wakers
        }
        wakers?.end.wake()
        wakers?.room.wake()
    }

    /// Stores the thread's wakers; `false` when the channel is already cancelled.
    func attach(_ new: SubscriptionWakers) -> Bool {
        wakers.withLock { state in
            state.wakers = new
            return !state.isCancelled
        }
    }

    /// Adds a message, and waits while the queue is full; `false` when the channel is cancelled.
    func put(_ message: Message, _ room: Waker) -> Bool {
        while true {
            switch messages.offer(message) {
            case .taken: return true
            case .closed: return false
            case .full:
                // The message is offered again after this, because the task may have removed one before.
                if isFull.exchange(true, ordering: .sequentiallyConsistent) { room.wait(timeoutMilliseconds: -1) }
            }
        }
    }
}
