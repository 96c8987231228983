import Binnacle

/// The last published events, each with its place: places are counted from 0 and never come again.
struct EventRing {
    /// An event as subscribers get it.
    struct Entry {
        /// The event without its figures, which nobody looks at here.
        let event: Event
        /// The event's line.
        let json: String
        /// Whether it repeats an ongoing state.
        let isRepeated: Bool
    }

    /// The place of the oldest entry.
    private(set) var first: UInt64 = 0
    /// The place of the next entry.
    private(set) var end: UInt64 = 0
    /// The number up to which every event has gone from the ring, or never was in it.
    private(set) var passedSequence: UInt64
    /// The number of the newest event.
    private(set) var newestSequence: UInt64

    private var entries: [Entry?]

    /// Creates a ring without events.
    ///
    /// - Parameters:
    ///   - capacity: The most events in it.
    ///   - sequence: The number behind which events are going to be counted.
    init(capacity: Int, startingBehind sequence: UInt64) {
        entries = Array(repeating: nil, count: capacity)
        passedSequence = sequence
        newestSequence = sequence
    }

    /// The entry of a place; `nil` when it is not there, any more or yet.
    subscript(place: UInt64) -> Entry? {
        guard place >= first, place < end else { return nil }
        return entries[Int(place % UInt64(entries.count))]
    }

    /// Whether nothing behind an event has gone from the ring.
    func covers(after sequence: UInt64) -> Bool { sequence >= passedSequence }

    /// Adds an event.
    ///
    /// - Returns: The place and the entry of the event that had to go for it.
    mutating func append(_ published: PublishedEvent) -> (place: UInt64, entry: Entry)? {
        var event = published.event
        event.figures = []
        let isRepeated = event.kind.role == .repeated
        var gone: (place: UInt64, entry: Entry)?
        if end - first == UInt64(entries.count), let oldest = self[first] {
            gone = (first, oldest)
            if !oldest.isRepeated { passedSequence = max(passedSequence, oldest.event.sequence) }
            first += 1
        }
        entries[Int(end % UInt64(entries.count))] = Entry(event: event, json: published.json, isRepeated: isRepeated)
        end += 1
        if !isRepeated { newestSequence = max(newestSequence, event.sequence) }
        return gone
    }

    /// Forgets every event, and that there were some up to a number that were never in it.
    mutating func forget(through sequence: UInt64) {
        for index in entries.indices { entries[index] = nil }
        // A place is passed over: whoever is not behind the ring has missed nothing.
        end += 1
        first = end
        newestSequence = max(newestSequence, sequence)
        passedSequence = newestSequence
    }
}
