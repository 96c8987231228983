/// A way on which sentences go out, for the thread of a sender.
protocol NMEATransport: AnyObject {
    /// Sends sentences as far as that goes without waiting.
    ///
    /// - Parameters:
    ///   - sentences: The bytes of each, with its line end.
    ///   - now: The time, on CLOCK_MONOTONIC.
    /// - Throws: ``NMEAFailure`` when nothing can be sent on this way any more.
    func send(_ sentences: [[UInt8]], at now: Int64) throws(NMEAFailure)

    /// Does what a descriptor of it is ready for.
    ///
    /// - Parameters:
    ///   - token: The descriptor's number.
    ///   - isHungUp: Whether its other end is gone.
    ///   - now: The time.
    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64)

    /// Does what the time has come for.
    func advance(to now: Int64)

    /// When ``advance(to:)`` has something to do; `nil` is never.
    var nextTime: Int64? { get }

    /// Whether it is known to work.
    var isProven: Bool { get }
}

/// Why sentences cannot be sent, in words for people.
struct NMEAFailure: Error, Equatable {
    /// The reason, with the address.
    let reason: String
    /// Whether somebody else has the port.
    var isPortTaken = false
}
