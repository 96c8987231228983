import LinuxSystem
import Synchronization

/// What waits for the store's thread.
final class StoreInbox: Sendable {
    private struct State {
        var requests: [StoreRequest] = []
        /// How many of them are bounded, with those that the thread is working on.
        var boundedCount = 0
        var isFinished = false
        var hasEnded = false
    }

    /// What became of a request.
    enum Answer {
        case taken, full, finished
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let wakesThread: Waker
    private let wakesOwner: Waker
    /// Room for requests beyond this is given back when they are done.
    private static let usualCount = 1024

    init(capacity: Int) throws(SystemError) {
        self.capacity = capacity
        wakesThread = try Waker()
        wakesOwner = try Waker()
    }

    /// Adds a request.
    func put(_ request: StoreRequest) -> Answer {
        let (answer, isFirst) = state.withLock { state -> (Answer, Bool) in
            guard !state.isFinished else { return (.finished, false) }
            let count = request.boundedCount
            guard count == 0 || state.boundedCount + count <= capacity else { return (.full, false) }
            state.boundedCount += count
            state.requests.append(request)
            return (.taken, state.requests.count == 1)
        }
        // While something waits already, the thread has been woken for it.
        if isFirst { wakesThread.wake() }
        return answer
    }

    /// How many events and deliveries are not stored yet.
    var count: Int { state.withLock { $0.boundedCount } }

    /// Takes everything that waits, in exchange for an empty list.
    ///
    /// - Returns: Whether there may come more.
    func take(into list: inout [StoreRequest]) -> Bool {
        if list.capacity > Self.usualCount { list = [] } else { list.removeAll(keepingCapacity: true) }
        return state.withLock { state in
            swap(&list, &state.requests)
            return !state.isFinished
        }
    }

    /// Takes note that events and deliveries are done.
    func didDo(_ count: Int) {
        guard count > 0 else { return }
        state.withLock { $0.boundedCount -= count }
    }

    /// Whether something waits.
    var isEmpty: Bool { state.withLock { $0.requests.isEmpty } }

    /// Waits for a request, for the end, or for a time.
    func wait(milliseconds: Int32) {
        guard milliseconds != 0 else { return }
        wakesThread.wait(timeoutMilliseconds: milliseconds)
    }

    /// Takes no more; the thread ends when it is done with what waits.
    func finish() {
        state.withLock { $0.isFinished = true }
        wakesThread.wake()
    }

    /// Says that the thread has ended.
    func end() {
        state.withLock { $0.hasEnded = true }
        wakesOwner.wake()
    }

    /// Whether the thread has ended.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits for the thread's end.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: Whether it has ended by then.
    func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        while !hasEnded {
            let left = SystemClock.milliseconds(until: deadlineNanoseconds)
            guard left > 0 else { return false }
            wakesOwner.wait(timeoutMilliseconds: left)
        }
        return true
    }
}
