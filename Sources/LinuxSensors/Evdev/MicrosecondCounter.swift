import Binnacle

/// Converts a device's 32-bit counter of microseconds (MSC_TIMESTAMP) to stamps on the clock of the events.
///
/// It wraps around every 71.6 minutes and may restart at any time; the event's time distinguishes the two.
package struct MicrosecondCounter {
    private var last: UInt32?
    private var nanoseconds: Int64 = 0

    package init() {}

    /// Further than this from the event's time, the counter was restarted.
    private static let toleranceNanoseconds: UInt64 = 100_000_000

    /// The stamp of a frame in nanoseconds, from its counter and the kernel's time of the event.
    package mutating func stamp(_ counter: UInt32, eventNanoseconds: Int64) -> Int64 {
        defer { last = counter }
        guard let last else {
            nanoseconds = eventNanoseconds
            return nanoseconds
        }
        nanoseconds = Units.later(nanoseconds, by: Int64(counter &- last) * 1000)
        let (difference, overflow) = eventNanoseconds.subtractingReportingOverflow(nanoseconds)
        if overflow || difference.magnitude > Self.toleranceNanoseconds { nanoseconds = eventNanoseconds }
        return nanoseconds
    }
}
