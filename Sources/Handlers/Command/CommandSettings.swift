/// How a handler's programs are run; the defaults are those of the configuration.
package struct CommandSettings: Sendable, Equatable {
    /// The most programs of the handler that run at the same time.
    package var concurrentLimit = 1
    /// The most events that wait for their program; those beyond are dropped, counted and told of.
    package var queueLimit = 100
    /// The longest a program may run; then its process group is sent SIGTERM.
    package var timeout: Duration = .seconds(30)
    /// How long after SIGTERM what is left of the group is sent SIGKILL.
    package var killDelay: Duration = .seconds(2)
    /// How often a program that failed is run again for the same event.
    package var retryLimit = 0
    /// How long to wait before the first retry; each further one waits twice as long, at most ``longestRetryDelay``.
    package var retryDelay: Duration = .seconds(1)
    /// The most bytes of a program's output that are kept, from its end.
    package var outputLimit = 1024
    /// Variables for the program, besides those that tell of the event.
    package var environment: [String: String] = [:]

    /// The longest pause between two attempts.
    package static let longestRetryDelay: Duration = .seconds(60)

    /// Creates settings with the defaults.
    package init() {}

    /// How long to wait after a failed attempt; `nil` when it was the last.
    ///
    /// - Parameter attempt: The attempt number, starting at 1.
    /// - Returns: The pause before the next one.
    package func retryDelay(after attempt: Int) -> Duration? {
        guard attempt <= retryLimit else { return nil }
        return min(min(retryDelay, Self.longestRetryDelay) * (1 << min(attempt - 1, 30)), Self.longestRetryDelay)
    }
}
