import Binnacle

/// The last published events, each with its place: places are counted from 0 and never reused.
struct EventRing {
    struct Entry {
        /// The event without its figures, which are not needed here.
        let event: Event
        let json: String
        /// Whether it repeats an ongoing state.
        let isRepeated: Bool
    }

    private(set) var first: UInt64 = 0
    private(set) var end: UInt64 = 0
    /// The highest number of an event that left the ring or was never in it.
    private(set) var passedSequence: UInt64
    private(set) var newestSequence: UInt64

    private var entries: [Entry?]

    init(capacity: Int, startingBehind sequence: UInt64) {
        entries = Array(repeating: nil, count: capacity)
        passedSequence = sequence
        newestSequence = sequence
    }

    /// The entry of a place; `nil` when it left the ring or does not exist yet.
    subscript(place: UInt64) -> Entry? {
        guard place >= first, place < end else { return nil }
        return entries[Int(place % UInt64(entries.count))]
    }

    /// Whether the ring has all events after a number.
    func covers(after sequence: UInt64) -> Bool { sequence >= passedSequence }

    /// Adds an event, and returns the one that it replaces.
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

    /// Removes all events, and records those up to a number as passed.
    mutating func forget(through sequence: UInt64) {
        for index in entries.indices { entries[index] = nil }
        // One place is skipped: a subscriber at the old end has missed nothing, and one at the new end is live.
        end += 1
        first = end
        newestSequence = max(newestSequence, sequence)
        passedSequence = newestSequence
    }
}
