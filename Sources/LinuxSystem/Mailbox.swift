import Synchronization

/// Messages from worker threads to the event thread; each wakes it.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    /// Whether `state.messages` is not empty; declared first, so that its offset does not depend on `Message`.
    private let isFilled = Atomic(false)
    private let state = Mutex(State())
    /// Wakes the thread that takes the messages; may be shared.
    package let waker: Waker

    package init(waker: Waker) {
        self.waker = waker
    }

    /// Adds a message and, unless it can wait for the next, wakes the event thread; `false` if the mailbox is closed, so that the
    /// caller has to undo its work.
    @discardableResult
    package func post(_ message: Message, wakes: Bool = true) -> Bool {
        let isTaken = state.withLock { state in
            if !state.isClosed {
                state.messages.append(message)
                isFilled.store(true, ordering: .releasing)
            }
            return !state.isClosed
        }
        if wakes { waker.wake() }
        return isTaken
    }

    /// Closes the mailbox, and returns the remaining messages.
    package func close() -> [Message] {
        state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            isFilled.store(false, ordering: .relaxed)
            return state.messages
        }
    }

    /// Whether there are messages; cheaper than ``removeAll(into:)``.
    package var hasMessages: Bool { isFilled.load(ordering: .acquiring) }

    /// Takes all messages, in their order; the storage of the list is reused.
    package func removeAll(into list: inout [Message]) {
        list.removeAll(keepingCapacity: true)
        state.withLock { state in
            swap(&state.messages, &list)
            isFilled.store(false, ordering: .relaxed)
        }
    }
}
