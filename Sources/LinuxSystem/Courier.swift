package import Synchronization

/// A worker thread and the state it shares with other threads: the content they pass, the request to stop, its end.
///
/// A thread that passes content never waits for the work. `Content` is a ``BoundedQueue`` if each item counts, or another type if
/// only the latest value does.
package final class Courier<Content: Sendable>: Sendable {
    package struct State {
        package var content: Content
        package var stop: StopPlan?
        package var hasEnded = false
        /// Whether a thread is in ``Courier/waitUntilIdle(milliseconds:)``.
        package var isAwaited = false
        /// Whether the thread handles a batch; it checks for the next one without a wake-up.
        package var isBusy = false
        /// Whether ``Courier/add(_:)`` was called since ``Courier/exchange(leaving:)``.
        var isFilled = false
        /// Starts the thread with the first item; `nil` after the call, and for a thread started otherwise.
        package var begin: (@Sendable () -> Void)?
    }

    /// Wakes the thread.
    package let waker: Waker
    /// Wakes a thread that waits until the worker is idle or has ended.
    private let ownerWaker: Waker
    @usableFromInline let state: Mutex<State>

    /// Creates a courier without a thread.
    package init(_ content: Content) throws(SystemError) {
        waker = try Waker()
        ownerWaker = try Waker()
        state = Mutex(State(content: content))
    }

    /// Starts the thread, which ends when `work` returns; it retains the courier, and must return after ``requestStop(_:)``.
    package func start(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        try WorkerThread.start { [self] in
            work()
            state.withLock { $0.hasEnded = true }
            ownerWaker.wake()
        }
    }

    /// Makes the first ``put(_:load:isBounded:)`` or the request to stop start the thread, which needs no memory before.
    ///
    /// `failed` is called when no thread can be created, on the thread that passed the item; the next item tries again, or after a
    /// request to stop the courier has ended.
    package func startWithFirstItem(
        _ work: @escaping @Sendable () -> Void, orElse failed: @escaping @Sendable (SystemError) -> Void
    ) {
        state.withLock { state in
            guard state.stop == nil else {
                state.hasEnded = true
                return ownerWaker.wake()
            }
            state.begin = { [self] in
                do throws(SystemError) {
                    try start(work)
                } catch {
                    // Before the end, after which the caller counts what is left.
                    failed(error)
                    startWithFirstItem(work, orElse: failed)
                }
            }
        }
    }

    // MARK: - For other threads

    /// Adds to the content, and wakes the thread unless a wake-up is pending.
    package func add(_ change: (inout Content) -> Void) {
        let isFirst = state.withLock { state in
            change(&state.content)
            defer { state.isFilled = true }
            return !state.isFilled
        }
        if isFirst { waker.wake() }
    }

    package func withContent<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
        state.withLock { body(&$0.content) }
    }

    /// Requests the thread to stop; of several plans, the one that ends first applies.
    package func requestStop(_ plan: StopPlan = StopPlan()) {
        let begin = state.withLock { state in
            if plan.endTime < state.stop?.endTime ?? .max || state.stop == nil { state.stop = plan }
            return state.begin.take()
        }
        begin?()
        waker.wake()
    }

    /// Whether the next item starts the thread, because none could be started for those before.
    package var awaitsItem: Bool { state.withLock { $0.begin != nil } }

    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits for the thread's end after ``requestStop(_:)``; returns whether it ended before a time on CLOCK_MONOTONIC.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        while !hasEnded {
            // At most a second, because the waker may wake only one of several waiting threads.
            let left = SystemClock.milliseconds(until: deadlineNanoseconds, atMost: 1000)
            guard left > 0 else { return false }
            ownerWaker.wait(timeoutMilliseconds: left)
        }
        return true
    }

    // MARK: - For the worker thread

    /// The request to stop; `nil` while there is none.
    package var stop: StopPlan? { state.withLock { $0.stop } }

    package func exchange(leaving empty: Content) -> Content {
        state.withLock { state in
            defer { (state.content, state.isFilled) = (empty, false) }
            return state.content
        }
    }

    /// Waits for content, a request to stop, or the timeout; −1 is infinite.
    package func wait(milliseconds: Int32 = -1) {
        waker.wait(timeoutMilliseconds: milliseconds)
    }
}

