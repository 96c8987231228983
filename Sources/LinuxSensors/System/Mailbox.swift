import CLinux
import Glibc
import Synchronization

/// Messages from worker threads to the event thread, which waits for ``descriptor`` among others.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let event: Descriptor

    init() throws(SystemError) {
        event = Descriptor(owning: try systemCall("eventfd") { clinux_eventfd() })
    }

    /// Readable while there are messages.
    var descriptor: Int32 { event.raw }

    /// Leaves a message and wakes the event thread.
    ///
    /// - Returns: Whether somebody will take it; otherwise whoever made it undoes it.
    @discardableResult
    func post(_ message: Message) -> Bool {
        let isTaken = state.withLock { state in
            if !state.isClosed { state.messages.append(message) }
            return !state.isClosed
        }
        wake()
        return isTaken
    }

    /// Takes no more messages.
    ///
    /// - Returns: Those that nobody has taken.
    func close() -> [Message] {
        state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Wakes the event thread; safe in a signal handler.
    func wake() {
        var one: UInt64 = 1
        // It fails only when the counter is full, and then the other side is awake anyway.
        _ = write(event.raw, &one, 8)
    }

    /// Takes all messages, in their order, in exchange for an empty list whose room is used again.
    func takeAll(into list: inout [Message]) {
        list.removeAll(keepingCapacity: true)
        var count: UInt64 = 0
        _ = read(event.raw, &count, 8)
        state.withLock { swap(&$0.messages, &list) }
    }
}
