import Synchronization

/// The request to a worker thread to end, which also ends its wait; for a thread that takes nothing from others.
package final class StopSignal: Sendable {
    private let waker: Waker
    private let isSet = Atomic(false)

    /// Creates a signal that is not set.
    package init() throws(SystemError) {
        waker = try Waker()
    }

    /// Requests the thread to end; it stays requested.
    package func request() {
        isSet.store(true, ordering: .releasing)
        waker.wake()
    }

    /// Whether the thread has to end.
    package var isRequested: Bool { isSet.load(ordering: .acquiring) }

    /// Waits until the end is requested, one of at most seven descriptors can be read, or a time has passed; a signal
    /// may end the wait early.
    package func wait(for descriptors: [Int32] = [], nanoseconds: Int64?) {
        // The waker is never cleared, so that no wait after the request lasts.
        _ = Readiness.wait(for: [waker.descriptor] + descriptors, timeoutNanoseconds: nanoseconds.map { max(0, $0) })
    }
}