/// The result of passing an item to a thread.
package enum CourierAnswer: Sendable {
    /// The thread will get the item.
    case taken
    case full
    /// The thread was requested to stop, or has ended.
    case stopped
}

extension Courier {
    /// Adds an item, and wakes the thread unless it is busy or a wake-up is pending.
    @inlinable  // Unspecialized in another module, the generic code doubles the time of a call.
    package func put<Item>(_ item: Item, load: Int = 1, isBounded: Bool = true) -> CourierAnswer
    where Content == BoundedQueue<Item> {
        let (answer, isFirst, begin) = state.withLock { state -> (CourierAnswer, Bool, (@Sendable () -> Void)?) in
            guard state.stop == nil, !state.hasEnded else { return (.stopped, false, nil) }
            guard state.content.append(item, load: load, isBounded: isBounded) else {
                return (.full, false, state.begin.take())
            }
            return (.taken, state.content.waitingCount == 1 && !state.isBusy, state.begin.take())
        }
        begin?()
        if isFirst { waker.wake() }
        return answer
    }

    /// Takes all waiting items, which count against the capacity until ``finish(_:)``.
    ///
    /// `false` after a request to stop: no more follow.
    package func takeAll<Item>(into list: inout [Item]) -> Bool where Content == BoundedQueue<Item> {
        state.withLock { state in
            state.content.removeAll(into: &list)
            return state.stop == nil
        }
    }

    /// Releases the capacity of finished items.
    package func finish<Item>(_ load: Int = 1) where Content == BoundedQueue<Item> {
        let isAwaited = state.withLock { state in
            state.content.finish(load)
            return state.isAwaited && state.content.load == 0
        }
        if isAwaited { ownerWaker.wake() }
    }

    /// Returns `true` when no item is waiting or being handled, or the thread has ended, and `false` on timeout.
    ///
    /// ``finish(_:)`` ends the wait early, ``runBatches(_:)`` does not; so may another wake-up, before the thread is idle.
    package func waitUntilIdle<Item>(milliseconds: Int32) -> Bool where Content == BoundedQueue<Item> {
        func isIdle(_ willWait: Bool) -> Bool {
            state.withLock { state in
                let isIdle = state.hasEnded || state.content.unfinishedCount == 0
                state.isAwaited = willWait && !isIdle
                return isIdle
            }
        }
        if isIdle(true) { return true }
        ownerWaker.wait(timeoutMilliseconds: milliseconds)
        return isIdle(false)
    }

    /// Starts a thread that handles the items in batches, until it is requested to stop and none is left.
    ///
    /// `start` is called once on the thread and returns the function that handles a batch of all waiting items, in order.
    package func startBatches<Item>(_ start: @escaping @Sendable () -> ([Item]) -> Void) throws(SystemError)
    where Content == BoundedQueue<Item> {
        try self.start { [self] in runBatches(start()) }
    }

    /// Handles all waiting items batch by batch, until the thread is requested to stop and none is left.
    ///
    /// `idle` waits for the waker and possibly for something else; `nil` waits only for the waker.
    package func runBatches<Item>(idle: (() -> Void)? = nil, _ work: ([Item]) -> Void)
    where Content == BoundedQueue<Item> {
        var items: [Item] = []
        while true {
            let isStopping = state.withLock { state in
                state.content.removeAll(into: &items)
                state.content.begin()
                state.isBusy = !items.isEmpty
                return state.stop != nil
            }
            if !items.isEmpty {
                work(items)
            } else if isStopping {
                return
            } else {
                if let idle { idle() } else { wait() }
            }
        }
    }
}

/// What a thread shows to other threads, such as the figures of its part of the status.
package final class Gauges<Values: Sendable>: Sendable {
    private let state: Mutex<Values>

    /// Creates gauges with their first values.
    package init(_ values: Values) { state = Mutex(values) }

    /// The values; on any thread.
    package var values: Values { state.withLock { $0 } }

    @discardableResult
    package func change<Result: Sendable>(_ body: (inout Values) -> Result) -> Result { state.withLock { body(&$0) } }
}

