import Binnacle

/// What one subscriber has still to be given: from the history first, then from the ring of the last events.
///
/// It does nothing by itself: it is asked for lines when there is room for them, says when it needs a page of the history,
/// and is given that later. So it holds a page at the most, however far its subscriber is behind.
struct EventFeed {
    /// What there is to do.
    enum Step: Equatable {
        /// There are lines, and may be more.
        case lines
        /// A page of the history is needed; it is given with ``receive(_:ring:)``.
        case page(EventQuery)
        /// There is nothing to do before there are new events, or before the page comes.
        case nothing
        /// Everything has been given.
        case end
    }

    /// The most events of a page.
    static let pageLimit = 64

    /// Which events.
    let filter: EventFilter
    /// The number of the last event that was looked at.
    private(set) var after: UInt64
    /// How many events it did not get, as far as that is known.
    private(set) var missedCount: UInt64 = 0

    private let hasHistory: Bool
    /// The number behind which it ends; `nil` for never.
    private let last: UInt64?
    /// Where to begin by the wall clock, until something has been found.
    private var since: Int64?
    private var state: State
    /// Notices that come before everything else.
    private var notices: [MissedEvents] = []
    private var lost = Loss()

    private enum State {
        /// The next events are in the history.
        case behind
        /// A page of it is on its way.
        case waiting
        /// There is a page, whose lines up to an index have been given.
        case page(EventPage, given: Int)
        /// The next event is that of a place in the ring.
        case live(place: UInt64)
    }

    /// Events that went from the ring before the subscriber took them.
    private struct Loss {
        var count: UInt64 = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
    }

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - identity: What the numbers belong to.
    ///   - hasHistory: Whether there is a history.
    ///   - ring: The last events.
    init(_ request: SubscriptionRequest, identity: String, hasHistory: Bool, ring: EventRing) {
        filter = request.filter
        since = request.sinceNanoseconds
        self.hasHistory = hasHistory
        last = request.follows ? nil : ring.newestSequence
        if let wanted = request.after {
            if let theirs = request.identity, theirs != identity, wanted > 0 {
                after = 0
                notices.append(MissedEvents(reason: "the numbers are of other events; it begins with the oldest"))
            } else if wanted > ring.newestSequence {
                after = ring.newestSequence
                notices.append(
                    MissedEvents(reason: "no event has the number \(wanted) yet; it begins behind \(after)"))
            } else {
                after = wanted
            }
        } else {
            // Whoever follows and names no beginning wants what happens from now on.
            after = request.follows && since == nil ? ring.newestSequence : 0
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

    /// Whether a filter takes every event, so that each number that is left out is an event.
    private var takesAll: Bool { filter.kinds == nil && filter.sensors == nil }

    /// Appends lines, with their ends, up to a size; a line that is longer is appended whole.
    ///
    /// - Parameters:
    ///   - buffer: What they are appended to.
    ///   - limit: The size, in bytes.
    ///   - ring: The last events.
    /// - Returns: What there is to do.
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
                // What has been found is given first, because the page may take its time.
                guard buffer.isEmpty else { return .lines }
                state = .waiting
                return .page(
                    EventQuery(after: after, sinceNanoseconds: since, filter: filter, limit: Self.pageLimit))
            case .page(let page, let given): give(page, given, ring, &buffer)
            case .live(let place):
                guard let entry = next(at: place, ring, buffer.isEmpty) else { continue }
                switch entry {
                case .event(let json): buffer.append(line: json)
                case .nothing: return buffer.isEmpty ? .nothing : .lines
                case .end: return buffer.isEmpty ? .end : .lines
                }
            }
        }
        return .lines
    }

    /// Whether it has come to the event with which it ends.
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

    /// The next event of the ring; `nil` when that has to be asked again.
    private mutating func next(at place: UInt64, _ ring: EventRing, _ isEmpty: Bool) -> Next? {
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
            guard sequence >= after, filter.takes(entry.event) else { return nil }
            return .event(entry.json)
        }
        guard sequence > after else { return nil }
        if let last, sequence > last { return .end }
        after = sequence
        guard filter.takes(entry.event) else { return nil }
        if let since, let wall = entry.event.wallNanoseconds, wall < since { return nil }
        since = nil
        return .event(entry.json)
    }

    /// Takes note of an event that goes from the ring; called for each, where there is no history.
    mutating func lose(_ entry: EventRing.Entry, at place: UInt64) {
        guard case .live(place) = state else { return }
        state = .live(place: place + 1)
        guard !entry.isRepeated, entry.event.sequence > after else { return }
        after = entry.event.sequence
        guard filter.takes(entry.event) else { return }
        if lost.count == 0 { lost.first = after }
        lost.count += 1
        lost.last = after
    }

    /// Passes over the events of former times that were found later, when there is nothing else that it waits for.
    mutating func skip(from end: UInt64, ring: EventRing) {
        guard case .live(end) = state else { return }
        after = ring.newestSequence
        state = .live(place: ring.end)
    }

    // MARK: - History

    /// Takes the page that was asked for.
    mutating func receive(_ page: EventPage, ring: EventRing) {
        guard case .waiting = state else { return }
        var page = page
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
        if !page.lines.isEmpty {
            since = nil
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
            goOn(ring)
        }
    }

    /// Appends the next line of a page.
    private mutating func give(_ page: EventPage, _ given: Int, _ ring: EventRing, _ buffer: inout [UInt8]) {
        guard given < page.lines.count else {
            after = max(after, page.through)
            if page.isLast, !ring.covers(after: after) {
                // The history has fallen behind, or it does not get everything: another look at it tells.
                state = .behind
            } else {
                goOn(ring)
            }
            return
        }
        let line = page.lines[given]
        if takesAll, after > 0, line.sequence > after + 1 {
            // What the store could not take, because its disk was full for instance.
            miss(through: line.sequence - 1, "they are not in the store")
            after = line.sequence - 1
            return
        }
        after = line.sequence
        buffer.append(line: line.json)
        state = .page(page, given: given + 1)
    }

    private mutating func goOn(_ ring: EventRing) {
        if ring.covers(after: after) { goLive(after: after, ring) } else { state = .behind }
    }

    private mutating func goLive(after sequence: UInt64, _ ring: EventRing) {
        after = sequence
        state = .live(place: ring.first)
    }

    /// Notes down that the events behind the last one, up to a number, will not come.
    private mutating func miss(through last: UInt64, _ reason: String) {
        guard last > after else { return }
        let count = takesAll ? last - after : nil
        missedCount += count ?? 0
        notices.append(MissedEvents(count: count, first: after + 1, last: last, reason: reason))
    }
}

extension [UInt8] {
    /// Appends a line with its end.
    mutating func append(line: String) {
        append(contentsOf: line.utf8)
        append(UInt8(ascii: "\n"))
    }
}
