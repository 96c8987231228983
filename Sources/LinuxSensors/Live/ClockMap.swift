import Binnacle
import LinuxSystem

/// Translates the stamps of one device to CLOCK_MONOTONIC, so that they never decrease.
///
/// Stamps of that clock are kept unchanged. Those of the wall clock are moved by its distance, those of a device's own clock by an
/// offset that follows how fast that clock runs (``ClockDrift``), and missing ones are estimated from the time of arrival.
package struct ClockMap {
    /// The meaning of the distance from the previous stamp.
    package enum Kind {
        /// Measured by the device.
        case measured
        /// Meaningless: the stamp is the first one, was missing, or decreased slightly.
        case made
        /// The device's clock was set.
        case jumped
    }

    private enum Origin: Equatable {
        case unknown
        /// CLOCK_MONOTONIC, or a clock at a distance from it that hardly changes.
        case constant(offset: Int64)
        /// CLOCK_REALTIME, which may be set at any time.
        case realtime
        /// The stamps stand still.
        case none
    }

    package private(set) var last: Int64?
    private var origin = Origin.unknown
    private let floor: Int64
    private var notice: String?
    /// The device's last stamp, and when a sample first came with it.
    private var repeated: (raw: Int64, arrival: Int64)?
    /// The last stamp that was made for one of 0; it may be ahead of the device's next one.
    private var standIn: Int64?
    /// Whether the device's stamps stand still, so that all are made from the time of arrival.
    ///
    /// Some drivers stamp samples with the time of the chip's last interrupt; a timer that triggers them raises none.
    package var isStampless: Bool { origin == .none }

    /// How fast the device's own clock runs; `nil` while the stamps are of no such clock.
    private var drift: ClockDrift?
    /// The times of arrival of the last jumps.
    private var jumps: [Int64] = []

    /// A clock that jumps more often than this within a minute is not used.
    private static let mostJumps = 8
    /// Samples that are read further apart than this have different stamps.
    private static let stillNanoseconds: Int64 = 300_000_000
    /// A stamp further than this from the time of arrival belongs to another clock.
    private static let plausibleNanoseconds: Int64 = 60_000_000_000
    /// A stamp further ahead of its arrival belongs to a clock of another start, as that of a sensor hub, which begins before the kernel.
    ///
    /// A driver may compute one that is a little ahead.
    private static let aheadNanoseconds: Int64 = 5_000_000_000

    /// No stamp is below `floor`, the last stamp of the previous opening.
    package init(floor: Int64? = nil, isStampless: Bool = false) {
        self.floor = floor ?? .min
        if isStampless { origin = .none }
    }

    /// What translates stamps that neither jump nor are missing; `nil` while each one has to be looked at by itself.
    package var usualOffset: Int64? {
        if case .constant(let offset) = origin, last != nil { offset } else { nil }
    }

    /// Accepts stamps that rise from ``last``, translated by ``usualOffset``; returns whether the first and the last are plausible.
    package mutating func accept(from first: Int64, through last: Int64, arrival: Int64) -> Bool {
        guard Self.distance(first, arrival) <= Self.plausibleNanoseconds,
            Self.distance(last, arrival) <= Self.plausibleNanoseconds
        else { return false }
        self.last = last
        return true
    }

    /// Moves the offset of the device's own clock as that clock runs away; ``last`` is the newest sample of a read at `arrival`.
    @inline(__always)  // Called for each delivery of one sample.
    package mutating func followDrift(arrival: Int64) {
        guard drift != nil, let last, last != standIn, case .constant(let offset) = origin,
            let step = drift?.step(last, arrival)
        else {
            return
        }
        switch step {
        case .nanoseconds(let step): origin = .constant(offset: Units.later(offset, by: step))
        case .implausible:
            origin = .none
            tellThatStampsAreMade("gives timestamps that do not advance as time does, as in another unit")
        }
    }

    /// Translates the stamp of the next sample.
    ///
    /// - Parameters:
    ///   - raw: The device's stamp; `nil` when it gives none, 0 when it does not know.
    ///   - behind: The number of later samples in the same read.
    ///   - interval: The usual distance between samples, in nanoseconds.
    ///   - arrival: The time of the read on CLOCK_MONOTONIC.
    ///   - realtime: CLOCK_REALTIME at the same time.
    /// - Returns: The stamp, and the meaning of its distance from the last one.
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
        return unusualTime(of: raw, behind, interval, arrival, realtime)
    }

    /// The stamp of a value that is repeated because the device reported no change.
    package mutating func hold(at arrival: Int64) -> Int64 { keep(arrival) }

    /// Returns the notice for the user about the stamps, once.
    package mutating func takeNotice() -> String? { notice.take() }

    private mutating func unusualTime(
        of raw: Int64?, _ behind: Int, _ interval: Double?, _ arrival: Int64, _ realtime: () -> Int64
    ) -> (nanoseconds: Int64, kind: Kind) {
        // A 0 stands still if no other stamp came since the last one.
        if let raw, raw != repeated?.raw || raw == 0 && last != standIn { repeated = (raw, arrival) }
        let isStill = repeated.map { $0.raw == raw && arrival - $0.arrival > Self.stillNanoseconds } ?? false
        if isStill, origin != .none {
            origin = .none
            tellThatStampsAreMade(raw == 0 ? Self.zeros : "gives the same timestamp again and again")
        }
        guard let raw, raw != 0, origin != .none else {
            // A first 0 may be the only one.
            if origin == .unknown, raw == nil ? last == nil : last != nil && last == standIn {
                tellThatStampsAreMade(raw == nil ? "gives no timestamps" : Self.zeros)
            }
            var time = made(behind, interval, arrival)
            // The device's stamps are older than their arrival.
            if raw == 0, origin != .unknown, origin != .none, let last, let interval {
                time = min(time, max(Units.later(last, by: Int64(interval)), arrival - Self.stillNanoseconds))
            }
            time = keep(time)
            if raw == 0 { standIn = time }
            return (time, .made)
        }
        let time = translated(raw, made(behind, interval, arrival), arrival, realtime)
        guard let last else { return (keep(time), .made) }
        if Self.distance(time, arrival) > Self.plausibleNanoseconds {
            return jump(raw, to: max(last, arrival), arrival)
        }
        guard time < last else { return (keep(time), .measured) }
        // Two neighbouring stamps may be swapped, and one made for a 0 may be ahead. A clock that was set back stays behind.
        let least = last == standIn ? Double(Self.stillNanoseconds) : 1e6
        let isSwapped = Double(last) - Double(time) <= max(2 * (interval ?? 0), least)
        return isSwapped ? (keep(last), .made) : jump(raw, to: Units.later(last, by: Int64(interval ?? 0)), arrival)
    }

    private static let zeros = "gives timestamps of 0"

    private mutating func tellThatStampsAreMade(_ reason: String) {
        notice = reason + ": they are made from the time at which samples arrive"
    }

    // `taken` is the probable time of the sample: the first of several in one read is old.
    private mutating func translated(
        _ raw: Int64, _ taken: Int64, _ arrival: Int64, _ realtime: () -> Int64
    ) -> Int64 {
        if origin == .unknown {
            if raw <= Units.later(arrival, by: Self.aheadNanoseconds),
                Self.distance(raw, arrival) <= Self.plausibleNanoseconds
            {
                origin = .constant(offset: 0)
            } else if Self.distance(raw, realtime()) <= Self.plausibleNanoseconds {
                origin = .realtime
                notice = "stamps samples with the wall clock: they are moved to the monotonic clock"
            } else {
                origin = Self.origin(putting: raw, at: taken)
                drift = ClockDrift()
                notice = "stamps samples with a clock of its own: they are moved to the monotonic clock"
            }
        }
        if case .constant(let offset) = origin { return Units.later(raw, by: offset) }
        return Units.later(raw, by: arrival - realtime())
    }

    private mutating func jump(_ raw: Int64, to time: Int64, _ arrival: Int64) -> (Int64, Kind) {
        origin = Self.origin(putting: raw, at: time)
        drift = ClockDrift()
        jumps = jumps.filter { arrival - $0 < 60_000_000_000 } + [arrival]
        if jumps.count > Self.mostJumps {
            origin = .none
            tellThatStampsAreMade("has a clock that is set again and again")
        }
        return (keep(time), .jumped)
    }

    /// Estimates stamps of samples in one read: one interval apart, and not before the last one of the previous read.
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
