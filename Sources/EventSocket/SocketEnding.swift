import LinuxSystem
import Synchronization

/// The end of a thread, which another thread can wait for.
final class SocketEnding: Sendable {
    private let hasEnded = Atomic(false)
    private let waker: Waker

    /// Creates an end that has not come.
    init() throws(SystemError) {
        waker = try Waker()
    }

    /// The end has come.
    func set() {
        hasEnded.store(true, ordering: .releasing)
        waker.wake()
    }

    /// Waits for it.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: Whether it has come.
    func wait(until deadlineNanoseconds: Int64) -> Bool {
        while !hasEnded.load(ordering: .acquiring) {
            let left = SystemClock.milliseconds(until: deadlineNanoseconds)
            guard left > 0 else { return false }
            waker.wait(timeoutMilliseconds: left)
        }
        return true
    }
}
