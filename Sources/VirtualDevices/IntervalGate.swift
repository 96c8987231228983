/// Lets through as many samples as a report interval allows.
///
/// A hub reports on its own grid: a sample that comes a little early for it still counts, and one that comes late does not
/// move it. So a source of 100 Hz gives 50 a second at an interval of 20 ms, and no pattern of 33 and 100.
struct IntervalGate {
    /// `nil` lets everything through.
    var intervalNanoseconds: Int64?
    private var nextNanoseconds: Int64?

    init() {}

    /// Whether a sample is reported.
    mutating func lets(_ timeNanoseconds: Int64) -> Bool {
        guard let interval = intervalNanoseconds, interval > 0 else { return true }
        // Time that went back, or a pause: the grid begins anew.
        guard let next = nextNanoseconds, timeNanoseconds > next - 2 * interval, timeNanoseconds < next + interval
        else {
            nextNanoseconds = timeNanoseconds + interval
            return true
        }
        guard timeNanoseconds >= next - interval / 8 else { return false }
        nextNanoseconds = next + interval
        return true
    }
}
