/// Passes an event only when no event of its kind and detector came within a time before it.
///
/// The first of a burst passes at once. Each event of the burst, passed or not, extends it.
package final class DebounceDecorator: EventDecorator {
    private let timeNanoseconds: Int64
    private var last: [EventTopic: Int64] = [:]

    /// Creates a decorator for the time that it has to have been quiet.
    package init(time: Duration) {
        timeNanoseconds = Units.nanoseconds(time)
    }

    /// Forwards the event when it opens a burst.
    package override func handle(_ event: Event) {
        let previous = last.updateValue(event.timeNanoseconds, forKey: EventTopic(event))
        if let previous, event.timeNanoseconds < Units.later(previous, by: timeNanoseconds) { return }
        super.handle(event)
    }
}
