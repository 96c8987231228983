/// Passes the begin of a state once the state has lasted longer than a time; drops begin and end of a shorter one.
///
/// A begin that passes keeps its own time. It is about kinds that have an end (``EventKind/end``); others pass. What has not lasted
/// when nothing more comes is dropped and counted.
package final class MinimumDurationDecorator: EventDecorator {
    private let timeNanoseconds: Int64
    /// Begins that have not lasted yet, the oldest first.
    private var held: [(event: Event, deadline: Int64)] = []
    /// When the states under way began, and when the last ones began and ended, by the topic of their ends: a decorator in front may
    /// hold a begin back until it has ended, or drop its end.
    private var begun: [EventTopic: Int64] = [:]
    private var ended: [EventTopic: [(begin: Int64, end: Int64)]] = [:]

    private static let ends = Set(EventKind.allCases.compactMap(\.end))
    /// As many are looked up; a decorator in front holds back one begin of each kind and detector.
    private static let mostEnded = 16

    /// Creates a decorator for the shortest duration that passes.
    package init(time: Duration) {
        timeNanoseconds = Units.nanoseconds(time)
    }

    /// Holds a begin, drops the end of one that is held or was dropped, and forwards the rest.
    package override func handle(_ event: Event) {
        release(before: event.timeNanoseconds)
        let topic = EventTopic(event)
        if let end = topic.end {
            // One that begins again has not lasted.
            held.removeAll { EventTopic($0.event) == topic }
            if let state = ended[end]?.last(where: { $0.begin == event.timeNanoseconds }) {
                if hasLasted(state) { super.handle(event) }
            } else {
                held.append((event, Units.later(event.timeNanoseconds, by: timeNanoseconds)))
            }
        } else if let state = ended[topic]?.last(where: { $0.end == event.timeNanoseconds }) {
            if hasLasted(state) { super.handle(event) }
        } else if !removeBegin(endedBy: topic) {
            super.handle(event)
        }
    }

    /// Learns when states begin and end, also when the handler did not ask for ends.
    package override func observe(_ event: Event) {
        release(before: event.timeNanoseconds)
        held.removeAll { event.isLoss(of: $0.event) }
        let topic = EventTopic(event)
        if Self.ends.contains(event.kind) {
            _ = removeBegin(endedBy: topic)
            guard let begin = begun.removeValue(forKey: topic) else { return }
            let before = ended[topic, default: []].suffix(Self.mostEnded - 1)
            ended[topic] = before + [(begin, event.timeNanoseconds)]
        } else if let end = topic.end {
            begun[end] = event.timeNanoseconds
        }
    }

    /// Drops begins whose end no detector reports any more.
    package override func detectorsDidEnd(except kept: Set<String>) {
        func isOver(_ detector: String?) -> Bool { detector.map { !kept.contains($0) } ?? false }
        held.removeAll { isOver($0.event.detector) }
        begun = begun.filter { !isOver($0.key.detector) }
    }

    private func hasLasted(_ state: (begin: Int64, end: Int64)) -> Bool {
        Units.later(state.begin, by: timeNanoseconds) < state.end
    }

    private func removeBegin(endedBy topic: EventTopic) -> Bool {
        let count = held.count
        held.removeAll { EventTopic($0.event).end == topic }
        return held.count < count
    }

    /// When the first held begin has lasted.
    override var ownDeadlineNanoseconds: Int64? { held.first?.deadline }

    /// Drops what has not lasted.
    package override func flush() {
        droppedCount += held.count
        held.removeAll()
    }

    override func release(before timeNanoseconds: Int64) {
        while let first = held.first, first.deadline < timeNanoseconds {
            held.removeFirst()
            super.handle(first.event)
        }
    }
}
