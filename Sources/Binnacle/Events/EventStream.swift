import Synchronization

/// Hands events to structured concurrency: a handler whose other end is an `AsyncStream`.
///
/// Events wait in a bounded buffer until the consumer takes them. When it is full the oldest event is dropped and
/// counted: detection never waits.
public final class EventStream: EventHandler, Sendable {
    /// The events, for one consumer; ends when the router finishes or the stream object is released.
    public let events: AsyncStream<Event>

    private let continuation: AsyncStream<Event>.Continuation
    private let dropped = Atomic<Int>(0)

    /// Creates a stream.
    ///
    /// - Parameter capacity: The most events that wait, at least 1.
    public init(capacity: Int = 1024) {
        precondition(capacity > 0, "a stream needs room for at least one event")
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(capacity))
    }

    deinit {
        continuation.finish()
    }

    /// The number of events that were dropped because nobody took them in time; may be read from any thread.
    public var droppedCount: Int { dropped.load(ordering: .relaxed) }

    /// Puts the event into the buffer.
    public func handle(_ event: Event) {
        if case .dropped = continuation.yield(event) { dropped.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Ends the stream after the events that wait.
    public func finish() {
        continuation.finish()
    }
}
