/// Does something with events: logs them, runs a command, hands them on.
///
/// The router calls its handlers on the thread that offers the samples, so a handler that may take long passes the
/// work to a thread of its own.
package protocol EventHandler: AnyObject {
    func handle(_ event: Event)
    /// When something that is held back comes due, in sample time; `nil` when nothing is held back.
    var nextDeadlineNanoseconds: Int64? { get }
    /// Passes on what came due before a time; called between events, when sample time has gone past a deadline.
    func advance(to timeNanoseconds: Int64)
    /// Brings what is held back to its end: nothing more will come.
    func finish()
}

// A method that a conforming type leaves out does nothing.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension EventHandler {
    /// Nothing is held back.
    package var nextDeadlineNanoseconds: Int64? { nil }
    package func advance(to timeNanoseconds: Int64) {}
    package func finish() {}
}

/// Calls a closure for each event.
package final class ClosureHandler: EventHandler {
    private let body: (Event) -> Void

    package init(_ body: @escaping (Event) -> Void) {
        self.body = body
    }

    package func handle(_ event: Event) {
        body(event)
    }
}
