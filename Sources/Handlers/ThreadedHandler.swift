package import Binnacle

/// A handler that does its work on a thread of its own: whoever calls it never waits.
package protocol ThreadedHandler: EventHandler {
    /// Waits until everything is handled, after `finish()`.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that were given up.
    func waitForEnd(until deadlineNanoseconds: Int64) -> Int
}
