package import Binnacle

/// A handler that does its work on a thread of its own: whoever calls it never waits.
package protocol ThreadedHandler: EventHandler {
    /// Takes no more events and works off those that it has; returns at once.
    ///
    /// - Parameter duration: How long that may take; what is not done by then is given up.
    func end(within duration: Duration)

    /// Waits until everything is done, after ``end(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that were given up.
    func waitForEnd(until deadlineNanoseconds: Int64) -> Int

    /// Whether everything is done, after ``end(within:)``.
    var hasEnded: Bool { get }

    /// How many events it has and is not known to be done with.
    var unfinishedCount: Int { get }
}
