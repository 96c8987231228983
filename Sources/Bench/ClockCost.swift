import LinuxSystem

/// What it takes to look at the clock, which is part of every time between two looks.
struct ClockCost {
    /// In nanoseconds: what lies between two looks one after the other, as a rule.
    let nanoseconds: Int64

    /// Measures it.
    init() {
        let distances = (0..<1001).map { _ in
            let start = SystemClock.monotonic()
            return SystemClock.monotonic() - start
        }
        nanoseconds = distances.sorted()[distances.count / 2]
    }
}
