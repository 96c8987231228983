import Binnacle
import Foundation
import Synchronization

/// A history in memory, which answers on threads of its own.
final class FakeHistory: EventHistory {
    private struct State {
        var events: [Event] = []
        var first: UInt64 = 1
        var failure: String?
        var queries: [EventQuery] = []
    }

    let identity: String
    private let state = Mutex(State())

    init(_ sequences: ClosedRange<UInt64>? = nil, identity: String = "store-1") {
        self.identity = identity
        if let sequences { add(sequences.map { TestServer.event($0) }) }
    }

    func add(_ events: [Event]) {
        state.withLock { $0.events += events }
    }

    /// Forgets everything before a number.
    func remove(before sequence: UInt64) {
        state.withLock { state in
            state.events.removeAll { $0.sequence < sequence }
            state.first = sequence
        }
    }

    func fail(_ reason: String?) {
        state.withLock { $0.failure = reason }
    }

    var queries: [EventQuery] { state.withLock { $0.queries } }

    func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
        let page = state.withLock { state in
            state.queries.append(query)
            return Self.page(query, state)
        }
        Thread.detachNewThread { reply(page) }
    }

    private static func page(_ query: EventQuery, _ state: State) -> EventPage {
        if let failure = state.failure { return EventPage(failure: failure) }
        let wanted = state.events.filter { event in
            event.sequence > query.after && query.filter.accepts(event)
                && query.sinceNanoseconds.map { (event.wallNanoseconds ?? .max) >= $0 } ?? true
        }
        let lines = wanted.prefix(query.limit).map { EventLine(sequence: $0.sequence, json: $0.json) }
        let isLast = lines.count == wanted.count
        let through = isLast ? max(query.after, state.events.last?.sequence ?? 0) : lines.last?.sequence ?? query.after
        return EventPage(lines: lines, through: through, first: state.first, isLast: isLast)
    }
}
