import Binnacle
import LinuxSystem

/// Puts the stamps of one device on CLOCK_MONOTONIC, so that they never fall.
///
/// Stamps of that clock stay as the kernel gave them. Those of another clock are moved by a constant, and missing ones are
/// made from the time of arrival.
package struct ClockMap {
    /// What the distance from the stamp before means.
    package enum Kind {
        /// It was measured by the device.
        case measured
        /// Nothing: the stamp is the first one, was missing, or fell a little.
        case made
        /// The device's clock was set.
        case jumped
    }

    private enum Origin: Equatable {
        case unknown
        /// Of CLOCK_MONOTONIC, or of a clock at a constant distance from it.
        case constant(offset: Int64)
        /// Of CLOCK_REALTIME, which may be set at any time.
        case realtime
    }

    /// The last stamp that was given.
    package private(set) var last: Int64?
    private var origin = Origin.unknown
    private let floor: Int64
    private var notice: String?

    /// A stamp further than this from the time of arrival is one of another clock.
    private static let plausibleNanoseconds: Int64 = 60_000_000_000

    /// No stamp is below `floor`, the last one that the device gave when it was open before.
    package init(floor: Int64? = nil) {
        self.floor = floor ?? .min
    }

    /// Gives the next sample its stamp.
    ///
    /// - Parameters:
    ///   - raw: What the device gave; `nil` when it gives none, 0 when it does not know.
    ///   - behind: The number of samples that were read together with this one and come after it.
    ///   - interval: The usual distance between samples, in nanoseconds.
    ///   - arrival: When the samples were read, on CLOCK_MONOTONIC.
    ///   - realtime: CLOCK_REALTIME at the same time.
    /// - Returns: The stamp, and what its distance from the last one means.
    @inline(__always)  // Nearly all stamps take the first branch, and a block of them keeps its state in registers.
    package mutating func time(
        of raw: Int64?, behind: Int = 0, interval: Double? = nil, arrival: Int64,
        realtime: () -> Int64 = SystemClock.realtime
    ) -> (nanoseconds: Int64, kind: Kind) {
        if case .constant(let offset) = origin, let last, let raw, raw != 0 {
            let (time, overflow) = raw.addingReportingOverflow(offset)
            if !overflow, time > last, Self.distance(time, arrival) <= Self.plausibleNanoseconds {
                self.last = time
                return (time, .measured)
            }
        }
        var map = self
        defer { self = map }
        return map.unusualTime(of: raw, behind, interval, arrival, realtime)
    }

    /// The stamp of a value that is repeated because the device reported no change.
    package mutating func hold(at arrival: Int64) -> Int64 { keep(arrival) }

    /// Takes what a person should know about the stamps, once.
    package mutating func takeNotice() -> String? { notice.take() }

    private mutating func unusualTime(
        of raw: Int64?, _ behind: Int, _ interval: Double?, _ arrival: Int64, _ realtime: () -> Int64
    ) -> (nanoseconds: Int64, kind: Kind) {
        guard let raw, raw != 0 else {
            if origin == .unknown {
                origin = .constant(offset: 0)
                notice =
                    (raw == nil ? "gives no timestamps" : "gives timestamps of 0")
                    + ": they are made from the time at which samples arrive"
            }
            return (keep(made(behind, interval, arrival)), .made)
        }
        let time = translated(raw, made(behind, interval, arrival), arrival, realtime)
        guard let last else { return (keep(time), .made) }
        if Self.distance(time, arrival) > Self.plausibleNanoseconds {
            return jump(raw, to: max(last, arrival))
        }
        guard time < last else { return (keep(time), .measured) }
        // Two stamps may change places by a little. A clock that was set back stays behind.
        let isSwapped = Double(last) - Double(time) <= max(2 * (interval ?? 0), 1e6)
        return isSwapped ? (keep(last), .made) : jump(raw, to: Units.later(last, by: Int64(interval ?? 0)))
    }

    // `taken` is when the sample was probably taken: the first of several that were read together is old.
    private mutating func translated(
        _ raw: Int64, _ taken: Int64, _ arrival: Int64, _ realtime: () -> Int64
    ) -> Int64 {
        if origin == .unknown {
            if Self.distance(raw, arrival) <= Self.plausibleNanoseconds {
                origin = .constant(offset: 0)
            } else if Self.distance(raw, realtime()) <= Self.plausibleNanoseconds {
                origin = .realtime
                notice = "stamps samples with the wall clock: they are moved to the monotonic clock"
            } else {
                origin = Self.origin(putting: raw, at: taken)
                notice = "stamps samples with a clock of its own: they are moved to the monotonic clock"
            }
        }
        if case .constant(let offset) = origin { return Units.later(raw, by: offset) }
        return Units.later(raw, by: arrival - realtime())
    }

    private mutating func jump(_ raw: Int64, to time: Int64) -> (Int64, Kind) {
        origin = Self.origin(putting: raw, at: time)
        return (keep(time), .jumped)
    }

    /// Samples that were read together lie one interval apart, and not before the last one that was read earlier.
    private func made(_ behind: Int, _ interval: Double?, _ arrival: Int64) -> Int64 {
        guard behind > 0 else { return arrival }
        var step = interval ?? 0
        if let last {
            let room = max(0, Double(arrival - last)) / Double(behind + 1)
            step = interval == nil ? room : min(step, room)
        }
        return arrival - Int64(step * Double(behind))
    }

    private mutating func keep(_ time: Int64) -> Int64 {
        let kept = max(time, last ?? floor)
        last = kept
        return kept
    }

    private static func origin(putting raw: Int64, at time: Int64) -> Origin {
        .constant(offset: Units.later(time, by: raw == .min ? .max : -raw))
    }

    private static func distance(_ a: Int64, _ b: Int64) -> Int64 {
        let (difference, overflow) = a.subtractingReportingOverflow(b)
        return overflow || difference == .min ? .max : abs(difference)
    }
}
