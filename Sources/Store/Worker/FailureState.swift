/// That nothing can be stored, since when, and when it is tried again.
struct FailureState {
    /// What is wrong and what to do, for people.
    var text: String
    /// When it is tried again, on the monotonic clock.
    var retryNanoseconds: Int64
    /// How long to wait after that, if it fails again.
    var waitNanoseconds: Int64
    /// How many events were not stored meanwhile.
    var notStoredCount = 0

    static let firstWaitNanoseconds: Int64 = 1_000_000_000
    static let longestWaitNanoseconds: Int64 = 30_000_000_000

    /// Takes note that it failed again.
    mutating func failedAgain(_ text: String, at nowNanoseconds: Int64) {
        self.text = text
        waitNanoseconds = min(waitNanoseconds * 2, Self.longestWaitNanoseconds)
        retryNanoseconds = nowNanoseconds + waitNanoseconds
    }
}
