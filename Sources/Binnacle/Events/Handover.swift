import Synchronization

/// Hands elements from a thread to a task that awaits them: a bounded queue with one consumer.
///
/// When the queue is full, either the oldest element makes room, and the consumer gets a mark in its place, or the element is refused
/// and the thread decides. The thread waits for room in ``offer(_:while:)`` alone.
package final class Handover<Element: Sendable, Failure: Error>: Sendable {
    /// What happens to an element for which there is no room.
    package enum Overflow: Sendable {
        case refuse
        /// The oldest element is dropped. The consumer gets a mark in the place of all that were dropped, made of their
        /// number and the last of them.
        case dropOldest(mark: @Sendable (_ count: Int, _ last: Element) -> Element)
    }

    /// What became of an element that was offered.
    package enum Answer: Sendable {
        case taken
        case full
        /// The consumer is gone.
        case closed
    }

    /// The next element; `nil` is the end.
    package typealias Outcome = Result<Element?, Failure>

    private struct State {
        /// The elements in their order: first `older`, from its end, then `newer`.
        var older: [Element] = []
        var newer: [Element] = []
        var dropped: (count: Int, last: Element)?
        var ending: Outcome?
        var isClosed = false
        var consumer: CheckedContinuation<Outcome, Never>?
        /// The number of iterators that there are.
        var readerCount = 0

        var count: Int { older.count + newer.count }

        mutating func removeFirst() -> Element? {
            if older.isEmpty {
                older = newer.reversed()
                newer.removeAll(keepingCapacity: true)
            }
            return older.popLast()
        }
    }

    private let capacity: Int
    private let overflow: Overflow
    private let state = Mutex(State())

    /// Creates an empty queue for at least one element; `overflow` decides what happens to those without room.
    package init(capacity: Int, overflow: Overflow) {
        precondition(capacity > 0, "a queue needs room for an element")
        self.capacity = capacity
        self.overflow = overflow
    }

    // MARK: - The thread

    /// Adds an element behind those that wait.
    package func offer(_ element: Element) -> Answer {
        let (answer, consumer) = state.withLock { state -> (Answer, CheckedContinuation<Outcome, Never>?) in
            guard !state.isClosed, state.ending == nil else { return (.closed, nil) }
            if let consumer = state.consumer {
                state.consumer = nil
                return (.taken, consumer)
            }
            if state.count >= capacity {
                guard case .dropOldest = overflow, let oldest = state.removeFirst() else { return (.full, nil) }
                state.dropped = ((state.dropped?.count ?? 0) + 1, oldest)
            }
            state.newer.append(element)
            return (.taken, nil)
        }
        consumer?.resume(returning: .success(element))
        return answer
    }

    /// Adds an element, and first waits for room as long as a condition holds and there is an iterator, which will make room.
    package func offer(_ element: Element, while mayWait: () -> Bool) -> Answer {
        while mayWait(), isWaitedFor { Pipeline.pause() }
        return offer(element)
    }

    /// Whether the queue is full, and has a reader.
    private var isWaitedFor: Bool {
        state.withLock { $0.readerCount > 0 && $0.ending == nil && !$0.isClosed && $0.count >= capacity }
    }

    /// Ends the sequence behind the elements that wait; a failure is thrown once.
    package func finish(_ failure: Failure? = nil) {
        let ending = failure.map { Outcome.failure($0) } ?? .success(nil)
        let consumer = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            defer { state.consumer = nil }
            // A consumer that waits gets the ending now, and only once.
            if state.ending == nil { state.ending = state.consumer == nil ? ending : .success(nil) }
            return state.consumer
        }
        consumer?.resume(returning: ending)
    }

    // MARK: - The task

    /// Waits for the next element.
    ///
    /// - Parameter onCancel: Called when the task is cancelled while it waits; the sequence then ends.
    /// - Returns: The element, the end, or the failure that ended the sequence, which comes once.
    package func next(
        onCancel: @escaping @Sendable () -> Void = {}
    ) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { register($0) }
        } onCancel: {
            close()
            onCancel()
        }
    }

    private func register(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            if state.isClosed { return .success(nil) }
            if let dropped = state.dropped, case .dropOldest(let mark) = overflow {
                state.dropped = nil
                return .success(mark(dropped.count, dropped.last))
            }
            if let element = state.removeFirst() { return .success(element) }
            if let ending = state.ending {
                state.ending = .success(nil)
                return ending
            }
            // Two tasks that ask at the same time are a fault of theirs; neither may wait for ever.
            guard state.consumer == nil else { return .success(nil) }
            state.consumer = continuation
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Ends the consumer's wait and discards what waits: there is no reader any more.
    package func close() {
        let consumer = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            defer {
                state.consumer = nil
                state.older = []
                state.newer = []
                state.dropped = nil
            }
            state.isClosed = true
            return state.consumer
        }
        consumer?.resume(returning: .success(nil))
    }

    /// An iterator over the elements, while it exists.
    package final class Reading: Sendable {
        private let handover: Handover

        package init(_ handover: Handover) {
            self.handover = handover
            handover.state.withLock { $0.readerCount += 1 }
        }

        deinit { handover.state.withLock { $0.readerCount -= 1 } }
    }
}
