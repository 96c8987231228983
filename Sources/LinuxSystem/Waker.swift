import CLinux
import Glibc

/// Ends the event thread's wait, from another thread or from a signal handler.
package final class Waker: Sendable {
    private let event: Descriptor

    /// Creates a waker that was not woken.
    package init() throws(SystemError) {
        event = Descriptor(owning: try systemCall("eventfd") { clinux_eventfd() })
    }

    /// Readable from ``wake()`` until ``clear()``; a signal handler may write eight bytes that are not 0 to it.
    package var descriptor: Int32 { event.raw }

    /// Ends the wait, or else the next one; safe in a signal handler.
    package func wake() {
        var one: UInt64 = 1
        // It fails only when the counter is full, and then the other side is awake anyway.
        _ = write(event.raw, &one, 8)
    }

    /// Clears the wake-up; called before looking for the reason, so that none is missed.
    package func clear() {
        var count: UInt64 = 0
        _ = read(event.raw, &count, 8)
    }

    /// Waits for being woken, for a signal, or for the end of a time; for a thread with nothing else to wait for.
    ///
    /// - Parameter timeoutMilliseconds: The longest wait; −1 has no end.
    package func wait(timeoutMilliseconds: Int32) {
        var ready = pollfd(fd: event.raw, events: Int16(POLLIN), revents: 0)
        if poll(&ready, 1, timeoutMilliseconds) > 0 { clear() }
    }
}
