import CLinux
import Glibc

/// Ends a thread's wait, from another thread or from a signal handler.
package final class Waker: Sendable {
    private let event: Descriptor

    package init() throws(SystemError) {
        event = Descriptor(owning: try systemCall("eventfd") { clinux_eventfd() })
    }

    /// Readable from ``wake()`` until ``clear()``; a signal handler may write eight bytes other than 0 to it.
    package var descriptor: Int32 { event.raw }

    /// Ends the current or the next wait; async-signal-safe.
    package func wake() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the thread is already woken.
        _ = write(event.raw, &one, 8)
    }

    /// Clears the wake-up; called before the reason is examined, so that none is missed.
    package func clear() {
        var count: UInt64 = 0
        _ = read(event.raw, &count, 8)
    }

    /// Waits for a wake-up, a signal, or the time-out (−1 for none); for a thread with nothing else to wait for.
    package func wait(timeoutMilliseconds: Int32) {
        var ready = [pollfd(fd: event.raw, events: Int16(POLLIN), revents: 0)]
        if waitOnce(for: &ready, milliseconds: timeoutMilliseconds) { clear() }
    }
}
