import Binnacle
import Foundation
import Synchronization

/// A history in memory, which answers on threads of its own.
final class FakeHistory: EventHistory {
    private struct State {
        var events: [Event] = []
        var first: UInt64 = 1
        var failure: String?
        var scanLimit = Int.max
        var queries: [EventQuery] = []
        /// The answers that are held back; `nil` while none are.
        var held: [@Sendable () -> Void]?
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

    /// Looks through at most so many events for a page, which may then have none.
    func scan(atMost limit: Int) { state.withLock { $0.scanLimit = limit } }

    /// Holds answers back until ``release()``.
    func hold() { state.withLock { $0.held = [] } }

    func release() {
        let answers = state.withLock { $0.held.take() } ?? []
        for answer in answers { answer() }
    }

    var queries: [EventQuery] { state.withLock { $0.queries } }

    func read(_ query: EventQuery, reply: @escaping @Sendable (EventPage) -> Void) {
        state.withLock { state in
            state.queries.append(query)
            let page = Self.page(query, state)
            guard state.held == nil else { return state.held?.append { reply(page) } ?? () }
            Thread.detachNewThread { reply(page) }
        }
    }

    private static func page(_ query: EventQuery, _ state: State) -> EventPage {
        if let failure = state.failure { return EventPage(failure: failure) }
        let next = state.events.filter { $0.sequence > query.after }
        let scanned = next.prefix(state.scanLimit)
        let begin = scanned.firstIndex { event in
            query.sinceNanoseconds.map { (event.wallNanoseconds ?? .max) >= $0 } ?? true
        }
        let wanted = scanned[(begin ?? scanned.endIndex)...].filter(query.filter.accepts)
        let lines = wanted.prefix(query.limit).map { EventLine(sequence: $0.sequence, json: $0.json) }
        let isWhole = lines.count == wanted.count
        let through = isWhole ? max(query.after, scanned.last?.sequence ?? 0) : lines.last?.sequence ?? query.after
        let isLast = isWhole && scanned.count == next.count
        var page = EventPage(lines: lines, through: through, first: state.first, isLast: isLast)
        page.hasBegun = begin != nil
        let previous = query.after > 0 && query.sinceNanoseconds == nil ? [query.after] : []
        let numbers = previous + scanned[(begin ?? scanned.endIndex)...].map(\.sequence)
        page.missing = zip(numbers, numbers.dropFirst()).filter { $0 + 1 < $1 && $1 <= through }.map { $0 + 1...$1 - 1 }
        return page
    }
}
