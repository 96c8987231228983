/// How long each of many batches took.
///
/// A batch takes microseconds, too few for the processor's own count of time. So the clock on the wall is looked at, and
/// the batch in the middle counts: one that something else interrupted is not in the middle.
struct BatchTimes {
    private var times: [Int64] = []
    private let clock: ClockCost

    /// Makes room.
    init(count: Int, clock: ClockCost) {
        times.reserveCapacity(count)
        self.clock = clock
    }

    /// Takes note of a batch.
    mutating func add(_ nanoseconds: Int64) {
        times.append(nanoseconds)
    }

    /// What all batches would have taken if each had been the one in the middle, without the looking at the clock.
    var usual: Int64 {
        guard !times.isEmpty else { return 0 }
        let middle = times.sorted()[times.count / 2]
        return max(1, middle - clock.nanoseconds) * Int64(times.count)
    }
}
