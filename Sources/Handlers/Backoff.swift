/// The pauses between attempts, each twice as long as the one before up to a longest, and each shortened by chance to
/// between a half and the whole, so that a fleet does not come back in one moment.
struct Backoff {
    private let first: Int64
    private let longest: Int64
    private var failureCount = 0

    /// Creates the pauses for no failure yet.
    ///
    /// - Parameters:
    ///   - first: The first pause, in nanoseconds.
    ///   - longest: The longest pause, in nanoseconds.
    init(first: Int64, longest: Int64) {
        self.first = first
        self.longest = longest
    }

    /// Takes note that it worked.
    mutating func reset() {
        failureCount = 0
    }

    /// The pause after a further failure, in nanoseconds.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Int64 {
        let pause = min(longest, first << min(failureCount, 20))
        failureCount += 1
        return Int64.random(in: pause / 2...pause, using: &generator)
    }
}
