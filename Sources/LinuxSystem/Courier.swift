package import Synchronization

/// A worker thread with the content that other threads pass to it, a request to stop, and its end.
///
/// Other threads never wait for the work. `Content` is a ``BoundedQueue`` if each item counts, or a value of its own if
/// only
/// the latest does.
package final class Courier<Content: Sendable>: Sendable {
    package struct State {
        package var content: Content
        package var stop: StopPlan?
        package var hasEnded = false
        /// Whether a thread waits for the queue to be idle.
        package var isAwaited = false
        /// Whether the thread works on a batch, and looks for the next one without being woken.
        package var isBusy = false
        /// Starts the thread; `nil` once that was done.
        package var begin: (@Sendable () -> Void)?
    }

    /// Wakes the thread.
    package let waker: Waker
    private let ownerWaker: Waker
    @usableFromInline let state: Mutex<State>

    /// Creates a courier without a thread.
    ///
    /// - Parameter content: The initial content.
    /// - Throws: ``SystemError`` when no descriptor is left.
    package init(_ content: Content) throws(SystemError) {
        waker = try Waker()
        ownerWaker = try Waker()
        state = Mutex(State(content: content))
    }

    /// Starts the thread.
    ///
    /// - Parameter work: Runs on the thread, which ends when it returns. It holds the courier, and must return after
    ///   ``requestStop(_:)``.
    /// - Throws: ``SystemError`` when no thread can be created.
    package func start(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        try WorkerThread.start { [self] in
            work()
            state.withLock { $0.hasEnded = true }
            ownerWaker.wake()
        }
    }

    /// Starts the thread with the first item, or with the request to stop: until then it takes no memory.
    ///
    /// - Parameters:
    ///   - work: Runs on the thread, as with ``start(_:)``.
    ///   - failed: Told when there is no thread left, on the thread that left the item; the next item tries again.
    package func startWithFirstItem(
        _ work: @escaping @Sendable () -> Void, orElse failed: @escaping @Sendable (SystemError) -> Void
    ) {
        state.withLock { state in
            state.begin = { [self] in
                do throws(SystemError) {
                    try start(work)
                } catch {
                    startWithFirstItem(work, orElse: failed)
                    failed(error)
                }
            }
        }
    }

    // MARK: - Threads that leave something

    /// Changes the content, and wakes the thread if `change` returns `true`.
    package func leave(_ change: (inout Content) -> Bool) {
        if state.withLock({ change(&$0.content) }) { waker.wake() }
    }

    /// Reads or changes the content.
    package func withContent<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
        state.withLock { body(&$0.content) }
    }

    /// Requests the thread to stop, or to stop earlier.
    package func requestStop(_ plan: StopPlan = StopPlan()) {
        let begin = state.withLock { state in
            if plan.endTime < state.stop?.endTime ?? .max || state.stop == nil { state.stop = plan }
            return state.begin.take()
        }
        begin?()
        waker.wake()
    }

    /// Whether the thread has ended.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits for the thread's end, after ``requestStop(_:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: Whether it has ended.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Bool {
        while !hasEnded {
            // Several threads may wait, and the waker may wake only one of them.
            let left = SystemClock.milliseconds(until: deadlineNanoseconds, atMost: 1000)
            guard left > 0 else { return false }
            ownerWaker.wait(timeoutMilliseconds: left)
        }
        return true
    }

    // MARK: - The thread

    /// The request to stop; `nil` while there is none.
    package var stop: StopPlan? { state.withLock { $0.stop } }

    /// Waits for content, a request to stop, or the time-out.
    ///
    /// - Parameter milliseconds: The longest wait; −1 is infinite.
    package func wait(milliseconds: Int32 = -1) {
        waker.wait(timeoutMilliseconds: milliseconds)
    }
}

/// The result of passing an item to a thread.
package enum CourierAnswer: Sendable {
    /// The thread will get it.
    case taken
    /// There was no room.
    case full
    /// The thread was requested to stop, or has ended.
    case stopped
}

/// A thread that works off a queue.
extension Courier {
    /// Adds an item, and wakes the thread unless it was woken for another one.
    @inlinable  // Generic code in another module takes as long as all the rest of it.
    package func put<Item>(_ item: Item, load: Int = 1, isBounded: Bool = true) -> CourierAnswer
    where Content == BoundedQueue<Item> {
        let (answer, isFirst, begin) = state.withLock { state -> (CourierAnswer, Bool, (@Sendable () -> Void)?) in
            guard state.stop == nil, !state.hasEnded else { return (.stopped, false, nil) }
            guard state.content.append(item, load: load, isBounded: isBounded) else { return (.full, false, nil) }
            return (.taken, state.content.waitingCount == 1 && !state.isBusy, state.begin.take())
        }
        begin?()
        if isFirst { waker.wake() }
        return answer
    }

    /// Takes all waiting items; each keeps its room until ``finish(_:)``.
    ///
    /// - Returns: Whether there may be more.
    package func takeAll<Item>(into list: inout [Item]) -> Bool where Content == BoundedQueue<Item> {
        state.withLock { state in
            state.content.takeAll(into: &list)
            return state.stop == nil
        }
    }

