/// Hands events to structured concurrency: a handler whose other end is an `AsyncStream`.
///
/// Events wait in a bounded buffer until the consumer takes them. When it is full the oldest event is dropped and
/// counted: detection never waits.
public final class EventStream: EventHandler {
    /// The events, for one consumer; ends when the router finishes or the stream object is released.
    public let events: AsyncStream<Event>
    /// The number of events that were dropped because nobody took them in time.
    public private(set) var droppedCount = 0

    private let continuation: AsyncStream<Event>.Continuation

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

    /// Puts the event into the buffer.
    public func handle(_ event: Event) {
        if case .dropped = continuation.yield(event) { droppedCount += 1 }
    }

    /// Ends the stream after the events that wait.
    public func finish() {
        continuation.finish()
    }
}
