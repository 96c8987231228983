/// How long a connection to a broker waits for what; in nanoseconds.
package struct MQTTTimes: Sendable {
    /// The longest time from the first packet to the broker's CONNACK.
    package var connect: Int64 = 10_000_000_000
    /// The longest time that a PUBLISH waits for its PUBACK.
    package var answer: Int64 = 30_000_000_000
    /// How long a connection has to last to be one that works.
    package var lasting: Int64 = 5_000_000_000
    /// The pause after a first failure; each further one is twice as long.
    package var firstPause: Int64 = 1_000_000_000
    /// The longest pause between two attempts.
    package var longestPause: Int64 = 60_000_000_000
    /// How often the broker may close the connection because of one event before that is passed over.
    package var mostRefusals = 5

    /// Creates the times that a daemon has.
    package init() {}
}
