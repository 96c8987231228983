import Binnacle

/// The samples for one subscriber: a place in the ring of each stream that it has chosen.
struct SamplesFeed {
    let request: SamplesRequest
    /// The chosen streams, each with the place of the next sample.
    private(set) var cursors: [(origin: SampleOrigin, place: UInt64)] = []
    /// The number of samples that left the rings before they were sent.
    private(set) var lostCount: UInt64 = 0
    /// When the next lines are due, on CLOCK_MONOTONIC.
    private(set) var dueNanoseconds: Int64 = .min
    /// The stream to begin with, so that none waits for ever behind the others.
    private var next = 0

    /// The size of the lines in bytes after which no further one begins.
    private static let limit = 4096

    init(_ request: SamplesRequest) {
        self.request = request
    }

    /// Uses the streams that there are now, and continues with those that there were before.
    mutating func choose(
        from streams: [SampleOrigin], _ rings: [SampleOrigin: SampleRing]
    ) throws(SamplesRequest.Missing) {
        cursors = try request.chosen(from: streams).map { origin in
            (origin, cursors.first { $0.origin == origin }?.place ?? rings[origin]?.end ?? 0)
        }
        next = 0
    }

    /// Whether there is something to send.
    func hasSamples(in rings: [SampleOrigin: SampleRing]) -> Bool {
        cursors.contains { cursor in rings[cursor.origin].map { cursor.place < $0.end } ?? false }
    }

    /// Appends lines, with their ends, when they are due.
    mutating func fill(_ buffer: inout [UInt8], rings: inout [SampleOrigin: SampleRing], at now: Int64) {
        guard now >= dueNanoseconds, !cursors.isEmpty else { return }
        let isFirst = buffer.count
        for _ in cursors {
            guard buffer.count < Self.limit else { return }
            let place = cursors[next].place
            if let ring = rings[cursors[next].origin], place < ring.end {
                append(from: max(place, ring.first), &buffer, &rings)
            }
            next = (next + 1) % cursors.count
        }
        // Everything was sent, or nothing has come yet.
        if request.intervalNanoseconds > 0, buffer.count > isFirst, !hasSamples(in: rings) {
            dueNanoseconds = Units.later(now, by: request.intervalNanoseconds)
        }
    }

    private mutating func append(
        from place: UInt64, _ buffer: inout [UInt8], _ rings: inout [SampleOrigin: SampleRing]
    ) {
        let lost = place - cursors[next].place
        guard let next = rings[cursors[next].origin]?.line(from: place, lostCount: lost) else { return }
        lostCount += lost
        cursors[self.next].place = next.end
        buffer += next.line
        buffer.append(UInt8(ascii: "\n"))
    }
}
