package import Binnacle
import LinuxSystem

/// Stamps the samples of a device that sends every sample, on CLOCK_MONOTONIC, and finds losses between them.
package struct ScanStamper {
    /// A finding between two samples.
    package struct Finding: Equatable {
        package let cause: SampleLoss.Cause
        package let count: Int?
        package let durationSeconds: Double
        package let detail: String
    }

    package private(set) var clock: ClockMap
    /// The distances of the stamps.
    package private(set) var gaps: GapDetector

    /// No stamp is below `floor`, the last stamp of the previous opening; see ``ClockMap/isStampless``.
    package init(rateHz: Double?, floor: Int64? = nil, isStampless: Bool = false) {
        clock = ClockMap(floor: floor, isStampless: isStampless)
        gaps = GapDetector(rateHz: rateHz)
    }

    /// Replaces the device's stamps; the result does not depend on the division into blocks.
    ///
    /// `arrival` is the time of the read on CLOCK_MONOTONIC, `realtime` CLOCK_REALTIME at that time, and `behind` the number of samples in
    /// the same read after those being stamped. `found` gets each finding before a sample, and the sample's stamp.
    package mutating func stamp(
        _ stamps: UnsafeMutablePointer<Int64>, count: Int, isStamped: Bool, arrival: Int64, behind: Int,
        realtime: () -> Int64 = SystemClock.realtime, found: (Finding, Int64) -> Void
    ) {
        var start = 0
        while start < count {
            let room = isStamped ? gaps.roomForUsual : 0
            let end = min(count, start + max(1, room))
            if room == 0 || !stampUsual(stamps + start, count: end - start, arrival: arrival) {
                for index in start..<end {
                    stampAlone(&stamps[index], isStamped, behind + count - 1 - index, arrival, realtime, found)
                }
            }
            start = end
        }
        if behind == 0, count > 0 {
            let wasStampless = clock.isStampless
            clock.followDrift(arrival: arrival)
            // The distances of those stamps mean nothing.
            if clock.isStampless, !wasStampless { gaps.restart() }
        }
    }

    /// Translates stamps at the usual distances; returns `false`, and changes nothing, when one of them is not.
    @inline(__always)  // Called for each delivery of one sample.
    private mutating func stampUsual(_ stamps: UnsafeMutablePointer<Int64>, count: Int, arrival: Int64) -> Bool {
        guard let offset = clock.usualOffset, let last = clock.last, let usual = gaps.usual,
            // A stamp of 0 is none.
            stamps[0] > 0 || stamps[count - 1] < 0,
            let deviation = usual.deviation(of: stamps, count: count, after: last &- offset)
        else { return false }
        let end = stamps[count - 1] &+ offset
        guard clock.accept(from: stamps[0] &+ offset, through: end, arrival: arrival) else { return false }
        if offset != 0 { for index in 0..<count { stamps[index] &+= offset } }
        gaps.addUsual(count: count, nanoseconds: end - last, deviationNanoseconds: deviation)
        return true
    }

    private mutating func stampAlone(
        _ stamp: inout Int64, _ isStamped: Bool, _ behind: Int, _ arrival: Int64, _ realtime: () -> Int64,
        _ found: (Finding, Int64) -> Void
    ) {
        let previous = clock.last
        let (time, kind) = clock.time(
            of: isStamped ? stamp : nil, behind: behind, interval: gaps.intervalNanoseconds, arrival: arrival,
            realtime: realtime)
        stamp = time
        guard let previous else { return }
        switch kind {
        case .made: break
        case .measured:
            guard let loss = gaps.add(time - previous) else { return }
            found(Finding(loss), time)
        case .jumped:
            gaps.restart()
            found(Finding(clockSetFrom: previous, to: time), time)
        }
    }

    /// Returns the notice for the user about the stamps, once.
    package mutating func takeNotice() -> String? { clock.takeNotice() }
}

extension ScanStamper.Finding {
    fileprivate init(_ loss: GapDetector.Loss) {
        let detail =
            "about \(loss.count) samples are missing: the kernel's buffer was full, or the device missed its rate"
        self.init(cause: .overrun, count: loss.count, durationSeconds: loss.durationSeconds, detail: detail)
    }

    fileprivate init(clockSetFrom last: Int64, to time: Int64) {
        self.init(
            cause: .clock, count: nil, durationSeconds: Units.seconds(from: last, to: time),
            detail: "the device's clock was set: its stamps are shifted to continue without a jump")
    }
}
