import LinuxSystem

/// Work that can be repeated: one of several that are compared.
struct Variant {
    /// Which one it is, such as `avx2`.
    let label: String
    /// Does the work so many times, and says how long that took, in nanoseconds of the processor.
    let measure: (_ times: Int) -> Int64

    /// Names work of which everything is timed.
    init(_ label: String, run: @escaping (_ times: Int) -> Void) {
        self.label = label
        measure = { times in
            let start = SystemClock.threadTime()
            run(times)
            return SystemClock.threadTime() - start
        }
    }

    /// Names work that times itself, because a part of it does not count.
    init(timed label: String, measure: @escaping (_ times: Int) -> Int64) {
        self.label = label
        self.measure = measure
    }
}
