import Binnacle

/// The live readings for one subscriber: everything since its last line, joined.
///
/// A slow subscriber has at most one pending line, which still contains every extreme.
struct LiveValuesFeed {
    let request: LiveValuesRequest
    private var waiting: LiveValues?
    private var isDue = false
    private var hasBegun = false
    /// The readings of the last line, whose lanes and spectra the subscriber has.
    private var sent: LiveValues?

    init(_ request: LiveValuesRequest) {
        self.request = request
    }

    mutating func merge(_ next: LiveValues) {
        // An interval that began before the subscription, for a client that wants longer ones, is not this one's.
        defer { hasBegun = true }
        if !hasBegun, next.intervalNanoseconds > request.intervalNanoseconds / 2 * 3 { return }
        var chosen = next.only(request.sensors)
        if !request.hasSpectrum { for index in chosen.detectors.indices { chosen.detectors[index].spectrum = nil } }
        let joined = waiting?.joined(with: chosen) ?? chosen
        waiting = joined
        // The daemon's intervals are not exact, and are the shortest that any subscriber wants.
        isDue = joined.intervalNanoseconds >= request.intervalNanoseconds - next.intervalNanoseconds / 8
    }

    /// The due readings, once; `nil` if none are due.
    mutating func next() -> LiveValues? {
        guard isDue, var readings = waiting else { return nil }
        (waiting, isDue) = (nil, false)
        let intervals = (Double(readings.intervalNanoseconds) / Double(request.intervalNanoseconds)).rounded()
        readings.skippedCount = max(0, Int(intervals) - 1)
        defer { sent = readings }
        return readings.omittingKnown(of: sent)
    }
}
