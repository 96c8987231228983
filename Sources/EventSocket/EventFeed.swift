import Binnacle

/// The lines for one subscriber: first from the history, then from the ring of the last events.
///
/// A state machine without input and output: it is asked for lines when the client can accept them, requests a page of the
/// history when needed, and receives it later. It therefore holds at most one page, however far its subscriber is behind.
struct EventFeed {
    enum Step: Equatable {
        case lines
        /// A page of the history is needed; pass it to ``receive(_:ring:)``.
        case page(EventQuery)
        /// There are no lines until a new event or the page arrives.
        case nothing
        case end
    }

    private static let pageLimit = 64

    let filter: EventFilter
    /// The number of the last event considered.
    private(set) var after: UInt64
    /// The number of missed events, as far as known.
    private(set) var missedCount: UInt64 = 0

    private let hasHistory: Bool
    /// The number of the last event to send; `nil` for no end.
    private let last: UInt64?
    /// The wall clock time at which to begin; `nil` when the first event since then is found.
    private var since: Int64?
    private var state: State
    /// Notices to be sent first.
    private var notices: [MissedEvents] = []
    /// Numbers without events, from the last page of the history.
    private var gaps: [ClosedRange<UInt64>] = []
    private var lost = Loss()

    private enum State {
        /// The next events are in the history.
        case behind
        case waiting
        /// A page, and the number of its lines already sent.
        case page(EventPage, given: Int)
        /// The next event has this place in the ring.
        case live(place: UInt64)
    }

    /// Events that left the ring before they were sent.
    private struct Loss {
        var count: UInt64 = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
    }

    init(_ request: SubscriptionRequest, identity: String, hasHistory: Bool, ring: EventRing) {
        filter = request.filter
        since = request.sinceNanoseconds
        self.hasHistory = hasHistory
        last = request.follows ? nil : ring.newestSequence
        if let wanted = request.after {
            if let theirs = request.identity, theirs != identity, wanted > 0 {
                after = 0
                notices.append(MissedEvents(reason: "the number is of another sequence; the oldest event follows"))
            } else if wanted > ring.newestSequence {
                after = ring.newestSequence
                notices.append(
                    MissedEvents(reason: "no event has the number \(wanted) yet; the events after \(after) follow"))
            } else {
                after = wanted
            }
        } else {
            // A subscription that follows, without a start, begins now.
            after = request.follows && since == nil ? ring.newestSequence : 0
        }
        if let since, !hasHistory, request.after == nil, ring.passedSequence > 0,
            let oldest = ring[ring.first]?.event.wallNanoseconds, oldest >= since
        {
            notices.append(
                MissedEvents(
                    reason: "there is no store, and events up to number \(ring.passedSequence) are no longer in memory")
            )
        }
        if ring.covers(after: after) {
            let isNow = after == ring.newestSequence && request.after == nil
            state = .live(place: isNow ? ring.end : ring.first)
        } else if hasHistory {
            state = .behind
        } else {
            state = .live(place: ring.first)
            if after > 0 { miss(through: ring.passedSequence, "there is no store, and no more events are in memory") }
            after = ring.passedSequence
        }
    }

    /// Appends lines, with their ends, until the buffer has at least `limit` bytes.
    mutating func fill(_ buffer: inout [UInt8], limit: Int, ring: EventRing) -> Step {
        while buffer.count < limit {
            if !notices.isEmpty {
                buffer.append(line: SocketMessage.missed(notices.removeFirst()).json)
                continue
            }
            if isComplete { return buffer.isEmpty ? .end : .lines }
            switch state {
            case .waiting: return buffer.isEmpty ? .nothing : .lines
            case .behind:
                // The lines so far are sent first, because the page may take some time.
                guard buffer.isEmpty else { return .lines }
                state = .waiting
                return .page(
                    EventQuery(after: after, sinceNanoseconds: since, filter: filter, limit: Self.pageLimit))
            case .page(let page, let given): append(page, given, ring, &buffer)
            case .live(let place):
                guard let entry = next(at: place, ring) else { continue }
                switch entry {
                case .event(let json): buffer.append(line: json)
                case .nothing: return buffer.isEmpty ? .nothing : .lines
                case .end: return buffer.isEmpty ? .end : .lines
                }
            }
        }
        return .lines
    }

    /// Whether the last event to send was considered.
    private var isComplete: Bool {
        guard let last, after >= last else { return false }
        if case .page = state { return false }
        return true
    }

    private enum Next {
        case event(String)
        case nothing
        case end
    }

