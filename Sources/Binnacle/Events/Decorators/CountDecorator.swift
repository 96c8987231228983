/// Passes every n-th event of a kind and detector, with the number of events there have been.
package final class CountDecorator: EventDecorator {
    private let every: Int
    private var counts: [EventTopic: Int] = [:]

    /// Creates a decorator for n, which is at least 1; 1 passes each event, numbered.
    package init(every: Int) {
        precondition(every > 0, "every \(every)th event is none")
        self.every = every
    }

    /// Counts the event and forwards it when its turn has come.
    package override func handle(_ event: Event) {
        let count = counts[EventTopic(event), default: 0] + 1
        counts[EventTopic(event)] = count
        guard count % every == 0 else { return }
        var counted = event
        counted.set(.ordinal, .integer(Int64(count)))
        super.handle(counted)
    }
}
