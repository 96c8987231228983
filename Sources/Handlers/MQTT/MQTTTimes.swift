import LinuxSystem

/// How long a connection to a broker waits for what; in nanoseconds.
struct MQTTTimes: Sendable {
    /// The longest time from the first packet to the broker's CONNACK.
    var connect: Int64 = 10_000_000_000
    /// The longest time that a PUBLISH waits for its PUBACK.
    var answer: Int64 = 30_000_000_000
    /// How long a connection has to last to be one that works.
    var lasting: Int64 = 5_000_000_000
    /// The pause after a first failure; each further one is twice as long.
    var firstPause: Int64 = 1_000_000_000
    /// The longest pause between two attempts.
    var longestPause: Int64 = 60_000_000_000
    /// How often the broker may close the connection because of one event before that is passed over.
    var mostRefusals = 5
}

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