/// The time for the remaining work after a request to stop; times are on CLOCK_MONOTONIC.
package struct StopPlan: Sendable {
    /// The reason, as a clause of a message.
    package let reason: String
    private let beginTime: Int64
    private let duration: Int64

    /// Creates a plan, which begins now; the time is unlimited by default.
    package init(within nanoseconds: Int64 = .max, because reason: String = "Binnacle stops") {
        self.reason = reason
        beginTime = SystemClock.monotonic()
        duration = max(0, nanoseconds)
    }

    /// Whether the plan leaves no time for the remaining work.
    package var isImmediate: Bool { duration == 0 }

    /// When the time is over.
    package var endTime: Int64 { time(after: 100) }

    /// When a percentage of the time is over; `.max` if that is never.
    package func time(after percent: Int64) -> Int64 {
        let (time, isTooLate) = beginTime.addingReportingOverflow(
            percent == 100 ? duration : duration / 100 * percent)
        return isTooLate ? .max : time
    }
}

/// Items in the order of their arrival, with a limit.
///
/// An item counts against the capacity from ``append(_:load:isBounded:)`` to ``finish(_:)``, also while it is being handled. A
/// thread that works in batches releases the capacity with ``begin()`` as soon as it has taken the items.
package struct BoundedQueue<Item: Sendable>: Sendable {
    /// The load of the items that wait, and of those taken and not finished.
    @usableFromInline package internal(set) var load = 0
    /// The load of the batch that is being handled, which does not count against the capacity.
    private var begun = 0
    /// The load of finished items.
    package private(set) var doneCount = 0
    /// The number of items abandoned because of a stop.
    package var abandonedCount = 0

    @usableFromInline let capacity: Int
    @usableFromInline var items: [Item] = []
    /// The index of the first waiting item; earlier ones were taken.
    @usableFromInline var first = 0
    /// A list passed to ``removeAll(into:)`` with a larger capacity than this is freed instead of reused.
    private static var usualCount: Int { 1024 }

    /// Creates an empty queue with a maximum load.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    @inlinable package var waitingCount: Int { items.count - first }
    package var isEmpty: Bool { first == items.count }
    /// Whether an item would be accepted.
    package var hasRoom: Bool { load < capacity }
    /// The load of the items that are not finished.
    package var unfinishedCount: Int { load + begun }

    /// Adds an item with a load; `false` when it is bounded and exceeds the capacity.
    @inlinable
    package mutating func append(_ item: Item, load: Int = 1, isBounded: Bool = true) -> Bool {
        guard !isBounded || load == 0 || self.load + load <= capacity else { return false }
        self.load += load
        items.append(item)
        return true
    }

    /// Removes the item that has waited longest; amortized constant time, because the rest is moved after half of the items were
    /// taken.
    package mutating func popFirst() -> Item? {
        guard first < items.count else { return nil }
        let item = items[first]
        first += 1
        if 2 * first >= items.count {
            items.removeFirst(first)
            first = 0
        }
        return item
    }

    /// Removes and returns waiting items, each of a load of 1.
    package mutating func removeWaiting(where isRemoved: (Item) -> Bool) -> [Item] {
        let removed = items[first...].filter(isRemoved)
        items = items[first...].filter { !isRemoved($0) }
        first = 0
        load -= removed.count
        return removed
    }

    /// Replaces the contents of `list` with all waiting items; the queue reuses the list's storage.
    package mutating func removeAll(into list: inout [Item]) {
        if list.capacity > Self.usualCount { list = [] } else { list.removeAll(keepingCapacity: true) }
        swap(&list, &items)
        if first > 0 {
            list.removeFirst(first)
            first = 0
        }
    }

    /// Releases the capacity of the batch just taken with ``removeAll(into:)``; it stays unfinished until the next call.
    package mutating func begin() {
        doneCount += begun
        begun = load
        load = 0
    }

    /// Releases the capacity of finished items.
    package mutating func finish(_ load: Int = 1) {
        self.load -= load
        doneCount += load
    }
}
