package import Binnacle
import LinuxSystem

/// Gives the samples of a device that sends every one their stamps on CLOCK_MONOTONIC, and finds losses between them.
package struct ScanStamper {
    /// What was found between two samples.
    package struct Finding: Equatable {
        package let cause: SampleLoss.Cause
        package let count: Int?
        package let durationSeconds: Double
        package let detail: String
    }

    /// The circumstances of samples that were read together.
    package struct Reading {
        /// When they were read, on CLOCK_MONOTONIC.
        let arrivalNanoseconds: Int64
        /// The number of samples that were read after those that are stamped.
        let behind: Int

        package init(arrivalNanoseconds: Int64, behind: Int) {
            self.arrivalNanoseconds = arrivalNanoseconds
            self.behind = behind
        }
    }

    /// The clock of the stamps.
    package private(set) var clock: ClockMap
    /// The distances of the stamps.
    package private(set) var gaps: GapDetector

    /// No stamp is below `floor`, the last one that the device gave when it was open before.
    package init(rateHz: Double?, floor: Int64? = nil) {
        clock = ClockMap(floor: floor)
        gaps = GapDetector(rateHz: rateHz)
    }

    /// Stamps samples in the place of what the device gave; how they are cut into blocks makes no difference.
    ///
    /// `realtime` is CLOCK_REALTIME at the same time. `found` is called with what was found before a sample, and the sample's stamp.
    package mutating func stamp(
        _ stamps: UnsafeMutablePointer<Int64>, count: Int, isStamped: Bool, of reading: Reading,
        realtime: () -> Int64 = SystemClock.realtime, found: (Finding, Int64) -> Void
    ) {
        var (clock, gaps) = (clock, gaps)
        for index in 0..<count {
            let previous = clock.last
            let (time, kind) = clock.time(
                of: isStamped ? stamps[index] : nil, behind: reading.behind + count - 1 - index,
                interval: gaps.intervalNanoseconds, arrival: reading.arrivalNanoseconds, realtime: realtime)
            stamps[index] = time
            guard let previous else { continue }
            switch kind {
            case .made: break
            case .measured:
                guard let loss = gaps.add(Double(time) - Double(previous)) else { continue }
                found(Finding(loss), time)
            case .jumped:
                gaps.restart()
                found(Finding(clockSetFrom: previous, to: time), time)
            }
        }
        (self.clock, self.gaps) = (clock, gaps)
    }

    /// Takes what a person should know about the stamps, once.
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
            detail: "the device's clock was set: its stamps are moved so that time goes on")
    }
}
