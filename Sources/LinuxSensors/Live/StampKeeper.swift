package import Binnacle
import LinuxSystem

/// Gives every sample of one device a stamp on CLOCK_MONOTONIC that never falls, and notices what is missing between.
///
/// Stamps that are on that clock stay as the kernel gave them. Those of another clock are moved by a constant, and
/// those that are missing are made from the time of arrival; both is said once, in ``notice``.
package struct StampKeeper {
    /// Something between two samples.
    package struct Finding: Equatable {
        package let cause: SampleLoss.Cause
        package let count: Int?
        package let durationSeconds: Double
        package let detail: String
    }

    /// What a person should know about the stamps; taken by whoever tells it.
    package private(set) var notice: String?
    /// The typical distance between two samples, in nanoseconds; `nil` until it is known.
    package private(set) var intervalNanoseconds: Double?
    /// The last stamp given.
    package private(set) var last: Int64?
    /// What no stamp falls below: the last one that the device gave when it was open before.
    private let floor: Int64

    private enum Origin: Equatable {
        case unknown
        /// On CLOCK_MONOTONIC.
        case monotonic
        /// On CLOCK_REALTIME, which may be set at any time.
        case realtime
        /// On the device's own clock, this far behind CLOCK_MONOTONIC.
        case own(offset: Int64)
    }

    private var origin = Origin.unknown
    /// The typical difference from the typical distance.
    private var jitterNanoseconds = 0.0
    private var gapCount = 0
    /// How many of the last samples had the stamp of the one before, from 0 to 1.
    private var alikeShare = 0.0
    /// How many overruns on end were found.
    private var overrunsInARow = 0
    private var doubt: Doubt?
    private let findsOverruns: Bool

    /// A stamp further than this from the clock is another clock's.
    private static let plausibleNanoseconds: Int64 = 60_000_000_000
    /// So many distances make a typical one.
    private static let learning = 16
    private static let mostInARow = 4
    /// So many samples after a gap show whether they make good for it.
    private static let calmSamples = 16
    /// A quarter of a second: whatever was late for so long, its samples are gone.
    private static let certainNanoseconds = 2.5e8
    /// A thousand seconds; what is slower has no rhythm.
    private static let longestInterval = 1e12
    /// A microsecond; what comes faster was stamped in one go.
    private static let shortestInterval = 1e3
    /// Who is late more often than this without making good for it has lost samples.
    private static let mostGaps = 8

    /// - Parameters:
    ///   - rateHz: The device's rate, when it says one.
    ///   - findsOverruns: Whether the device sends every sample, so that a missing one is a loss.
    ///   - floor: The last stamp that the device gave when it was open before.
    package init(rateHz: Double?, findsOverruns: Bool, floor: Int64? = nil) {
        self.floor = floor ?? .min
        // Beyond these it is no rate, but a driver's rubbish.
        if let rateHz, rateHz > 1e-3, rateHz < 1e6 { intervalNanoseconds = 1e9 / rateHz }
        self.findsOverruns = findsOverruns
    }

    /// The stamp of a sample.
    ///
    /// - Parameters:
    ///   - raw: What the device gave; `nil` when it gives none, 0 when it does not know.
    ///   - behind: How many more samples came with the same reading after this one.
    ///   - arrival: When the reading was made, on CLOCK_MONOTONIC.
    ///   - realtime: CLOCK_REALTIME at the same moment; only asked for when it is needed.
    /// - Returns: The stamp, and what was found between the last sample and this one.
    package mutating func stamp(
        _ raw: Int64?, behind: Int, arrival: Int64, realtime: () -> Int64 = SystemClock.realtime
    ) -> (timeNanoseconds: Int64, finding: Finding?) {
        guard let raw, raw != 0 else {
            if origin == .unknown {
                origin = .own(offset: 0)
                notice = raw == nil ? "gives no timestamps" : "gives timestamps of 0"
                notice?.append(": they are made from the time at which samples arrive")
            }
            return (keep(reconstructed(behind: behind, arrival: arrival)), nil)
        }
        if origin == .unknown { settle(raw, arrival: arrival, realtime: realtime()) }
        var time = translated(raw, arrival: arrival, realtime: realtime)
        guard let last else { return (keep(time), nil) }
        if Self.distance(time, arrival) > Self.plausibleNanoseconds {
            origin = .own(offset: Units.later(arrival, by: raw == .min ? .max : -raw))
            time = max(last, arrival)
            let finding = clockFinding(from: last, to: time)
            return (keep(time), finding)
        }
        let interval = intervalNanoseconds ?? 0
        if time < last {
            // Two stamps may change places by a little; a clock that was set back stays there.
            guard Double(last) - Double(time) > max(2 * interval, 1e6) else { return (keep(last), nil) }
            let next = Units.later(last, by: Int64(interval))
            origin = .own(offset: Units.later(next, by: raw == .min ? .max : -raw))
            let finding = clockFinding(from: last, to: next)
            return (keep(next), finding)
        }
        let finding = findsOverruns ? overrun(from: last, to: time) : nil
        return (keep(time), finding)
    }

    /// What came together.
    package struct Reading {
        /// When the reading was made, on CLOCK_MONOTONIC.
        let arrivalNanoseconds: Int64
        /// How many more samples came after those that are given stamps.
        let behind: Int

        /// Describes a reading.
        package init(arrivalNanoseconds: Int64, behind: Int) {
            self.arrivalNanoseconds = arrivalNanoseconds
            self.behind = behind
        }
    }

    /// The stamps of many samples of one reading, as one after the other would get them.
    ///
    /// - Parameters:
    ///   - stamps: What the device gave; receives the stamps.
    ///   - count: How many there are.
    ///   - isStamped: Whether the device gives any.
    ///   - reading: What they are part of.
    ///   - realtime: CLOCK_REALTIME at the same moment; only asked for when it is needed.
    ///   - found: Given what was found before a sample, and the sample's stamp.
    package mutating func stamp(
        _ stamps: UnsafeMutablePointer<Int64>, count: Int, isStamped: Bool, of reading: Reading,
        realtime: () -> Int64 = SystemClock.realtime, found: (Finding, Int64) -> Void
    ) {
        var index = 0
        while index < count {
            if isStamped {
                index += stampUsual(stamps + index, count: count - index, arrival: reading.arrivalNanoseconds)
                guard index < count else { break }
            }
            let (time, finding) = stamp(
                isStamped ? stamps[index] : nil, behind: reading.behind + count - 1 - index,
                arrival: reading.arrivalNanoseconds, realtime: realtime)
            stamps[index] = time
            if let finding { found(finding, time) }
            index += 1
        }
    }

    /// Gives stamps as long as nothing is to be decided: the clock is known, stamps rise and are as far apart as usual.
    ///
    /// The same as ``stamp(_:behind:arrival:realtime:)`` does in that case, with the state in locals.
    ///
    /// - Returns: How many it was.
    private mutating func stampUsual(_ stamps: UnsafeMutablePointer<Int64>, count: Int, arrival: Int64) -> Int {
        let offset: Int64
        switch origin {
        case .monotonic: offset = 0
        case .own(let own): offset = own
        case .unknown, .realtime: return 0
        }
        guard var last else { return 0 }
        if findsOverruns {
            guard intervalNanoseconds != nil, doubt == nil, gapCount >= Self.learning else { return 0 }
        }
        let earliest = Units.later(arrival, by: -Self.plausibleNanoseconds)
        let latest = Units.later(arrival, by: Self.plausibleNanoseconds)
        var (interval, jitter, alike) = (intervalNanoseconds ?? 0, jitterNanoseconds, alikeShare)
        var index = 0
        while index < count {
            let (time, overflow) = stamps[index].addingReportingOverflow(offset)
            guard stamps[index] != 0, !overflow, time > last, time >= earliest, time <= latest else { break }
            if findsOverruns {
                let gap = Double(time) - Double(last)
                let share = alike + (0 - alike) / 32
                guard gap > 0, share < 0.3, gap <= interval + 0.75 * interval || gap <= interval + 6 * jitter,
                    gap <= 16 * interval
                else { break }
                // As ``learn(_:_:_:weight:)``, and branches instead of limits, which each sample would wait for.
                let learned = interval + (gap - interval) * 0.0625
                guard learned >= Self.shortestInterval, learned <= Self.longestInterval else { break }
                alike = share
                jitter += (abs(gap - interval) - jitter) * 0.0625
                interval = learned
            }
            stamps[index] = time
            last = time
            index += 1
        }
        guard index > 0 else { return 0 }
        self.last = last
        if findsOverruns {
            gapCount += index
            overrunsInARow = 0
            (intervalNanoseconds, jitterNanoseconds, alikeShare) = (interval, jitter, alike)
        }
        return index
    }

    /// The stamp of a value that is repeated because the device said nothing new.
    package mutating func hold(at arrival: Int64) -> Int64 { keep(arrival) }

    /// Takes the notice, so that it is told once.
    package mutating func takeNotice() -> String? {
        defer { notice = nil }
        return notice
    }

    private mutating func keep(_ time: Int64) -> Int64 {
        let kept = max(time, last ?? floor)
        last = kept
        return kept
    }

    /// Finds out which clock the stamps are of.
    private mutating func settle(_ raw: Int64, arrival: Int64, realtime: Int64) {
        if Self.distance(raw, arrival) <= Self.plausibleNanoseconds {
            origin = .monotonic
        } else if Self.distance(raw, realtime) <= Self.plausibleNanoseconds {
            origin = .realtime
            notice = "stamps samples with the wall clock: they are moved to the monotonic clock"
        } else {
            origin = .own(offset: Units.later(arrival, by: raw == .min ? .max : -raw))
            notice = "stamps samples with a clock of its own: they are moved to the monotonic clock"
        }
    }

    private func translated(_ raw: Int64, arrival: Int64, realtime: () -> Int64) -> Int64 {
        switch origin {
        case .unknown, .monotonic: raw
        case .realtime: Units.later(raw, by: arrival - realtime())
        case .own(let offset): Units.later(raw, by: offset)
        }
    }

    /// Samples that came together lie one interval apart, and not before the last one that came earlier.
    private func reconstructed(behind: Int, arrival: Int64) -> Int64 {
        guard behind > 0 else { return arrival }
        var step = intervalNanoseconds ?? 0
        if let last {
            let room = max(0, Double(arrival - last)) / Double(behind + 1)
            step = intervalNanoseconds == nil ? room : min(step, room)
        }
        return arrival - Int64(step * Double(behind))
    }

    /// Whether samples are missing between two; also learns what is usual.
    ///
    /// A sample that was only late is followed by some that come sooner than usual, until they are on time again: of a
    /// busy machine or hub that is the rule, and nothing is lost. So a gap is a loss only when the samples behind it do
    /// not make it good.
    private mutating func overrun(from last: Int64, to time: Int64) -> Finding? {
        let gap = Double(time) - Double(last)
        guard let interval = intervalNanoseconds else {
            if gap > 0 { intervalNanoseconds = min(max(gap, Self.shortestInterval), Self.longestInterval) }
            return nil
        }
        gapCount += 1
        alikeShare += ((gap == 0 ? 1 : 0) - alikeShare) / 32
        // Of a device that stamps what it has gathered in one go, stamps do not show what is missing.
        guard alikeShare < 0.3 else { return nil }
        // A rate that the driver only claims is learned before anything is made of it.
        guard gapCount > Self.learning, gap > interval + max(0.75 * interval, 6 * jitterNanoseconds) else {
            overrunsInARow = 0
            // Those that make good for a gap say nothing about what is usual.
            guard doubt != nil else {
                var learned = interval
                Self.learn(gap, &learned, &jitterNanoseconds, weight: gapCount <= Self.learning ? 0.25 : 0.0625)
                intervalNanoseconds = learned
                return nil
            }
            return settleDoubt(gap, interval)
        }
        overrunsInARow += 1
        guard overrunsInARow < Self.mostInARow else {
            // Nobody loses the same number again and again: this is the rate.
            overrunsInARow = 0
            gapCount = 0
            doubt = nil
            intervalNanoseconds = min(gap, Self.longestInterval)
            return nil
        }
        var doubt = self.doubt ?? Doubt()
        doubt.add(gap, interval)
        // Nobody is that late; and who is late again and again does not make good for it.
        let isCertain = gap > max(Self.certainNanoseconds, Double(Self.learning) * interval)
        if isCertain || doubt.gapCount >= Self.mostGaps {
            self.doubt = nil
            return Self.loss(doubt, interval)
        }
        self.doubt = doubt
        return nil
    }

    /// A gap of which it is not known yet whether samples are missing in it or were only late.
    private struct Doubt {
        var gapNanoseconds = 0.0
        /// How far the samples are behind their rhythm, and the least that this was.
        var debt = 0.0
        var least = Double.infinity
        /// How many samples have come since without making good for anything.
        var calm = 0
        /// How many gaps on end there were, without much having been made good for between them.
        var gapCount = 0
        private var debtAtGap = 0.0

        mutating func add(_ gap: Double, _ interval: Double) {
            gapCount = debt > 0.75 * debtAtGap ? gapCount + 1 : 1
            gapNanoseconds += gap
            debt += gap - interval
            debtAtGap = debt
            least = debt
            calm = 0
        }
    }

    private mutating func settleDoubt(_ gap: Double, _ interval: Double) -> Finding? {
        guard var doubt else { return nil }
        doubt.debt += gap - interval
        if doubt.debt < doubt.least - 0.25 * interval {
            doubt.least = doubt.debt
            doubt.calm = 0
        } else {
            doubt.calm += 1
        }
        if doubt.debt < 0.5 * interval {
            self.doubt = nil
        } else if doubt.calm >= Self.calmSamples {
            self.doubt = nil
            return Self.loss(doubt, interval)
        } else {
            self.doubt = doubt
        }
        return nil
    }

    private static func loss(_ doubt: Doubt, _ interval: Double) -> Finding {
        // Both are bounded: a stamp is within a minute of the clock, and no interval is below a microsecond.
        let count = max(1, Int((doubt.least / interval).rounded()))
        return Finding(
            cause: .overrun, count: count, durationSeconds: doubt.gapNanoseconds * 1e-9,
            detail: "about \(count) samples are missing: the kernel's buffer was full, or the device missed its rate")
    }

    /// Learns the typical distance, and the typical difference from it, from the distance of two samples.
    @inline(__always)
    private static func learn(_ gap: Double, _ interval: inout Double, _ jitter: inout Double, weight: Double) {
        // Samples that were stamped in one go say nothing about their distance.
        guard gap > 0 else { return }
        let seen = min(gap, 16 * interval)
        jitter += (abs(seen - interval) - jitter) * weight
        interval = min(max(interval + (seen - interval) * weight, shortestInterval), longestInterval)
    }

    private mutating func clockFinding(from last: Int64, to time: Int64) -> Finding {
        gapCount = 0
        doubt = nil
        return Finding(
            cause: .clock, count: nil, durationSeconds: Units.seconds(from: last, to: time),
            detail: "the device's clock was set: its stamps are moved so that time goes on")
    }

    private static func distance(_ a: Int64, _ b: Int64) -> Int64 {
        let (difference, overflow) = a.subtractingReportingOverflow(b)
        return overflow || difference == .min ? .max : abs(difference)
    }
}
