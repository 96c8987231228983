import Glibc
import LinuxSystem
import Synchronization

/// Passes messages from a thread that may block to a task that must not; the thread waits while the channel is full.
final class SubscriptionChannel: Sendable {
    typealias Result = Swift.Result<EventSubscription.Message?, EventSubscriptionError>

    private struct State {
        var messages: [EventSubscription.Message] = []
        var failure: EventSubscriptionError?
        var hasBegun = false
        /// The task reads no more.
        var isCancelled = false
        /// The thread has put its last message.
        var isFinished = false
        var waiting: CheckedContinuation<Result, Never>?
        var wakers: Wakers?
    }

    /// The wakers of the thread.
    struct Wakers {
        /// Wakes the thread to end.
        let end: Waker
        /// Wakes the thread when there is room again.
        let room: Waker
    }

    private static let capacity = 64

    private let state = Mutex(State())

    // MARK: - The task's side

    /// Whether the caller has to start the thread; true once.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun && !state.isCancelled
        }
    }

    /// Resumes a continuation with the next message, now or later.
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
            // Two tasks must not wait at the same time; the second gets the end instead of waiting for ever.
            guard !state.isFinished, state.waiting == nil else { return (.success(nil), nil) }
            state.waiting = continuation
            return (nil, nil)
        }
        waker?.wake()
        if let result { continuation.resume(returning: result) }
    }

    /// Ends the thread, and the wait of the task.
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

    /// Stores the thread's wakers; `false` when the channel is cancelled already.
    func attach(_ wakers: Wakers) -> Bool {
        state.withLock { state in
            state.wakers = wakers
            return !state.isCancelled
        }
    }

    /// Adds a message, and waits for room; `false` when the channel is cancelled.
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

    /// Ends the sequence, with an error that is thrown after the waiting messages.
    func finish(_ failure: EventSubscriptionError? = nil) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.isFinished = true
            // A waiting task gets the error at once, and only once.
            if state.waiting == nil { state.failure = failure }
            return state.waiting
        }
        waiting?.resume(returning: failure.map { .failure($0) } ?? .success(nil))
    }
}
