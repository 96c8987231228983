/// Combines the decisions of k of n sensors: their begins become one ``EventKind/quorumReached``.
///
/// n is the number of active sensors. When at least k distinct ones of them report a begin within the window, one
/// event is passed; the next one only after the agreement has ended, which is when a begin arrives and fewer than k
/// begins before it are within the window. The begins are the events whose kind is in ``EventKind/begins``. They are
/// not told apart by kind or detector: a shake of one sensor and a shock of another agree. Begins are not passed on; all
/// other events are, also a begin without a sensor.
package final class QuorumDecorator: EventDecorator {
    private let count: Int
    private let windowNanoseconds: Int64
    private let activeSensors: () -> Set<String>
    /// The latest begin of each sensor within the window, in the order of arrival.
    private var begins: [(sensor: String, timeNanoseconds: Int64)] = []
    /// Whether the event of the present agreement was passed.
    private var isReached = false

    /// `window` is in sample time, from the first begin to the last; sensors that are not active have no vote.
    package init(count: Int, window: Duration, activeSensors: @escaping () -> Set<String>) {
        precondition(count > 0, "a quorum of \(count) is none")
        self.count = count
        windowNanoseconds = Units.nanoseconds(window)
        self.activeSensors = activeSensors
    }

    /// Forwards the event if it is not a begin; otherwise counts it, and forwards a report when it completes the quorum.
    package override func handle(_ event: Event) {
        guard EventKind.begins.contains(event.kind), let sensor = event.sensor else {
            super.handle(event)
            return
        }
        let active = activeSensors()
        begins.removeAll {
            !active.contains($0.sensor)
                || Units.later($0.timeNanoseconds, by: windowNanoseconds) < event.timeNanoseconds
        }
        if begins.count < count { isReached = false }
        // One that a decorator held back for longer agrees with none that is there.
        let isLate = begins.contains { Units.later(event.timeNanoseconds, by: windowNanoseconds) < $0.timeNanoseconds }
        guard active.contains(sensor), !isLate else { return }
        begins.removeAll { $0.sensor == sensor }
        begins.append((sensor, event.timeNanoseconds))
        guard begins.count >= count, !isReached else { return }
        isReached = true
        super.handle(reached(by: event, activeCount: active.count))
    }

    /// The report: the begin that completed the quorum, with its time, number and detector, but without a sensor.
    private func reached(by event: Event, activeCount: Int) -> Event {
        var reached = event
        reached.kind = .quorumReached
        reached.sensor = nil
        reached.figures = [
            Figure(.count, .integer(Int64(begins.count))),
            Figure(.needed, .integer(Int64(count))),
            Figure(.active, .integer(Int64(activeCount))),
            Figure(.sensors, .text(begins.map(\.sensor).joined(separator: ","))),
        ]
        return reached
    }
}
