/// Joins the events of one kind and detector that come within a window into the first of them.
///
/// The window opens with the first event and has a fixed length. When sample time has passed it, the first event is
/// passed on with the number of events that it stands for: as `joined` where the event has a `count` of its own.
package final class CoalesceDecorator: EventDecorator {
    private let windowNanoseconds: Int64
    /// The open windows, the one that ends first at first.
    private var open: [(event: Event, count: Int)] = []

    /// Creates a decorator with the time for which events are collected.
    package init(window: Duration) {
        windowNanoseconds = Units.nanoseconds(window)
    }

    /// Joins the event to its open window, or opens one.
    package override func handle(_ event: Event) {
        release(before: event.timeNanoseconds)
        let topic = EventTopic(event)
        if let index = open.firstIndex(where: { EventTopic($0.event) == topic }) {
            open[index].count += 1
            open[index].event.add(event)
        } else {
            // An event that was held back may be older than others that are here.
            let place = open.lastIndex { $0.event.timeNanoseconds <= event.timeNanoseconds }
            open.insert((event, 1), at: place.map { $0 + 1 } ?? 0)
        }
    }

    /// The end of the first open window.
    override var ownDeadlineNanoseconds: Int64? {
        open.first.map { Units.later($0.event.timeNanoseconds, by: windowNanoseconds) }
    }

    /// Closes every window.
    package override func flush() {
        let closing = open
        open.removeAll()
        for (event, count) in closing { pass(event, count) }
    }

    override func release(before timeNanoseconds: Int64) {
        while let (event, count) = open.first,
            Units.later(event.timeNanoseconds, by: windowNanoseconds) < timeNanoseconds
        {
            open.removeFirst()
            pass(event, count)
        }
    }

    private func pass(_ event: Event, _ count: Int) {
        var joined = event
        let hasOwn = event.kind.row.figures.contains(.count)
        joined.set(hasOwn ? .joined : .count, .integer(Int64(count)))
        super.handle(joined)
    }
}

extension Event {
    /// Adds the steps, samples or events that a later event of its kind counts; the total is the later one's.
    ///
    /// The taps of a double tap, and the sensors of a quorum, are no sum.
    fileprivate mutating func add(_ later: Event) {
        let isSum = [.step, .samplesLost, .eventsDropped].contains(kind)
        guard isSum, case .integer(let own) = figure(.count), case .integer(let more) = later.figure(.count)
        else { return }
        set(.count, .integer(own + more))
        if let total = later.figure(.total) { set(.total, total) }
    }
}
