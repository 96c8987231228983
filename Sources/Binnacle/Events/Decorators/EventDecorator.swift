/// A handler that wraps another one: it forwards everything, and a subclass overrides what it changes.
///
/// Decorators count the events' own time, so a replay decorates as the live run did.
open class EventDecorator: EventHandler {
    /// What is forwarded to; set by the ``HandlerChain`` the decorator is in.
    public internal(set) var next: (any EventHandler)?

    /// Creates a decorator that forwards everything.
    public init() {}

    /// Forwards the event.
    open func handle(_ event: Event) {
        next?.handle(event)
    }

    /// The next one's deadline; a decorator that holds something back takes its own into account.
    open var nextDeadlineNanoseconds: Int64? { next?.nextDeadlineNanoseconds }

    /// Forwards the time.
    open func advance(to timeNanoseconds: Int64) {
        next?.advance(to: timeNanoseconds)
    }

    /// Passes on what is held back, then forwards the end.
    open func finish() {
        flush()
        next?.finish()
    }

    /// Passes on what is held back; a decorator that holds nothing back does nothing.
    open func flush() {}
}

/// What decorators tell events apart by: two kinds, or two detectors, never merge.
struct EventTopic: Hashable {
    let kind: EventKind
    let detector: String?

    init(_ event: Event) {
        kind = event.kind
        detector = event.detector
    }
}
