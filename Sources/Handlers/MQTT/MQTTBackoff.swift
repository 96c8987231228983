/// The pauses between attempts to connect: 1 s, 2 s, 4 s and so on up to 60 s, each shortened by chance to between a half
/// and the whole, so that a fleet does not come back to its broker in one moment.
struct MQTTBackoff {
    private let times: MQTTTimes
    private var failureCount = 0

    /// Creates the pauses for no failure yet.
    init(_ times: MQTTTimes) {
        self.times = times
    }

    /// Takes note that a connection worked.
    mutating func reset() {
        failureCount = 0
    }

    /// The pause after a further failure, in nanoseconds.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Int64 {
        let pause = min(times.longestPause, times.firstPause << min(failureCount, 20))
        failureCount += 1
        return Int64.random(in: pause / 2...pause, using: &generator)
    }
}
