import Synchronization

/// A thread that works off a bounded queue, so that whoever fills the queue never waits for the work.
package final class WorkQueue<Item: Sendable>: Sendable {
    private struct State {
        var waiting: [Item] = []
        /// How many the thread is working on.
        var begunCount = 0
        var isFinished = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let wakesThread: Waker
    private let wakesOwner: Waker

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - capacity: The most items that wait.
    ///   - start: Called on the thread, once; makes what is called there with all the items that wait, in their order.
    /// - Throws: ``SystemError`` when there is no descriptor or no thread left.
    package init(
        capacity: Int, start: @escaping @Sendable () -> ([Item]) -> Void
    ) throws(SystemError) {
        self.capacity = capacity
        wakesThread = try Waker()
        wakesOwner = try Waker()
        try WorkerThread.start { [self] in
            let work = start()
            while let items = next() { work(items) }
            state.withLock { $0.hasEnded = true }
            wakesOwner.wake()
        }
    }

    /// Adds an item.
    ///
    /// - Returns: Whether there was room for it.
    package func put(_ item: Item) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            guard state.waiting.count < capacity, !state.isFinished else { return (false, false) }
            state.waiting.append(item)
            return (true, state.waiting.count == 1)
        }
        // While something waits already, the thread has been woken for it.
        if isFirst { wakesThread.wake() }
        return isTaken
    }

    /// The number of items that are not known to be done; of those that are worked on, some may be.
    package var unfinishedCount: Int { state.withLock { $0.waiting.count + $0.begunCount } }

    /// Whether the thread has ended.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Takes no more; the thread ends when it is done with what waits.
    package func finish() {
        state.withLock { $0.isFinished = true }
        wakesThread.wake()
    }

    /// Waits for the thread's end, after ``finish()``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: Whether everything was done by then.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        while !state.withLock({ $0.hasEnded }) {
            let left = SystemClock.milliseconds(until: deadlineNanoseconds)
            guard left > 0 else { return false }
            wakesOwner.wait(timeoutMilliseconds: left)
        }
        return true
    }

    /// Everything that waits; `nil` when there will be nothing more.
    private func next() -> [Item]? {
        while true {
            let (items, isFinished) = state.withLock { state in
                defer { state.waiting.removeAll() }
                state.begunCount = state.waiting.count
                return (state.waiting, state.isFinished)
            }
            if !items.isEmpty { return items }
            if isFinished { return nil }
            wakesThread.wait(timeoutMilliseconds: -1)
        }
    }
}