    /// Releases the room of items that are done.
    package func finish<Item>(_ load: Int = 1) where Content == BoundedQueue<Item> {
        let isAwaited = state.withLock { state in
            state.content.finish(load)
            return state.isAwaited && state.content.load == 0
        }
        if isAwaited { ownerWaker.wake() }
    }

    /// Waits until no item is waiting or being worked on, or the thread has ended.
    ///
    /// - Returns: Whether that is so.
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

    /// Starts a thread that handles all waiting items at a time, until it is requested to stop and none is left.
    ///
    /// - Parameter start: Called once on the thread; returns the function that is called with the items, in their
    ///   order.
    /// - Throws: ``SystemError`` when no thread can be created.
    package func startBatches<Item>(_ start: @escaping @Sendable () -> ([Item]) -> Void) throws(SystemError)
    where Content == BoundedQueue<Item> {
        try self.start { [self] in runBatches(start()) }
    }

    /// Handles all waiting items at a time, until the thread is requested to stop and none is left.
    package func runBatches<Item>(_ work: ([Item]) -> Void) where Content == BoundedQueue<Item> {
        var items: [Item] = []
        while true {
            let isStopping = state.withLock { state in
                state.content.takeAll(into: &items)
                state.content.begin()
                state.isBusy = !items.isEmpty
                return state.stop != nil
            }
            if !items.isEmpty {
                work(items)
            } else if isStopping {
                return
            } else {
                wait()
            }
        }
    }
}

/// The time for the remaining work after a request to stop; times are on CLOCK_MONOTONIC.
package struct StopPlan: Sendable {
    /// The reason, as a part of a sentence.
    package let reason: String
    private let beginTime: Int64
    private let duration: Int64

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - nanoseconds: The time for the remaining work; unlimited by default.
    ///   - reason: The reason, as a part of a sentence.
    package init(within nanoseconds: Int64 = .max, because reason: String = "Binnacle stops") {
        self.reason = reason
        beginTime = SystemClock.monotonic()
        duration = max(0, nanoseconds)
    }

    /// Whether there is no time.
    package var isImmediate: Bool { duration == 0 }

    /// When the time is over.
    package var endTime: Int64 { time(after: 100) }

    /// When a percentage of the time is over.
    package func time(after percent: Int64) -> Int64 {
        let (time, isTooLate) = beginTime.addingReportingOverflow(
            percent == 100 ? duration : duration / 100 * percent)
        return isTooLate ? .max : time
    }
}

/// Items in the order of their arrival, with a limit.
///
/// An item takes room from ``append(_:load:isBounded:)`` to ``finish(_:)``, also while it is being worked on; a thread
/// that
/// works in batches releases the room immediately with ``begin()``.
package struct BoundedQueue<Item: Sendable>: Sendable {
    /// The room taken by items that wait, and by taken items that are not done.
    @usableFromInline package internal(set) var load = 0
    /// The load of the items that are worked on and take no room.
    private var begun = 0
    /// The load of finished items.
    package private(set) var doneCount = 0
    /// The number of items for which a stop left no time.
    package var abandonedCount = 0

    @usableFromInline let capacity: Int
    @usableFromInline var items: [Item] = []
    /// The place of the first waiting item; those before it were taken.
    @usableFromInline var first = 0
    /// Storage for more items than this is freed when they were taken.
    private static var usualCount: Int { 1024 }

    /// Creates an empty queue.
    ///
    /// - Parameter capacity: The maximum room that items may take.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// The number of items that wait.
    @inlinable package var waitingCount: Int { items.count - first }
    /// Whether no item waits.
    package var isEmpty: Bool { first == items.count }
    /// The load of the items that are not finished.
    package var unfinishedCount: Int { load + begun }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - load: The room that it takes.
    ///   - isBounded: Whether it is refused when there is no room.
    /// - Returns: Whether it was added.
    @inlinable
    package mutating func append(_ item: Item, load: Int = 1, isBounded: Bool = true) -> Bool {
        guard !isBounded || load == 0 || self.load + load <= capacity else { return false }
        self.load += load
        items.append(item)
        return true
    }

    /// Takes the item that has waited longest.
    ///
    /// - Complexity: Constant on average: the rest moves up once half of the storage is free.
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

    /// Takes all waiting items, in exchange for the storage of a list.
    package mutating func takeAll(into list: inout [Item]) {
        if list.capacity > Self.usualCount { list = [] } else { list.removeAll(keepingCapacity: true) }
        swap(&list, &items)
        if first > 0 {
            list.removeFirst(first)
            first = 0
        }
    }

    /// Releases the room of all items that were taken; they count as unfinished until the next call.
    package mutating func begin() {
        doneCount += begun
        begun = load
        load = 0
    }

    /// Releases the room of items that are done.
    package mutating func finish(_ load: Int = 1) {
        self.load -= load
        doneCount += load
    }
}
