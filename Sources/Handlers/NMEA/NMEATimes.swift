/// How long a sender of sentences waits for what; in nanoseconds.
package struct NMEATimes: Sendable {
    /// The pause after a first failure; each further one is twice as long.
    package var firstPause: Int64 = 1_000_000_000
    /// The longest pause between two attempts.
    package var longestPause: Int64 = 60_000_000_000
    /// How long sending has to work to be told of as working again.
    package var lasting: Int64 = 5_000_000_000
    /// How long a connection may take nothing before it is closed.
    package var patience: Int64 = 5_000_000_000
    /// How long a port may be taken before that is a failure: the handler that a reload takes out may have it still.
    package var grace: Int64 = 3_000_000_000
    /// The pause between attempts in that time.
    package var gracePause: Int64 = 50_000_000
    /// How long nobody is let in when the system has no descriptor left.
    package var acceptPause: Int64 = 1_000_000_000

    /// Creates the times that a daemon has.
    package init() {}
}
