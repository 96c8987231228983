/// Passes at most one event of each kind and detector in an interval, and keeps the latest of those in between.
///
/// The first event passes at once and opens an interval. When sample time has passed the interval, the latest event that
/// came in it is passed, and opens the next one. So nothing is delayed by more than the interval, and the last event of
/// a series always passes, unless what it says has ended before: then the end alone passes.
package final class PaceDecorator: EventDecorator {
    /// The interval of one kind and detector.
    private struct Interval {
        let topic: EventTopic
        var endNanoseconds: Int64
        var latest: Event?
    }

    private let intervalNanoseconds: Int64
    private var intervals: [Interval] = []

    /// Creates a decorator for the shortest time between two events that are passed.
    package init(interval: Duration) {
        intervalNanoseconds = Units.nanoseconds(interval)
    }

    /// Passes the event when its interval is over, and else keeps it instead of the one that was kept.
    package override func handle(_ event: Event) {
        let time = event.timeNanoseconds
        release(before: time)
        forget { $0.detector == event.detector && event.kind.endsState(of: $0.kind) }
        let topic = EventTopic(event)
        let end = Units.later(time, by: intervalNanoseconds)
        guard let index = intervals.firstIndex(where: { $0.topic == topic }) else {
            intervals.append(Interval(topic: topic, endNanoseconds: end))
            return super.handle(event)
        }
        if time < intervals[index].endNanoseconds {
            intervals[index].latest = event
        } else {
            // One that is kept is due now, and older than this one.
            intervals[index].latest = nil
            intervals[index].endNanoseconds = end
            super.handle(event)
        }
    }

    /// Learns what a sensor says no more: it would come behind its loss.
    package override func observe(_ event: Event) {
        release(before: event.timeNanoseconds)
        forget { event.isLoss(of: $0) && Self.isOver($0.kind) }
    }

    /// Whether a loss ends what a kind says; an end, and what happened once, stay true.
    private static func isOver(_ kind: EventKind) -> Bool {
        kind.end != nil || kind.role == .course || kind.role == .repeated
    }

    private func forget(where isOver: (Event) -> Bool) {
        for index in intervals.indices where intervals[index].latest.map(isOver) ?? false {
            intervals[index].latest = nil
        }
    }

    /// The end of the first interval in which an event is kept.
    override var ownDeadlineNanoseconds: Int64? {
        var next: Int64?
        for interval in intervals where interval.latest != nil {
            next = min(next ?? interval.endNanoseconds, interval.endNanoseconds)
        }
        return next
    }

    override func release(before timeNanoseconds: Int64) { passKept(before: timeNanoseconds) }

    /// Passes everything that is kept.
    package override func flush() { passKept(before: nil) }

    /// Passes what is kept in intervals that end before a time; `nil` is the end of time.
    private func passKept(before timeNanoseconds: Int64?) {
        while let index = firstDue(before: timeNanoseconds), let event = intervals[index].latest {
            let end = intervals[index].endNanoseconds
            intervals[index].latest = nil
            intervals[index].endNanoseconds = Units.later(end, by: intervalNanoseconds)
            super.handle(event)
        }
    }

    /// The interval with a kept event that ends first.
    private func firstDue(before timeNanoseconds: Int64?) -> Int? {
        var first: Int?
        for (index, interval) in intervals.enumerated()
        where interval.latest != nil && timeNanoseconds.map({ interval.endNanoseconds < $0 }) ?? true {
            if first.map({ interval.endNanoseconds < intervals[$0].endNanoseconds }) ?? true { first = index }
        }
        return first
    }
}
