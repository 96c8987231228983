import Binnacle

/// The live readings for one subscriber: what came since its last line, as one.
///
/// However slowly it reads, it has no more than one line to come, and no extreme is missing from that.
struct LiveValuesFeed {
    let request: LiveValuesRequest
    private var waiting: LiveValues?
    private var isDue = false

    init(_ request: LiveValuesRequest) {
        self.request = request
    }

    /// Takes the readings of a further interval.
    mutating func merge(_ next: LiveValues) {
        let chosen = next.only(request.sensors)
        let joined = waiting?.joined(with: chosen) ?? chosen
        waiting = joined
        // Intervals of the daemon are not exact, and the shortest one that is wanted.
        isDue = joined.intervalNanoseconds >= request.intervalNanoseconds - next.intervalNanoseconds / 8
    }

    /// The readings that are due, once; `nil` when none are.
    mutating func next() -> LiveValues? {
        guard isDue, var readings = waiting else { return nil }
        (waiting, isDue) = (nil, false)
        let intervals = (Double(readings.intervalNanoseconds) / Double(request.intervalNanoseconds)).rounded()
        readings.skippedCount = max(0, Int(intervals) - 1)
        return readings
    }
}