    /// The next event of the ring; `nil` when the state has changed and has to be checked again.
    private mutating func next(at place: UInt64, _ ring: EventRing) -> Next? {
        if lost.count > 0 {
            missedCount += lost.count
            notices.append(
                MissedEvents(
                    count: lost.count, first: lost.first, last: lost.last, reason: "they were not read in time"))
            lost = Loss()
            return nil
        }
        guard place >= ring.first else {
            if ring.covers(after: after) {
                state = .live(place: ring.first)
            } else if hasHistory {
                state = .behind
            } else {
                miss(through: ring.passedSequence, "they were not read in time")
                after = max(after, ring.passedSequence)
                state = .live(place: ring.first)
            }
            return nil
        }
        guard let entry = ring[place] else { return last == nil ? .nothing : .end }
        state = .live(place: place + 1)
        let sequence = entry.event.sequence
        if entry.isRepeated {
            guard sequence >= after, filter.accepts(entry.event) else { return nil }
            return .event(entry.json)
        }
        guard sequence > after else { return nil }
        if let last, sequence > last { return .end }
        after = sequence
        // The filter does not choose where it begins.
        if let since, let wall = entry.event.wallNanoseconds, wall < since { return nil }
        since = nil
        guard filter.accepts(entry.event) else { return nil }
        return .event(entry.json)
    }

    /// Handles an event that leaves the ring; called for each event if there is no history.
    mutating func lose(_ entry: EventRing.Entry, at place: UInt64) {
        guard case .live(place) = state else { return }
        state = .live(place: place + 1)
        guard !entry.isRepeated, entry.event.sequence > after else { return }
        after = entry.event.sequence
        guard filter.accepts(entry.event) else { return }
        if lost.count == 0 { lost.first = after }
        lost.count += 1
        lost.last = after
    }

    /// Skips the events of a history that was opened later, when all events of the ring were sent.
    mutating func skip(from end: UInt64, ring: EventRing) {
        guard case .live(end) = state else { return }
        after = ring.newestSequence
        state = .live(place: ring.end)
    }

    // MARK: - History

    mutating func receive(_ page: EventPage, ring: EventRing) {
        guard case .waiting = state else { return }
        var page = page
        gaps = page.gaps
        if let failure = page.failure {
            miss(through: ring.passedSequence, "the store cannot be read: \(failure)")
            goLive(after: max(after, ring.passedSequence), ring)
            return
        }
        if after > 0, page.first > after + 1 {
            miss(through: page.first - 1, "they were removed from the store")
            after = page.first - 1
        }
        page.lines.removeAll { $0.sequence <= after }
        let isBeginning = since != nil
        if page.hasBegun { since = nil }
        page.missing.removeAll { $0.upperBound <= after }
        if let first = [page.lines.first?.sequence, page.missing.first?.lowerBound].compactMap({ $0 }).min() {
            // Those before it are older, and not missing.
            if isBeginning { after = first - 1 }
            state = .page(page, given: 0)
        } else if page.isLast || page.through <= after {
            after = max(after, page.through)
            if !ring.covers(after: after) {
                miss(through: ring.passedSequence, "they are not in the store")
                after = ring.passedSequence
            }
            goLive(after: after, ring)
        } else {
            after = page.through
            proceed(ring)
        }
    }

    private mutating func append(_ page: EventPage, _ given: Int, _ ring: EventRing, _ buffer: inout [UInt8]) {
        let line = given < page.lines.count ? page.lines[given] : nil
        if let hole = page.missing.first(where: { $0.upperBound > after && $0.lowerBound < line?.sequence ?? .max }) {
            // The store could not store them, for instance because the disk was full.
            after = max(after, hole.lowerBound - 1)
            miss(through: hole.upperBound, "they are not in the store")
            after = hole.upperBound
            return
        }
        guard let line else {
            after = max(after, page.through)
            if page.isLast, !ring.covers(after: after) {
                // The history is late or incomplete, which another page will show.
                state = .behind
            } else {
                proceed(ring)
            }
            return
        }
        after = line.sequence
        buffer.append(line: line.json)
        state = .page(page, given: given + 1)
    }

    private mutating func proceed(_ ring: EventRing) {
        if ring.covers(after: after) { goLive(after: after, ring) } else { state = .behind }
    }

    private mutating func goLive(after sequence: UInt64, _ ring: EventRing) {
        after = sequence
        state = .live(place: ring.first)
    }

    /// Adds a notice that the events after the last one, up to a number, are missed.
    private mutating func miss(through last: UInt64, _ reason: String) {
        guard last > after else { return }
        let missed = (after + 1...last).subtracting(gaps)
        guard !missed.isEmpty else { return }
        let count = filter.isOfAll ? missed.reduce(0) { $0 + ($1.upperBound - $1.lowerBound + 1) } : nil
        missedCount += count ?? 0
        notices.append(MissedEvents(count: count, first: after + 1, last: last, reason: reason))
    }
}

extension [UInt8] {
    mutating func append(line: String) {
        append(contentsOf: line.utf8)
        append(UInt8(ascii: "\n"))
    }
}
