/// Passes the begin of a state once the state has lasted longer than a time; drops begin and end of a shorter one.
///
/// A begin that passes keeps its own time. It is about kinds that have an end (``EventKind/end``); others pass. What has not lasted
/// when nothing more comes is dropped and counted.
package final class MinimumDurationDecorator: EventDecorator {
    private let timeNanoseconds: Int64
    /// Begins that have not lasted yet, the oldest first.
    private var held: [(event: Event, deadline: Int64)] = []

    /// Creates a decorator for the shortest duration that passes.
    package init(time: Duration) {
        timeNanoseconds = Units.nanoseconds(time)
    }

    /// Holds a begin, drops the end of one that is held, and forwards the rest.
    package override func handle(_ event: Event) {
        release(before: event.timeNanoseconds)
        if event.kind.end != nil {
            held.append((event, Units.later(event.timeNanoseconds, by: timeNanoseconds)))
        } else if !removeBegin(endedBy: event) {
            super.handle(event)
        }
    }

    /// Drops the begin that an end ends, also when the handler did not ask for ends.
    package override func observe(_ event: Event) {
        release(before: event.timeNanoseconds)
        _ = removeBegin(endedBy: event)
    }

    private func removeBegin(endedBy event: Event) -> Bool {
        let index = held.firstIndex { $0.event.kind.end == event.kind && $0.event.detector == event.detector }
        guard let index else { return false }
        held.remove(at: index)
        return true
    }

    /// When the first held begin has lasted, or what comes due behind this decorator before it.
    package override var nextDeadlineNanoseconds: Int64? {
        [held.first?.deadline, super.nextDeadlineNanoseconds].compactMap { $0 }.min()
    }

    /// Passes what has lasted by the time, then forwards it.
    package override func advance(to timeNanoseconds: Int64) {
        release(before: timeNanoseconds)
        super.advance(to: timeNanoseconds)
    }

    /// Drops what has not lasted.
    package override func flush() {
        droppedCount += held.count
        held.removeAll()
    }

    private func release(before timeNanoseconds: Int64) {
        while let first = held.first, first.deadline < timeNanoseconds {
            held.removeFirst()
            super.handle(first.event)
        }
    }
}
