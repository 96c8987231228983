import Synchronization

/// Messages from worker threads to the event thread, which is woken by each.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    /// Whether `state.messages` has any; declared first, so that its offset does not depend on `Message`.
    private let isFilled = Atomic(false)
    private let state = Mutex(State())
    /// Wakes the thread that takes the messages; may be shared.
    package let waker: Waker

    /// Creates an empty mailbox.
    package init(waker: Waker) {
        self.waker = waker
    }

    /// Adds a message and wakes the event thread, unless it is one that can wait for the next; `false` if the mailbox is
    /// closed, so that the caller has to undo its work.
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

    /// Closes the mailbox for further messages, and returns those that were not taken.
    package func close() -> [Message] {
        state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            isFilled.store(false, ordering: .relaxed)
            return state.messages
        }
    }

    /// Whether there are messages; cheaper than taking none.
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
