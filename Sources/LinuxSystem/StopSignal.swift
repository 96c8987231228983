import Synchronization

/// The request to a worker thread to end, which also ends its wait; for a thread without a queue.
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

    /// Waits until the end is requested, one of at most seven descriptors is readable, or a time has passed; a signal may end the
    /// wait early.
    package func wait(for descriptors: [Int32] = [], nanoseconds: Int64?) {
        // The waker is never cleared, so that later waits return at once.
        _ = Readiness.wait(for: [waker.descriptor] + descriptors, timeoutNanoseconds: nanoseconds.map { max(0, $0) })
    }
}
