/// Constants and conversions between the units inside (m/s², µT, radians, nanoseconds) and those at the edges.
@usableFromInline package enum Units {
    /// Standard gravity in m/s² as the samples' type has it, which is less exact than `Gravity.standard`.
    ///
    /// Detectors divide each sample by it: as a number of this module it costs no call.
    package static var standardGravity: Float { 9.80665 }

    /// The squares of the accelerations, in m/s², that differ from 1 g by no more than a number of g below 1.
    static func squares(near limitG: Float) -> ClosedRange<Float> {
        let low = (1 - limitG) * standardGravity
        let high = (1 + limitG) * standardGravity
        return low * low...high * high
    }

    /// Nanoseconds in a duration, rounded towards zero and limited to what 64 bits hold (292 years).
    package static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = components(of: duration)
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return later(scaled, by: attoseconds / 1_000_000_000)
    }

    /// Seconds and attoseconds, limited to seconds that 64 bits hold, beyond which `components` traps.
    private static func components(of duration: Duration) -> (seconds: Int64, attoseconds: Int64) {
        min(max(duration, .seconds(Int64.min)), .seconds(Int64.max)).components
    }

    /// A stamp moved by a number of nanoseconds; stays at the end of the range instead of overflowing.
    ///
    /// A hostile trace may carry any 64-bit stamp, and a deadline computed from it must not trap.
    @inlinable package static func later(_ timeNanoseconds: Int64, by nanoseconds: Int64) -> Int64 {
        let (sum, overflow) = timeNanoseconds.addingReportingOverflow(nanoseconds)
        guard overflow else { return sum }
        return nanoseconds > 0 ? .max : .min
    }

    /// The distance from one stamp to another.
    package static func duration(from start: Int64, to end: Int64) -> Duration {
        .nanoseconds(end) - .nanoseconds(start)
    }

    /// A duration in seconds; the same number as the distance of the stamps between which it lies.
    package static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = components(of: duration)
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        // Past 292 years the nanosecond no longer matters.
        return overflow ? Double(seconds) : Double(later(scaled, by: attoseconds / 1_000_000_000)) * 1e-9
    }

    /// The distance from one stamp to a later one in seconds.
    @inlinable
    package static func seconds(from start: Int64, to end: Int64) -> Double {
        let (distance, overflow) = end.subtractingReportingOverflow(start)
        // Past 292 years the nanosecond no longer matters.
        return overflow ? Double(end) * 1e-9 - Double(start) * 1e-9 : Double(distance) * 1e-9
    }
}
