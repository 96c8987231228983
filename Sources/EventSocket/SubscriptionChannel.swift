import Glibc
import LinuxSystem
import Synchronization

/// Hands messages from a thread that may wait to a task that must not.
///
/// It holds a bounded number of messages: then the thread waits.
final class SubscriptionChannel: Sendable {
    typealias Result = Swift.Result<EventSubscription.Message?, EventSubscriptionError>

    private struct State {
        var messages: [EventSubscription.Message] = []
        var failure: EventSubscriptionError?
        var hasBegun = false
        /// Nobody reads any more.
        var isCancelled = false
        /// Nothing more will come.
        var isFinished = false
        var waiting: CheckedContinuation<Result, Never>?
        var wakers: Wakers?
    }

    /// What ends the thread's waits.
    struct Wakers {
        /// Nobody reads any more: the thread ends.
        let end: Waker
        /// There is room again.
        let room: Waker
    }

    /// The most messages that wait.
    static let capacity = 64

    private let state = Mutex(State())

    // MARK: - The task's side

    /// Whether somebody has to start the thread: true once.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun && !state.isCancelled
        }
    }

    /// Gives the next message to a continuation, now or later.
    func take(_ continuation: CheckedContinuation<Result, Never>) {
        let (result, waker) = state.withLock { state -> (Result?, Waker?) in
            guard !state.isCancelled else { return (.success(nil), nil) }
            guard state.messages.isEmpty else {
                let wasFull = state.messages.count >= Self.capacity
                return (.success(state.messages.removeFirst()), wasFull ? state.wakers?.room : nil)
            }
            if let failure = state.failure {
                state.failure = nil
                return (.failure(failure), nil)
            }
            // Two tasks that ask at the same time are a fault of theirs; neither may wait for ever.
            guard !state.isFinished, state.waiting == nil else { return (.success(nil), nil) }
            state.waiting = continuation
            return (nil, nil)
        }
        waker?.wake()
        if let result { continuation.resume(returning: result) }
    }

    /// Nobody reads any more; ends the thread, and the wait of a task.
    func cancel() {
        let (waiting, wakers) = state.withLock { state in
            defer {
                state.waiting = nil
                state.messages = []
            }
            state.isCancelled = true
            return (state.waiting, state.wakers)
        }
        wakers?.end.wake()
        wakers?.room.wake()
        waiting?.resume(returning: .success(nil))
    }

    // MARK: - The thread's side

    /// Notes down what wakes the thread.
    ///
    /// - Returns: Whether a thread is needed at all.
    func attach(_ wakers: Wakers) -> Bool {
        state.withLock { state in
            state.wakers = wakers
            return !state.isCancelled
        }
    }

    /// Adds a message, and waits for room.
    ///
    /// - Returns: Whether somebody still reads.
    func put(_ message: EventSubscription.Message) -> Bool {
        while true {
            let (waiting, isDone, room) = state.withLock { state in
                defer { state.waiting = nil }
                if state.isCancelled { return (state.waiting, false, Waker?.none) }
                if let waiting = state.waiting { return (waiting, true, nil) }
                guard state.messages.count < Self.capacity else { return (nil, false, state.wakers?.room) }
                state.messages.append(message)
                return (nil, true, nil)
            }
            if let waiting, isDone { waiting.resume(returning: .success(message)) }
            guard let room else { return isDone }
            room.wait(timeoutMilliseconds: -1)
        }
    }

    /// Nothing more will come.
    ///
    /// - Parameter failure: Why, when that is an error; it is thrown behind the messages that wait.
    func finish(_ failure: EventSubscriptionError? = nil) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.isFinished = true
            // Whoever waits is told at once, and only once.
            if state.waiting == nil { state.failure = failure }
            return state.waiting
        }
        waiting?.resume(returning: failure.map { .failure($0) } ?? .success(nil))
    }
}
