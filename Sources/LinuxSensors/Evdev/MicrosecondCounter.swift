import Binnacle

/// Converts a device's 32-bit counter of microseconds (MSC_TIMESTAMP) to stamps on the clock of the events.
///
/// It wraps around every 71.6 minutes and may restart at any time; the event's time distinguishes the two. An event may be
/// late, as with a busy machine or a weak radio link: its frame was taken when the counter says.
package struct MicrosecondCounter {
    private var last: UInt32?
    private var nanoseconds: Int64 = 0
    /// The last stamp.
    private var stamped: Int64 = 0
    /// The time of the first of the events that have been late without a break.
    private var lateSince: Int64?

    package init() {}

    /// Further than this ahead of the event's time, the counter was restarted; further behind it, the event is late.
    private static let tolerance: Duration = .milliseconds(100)
    /// No event is later than this, and no events are late for longer: the counter was restarted or stood still.
    private static let latest: Duration = .seconds(1)

    /// The stamp of a frame in nanoseconds, from its counter and the kernel's time of the event.
    package mutating func stamp(_ counter: UInt32, eventNanoseconds: Int64) -> Int64 {
        defer { last = counter }
        guard let last else {
            nanoseconds = eventNanoseconds
            stamped = nanoseconds
            return nanoseconds
        }
        nanoseconds = Units.later(nanoseconds, by: Int64(counter &- last) * 1000)
        let lateness = Units.duration(from: nanoseconds, to: eventNanoseconds)
        if lateness <= Self.tolerance {
            lateSince = nil
        } else if lateSince == nil {
            lateSince = eventNanoseconds
        }
        let lasting = lateSince.map { Units.duration(from: $0, to: eventNanoseconds) } ?? .zero
        if lateness < .zero - Self.tolerance || lateness > Self.latest || lasting > Self.latest {
            nanoseconds = eventNanoseconds
            lateSince = nil
        }
        // A counter that runs fast gets ahead of the events' time again and again. A step back from there would be taken for a clock
        // that was set back, and kept as an offset for good.
        let isClock = Units.duration(from: nanoseconds, to: stamped) > Self.latest
        stamped = isClock ? nanoseconds : max(stamped, nanoseconds)
        return stamped
    }
}
