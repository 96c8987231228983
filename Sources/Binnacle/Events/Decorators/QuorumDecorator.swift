/// Combines the decisions of k of n sensors: their begins become one ``EventKind/quorumReached``.
///
/// n is the number of active sensors. When at least k distinct ones of them begin within the window, the handler is
/// reported once; it is reported again only after the agreement has ended, which is when fewer than k begins lie
/// within the window. What begins is in ``EventKind/begins``: a motion, a shake, a free fall, a shock or a faced
/// bearing. Those events end here; all others pass.
package final class QuorumDecorator: EventDecorator {
    private let count: Int
    private let windowNanoseconds: Int64
    private let activeSensors: () -> Set<String>
    /// The latest begin of each sensor, oldest first.
    private var begins: [(sensor: String, timeNanoseconds: Int64)] = []
    private var isReached = false

    /// Creates a decorator.
    ///
    /// - Parameters:
    ///   - count: k, the number of distinct sensors that have to agree, at least 1.
    ///   - window: The time within which they have to begin.
    ///   - activeSensors: The names of the sensors that are active now; others have no vote.
    package init(count: Int, window: Duration, activeSensors: @escaping () -> Set<String>) {
        precondition(count > 0, "a quorum of \(count) is none")
        self.count = count
        windowNanoseconds = Units.nanoseconds(window)
        self.activeSensors = activeSensors
    }

    /// Takes a begin into account, or forwards what is none.
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
        guard active.contains(sensor) else { return }
        begins.removeAll { $0.sensor == sensor }
        begins.append((sensor, event.timeNanoseconds))
        guard begins.count >= count, !isReached else { return }
        isReached = true
        super.handle(reached(by: event, activeCount: active.count))
    }

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
