import Kernels

/// Reports each rise of a threshold with what followed it for a while: the greatest value, and for how long the values
/// were above.
///
/// The first sample above a limit says little of a blow, which takes some milliseconds to its peak.
struct ShockTrigger: ~Copyable {
    /// A rise, and what followed it.
    struct Report {
        /// The index of the sample that ended the time looked at.
        let index: Int
        /// The stamp of the first value above the threshold, in nanoseconds.
        let onsetNanoseconds: Int64
        /// That value.
        let first: Float
        fileprivate(set) var greatest: Float
        /// For how long the values were above, in nanoseconds.
        fileprivate(set) var aboveNanoseconds: Int64
    }

    private struct Pending {
        var report: Report
        var lastNanoseconds: Int64
        var isAbove: Bool
    }

    /// What the last range of values reported.
    private(set) var reported: [Report] = []
    private var rises: RefractoryTrigger
    private let windowNanoseconds: Int64
    private var pending: Pending?

    /// Creates a trigger that looks for so long at what follows a rise; with 0 it reports the rise at once.
    init(threshold: Threshold, refractoryNanoseconds: Int64, windowNanoseconds: Int64) {
        // A rise that belongs to an earlier one must not make the next one wait.
        rises = RefractoryTrigger(
            threshold: threshold, refractoryNanoseconds: max(refractoryNanoseconds, windowNanoseconds))
        self.windowNanoseconds = windowNanoseconds
    }

    /// Whether values between two extremes leave everything as it is.
    func isIdle(through extremes: Extremes) -> Bool {
        pending == nil && rises.isIdle(through: extremes)
    }

    /// Forgets everything, as if new.
    mutating func reset() {
        rises.reset()
        pending = nil
    }

    /// Forgets on which side of the threshold the values were.
    ///
    /// A rise that is followed is reported at the next sample.
    mutating func interrupt() {
        rises.interrupt()
        // Nothing is known of the time without samples.
        pending?.isAbove = false
    }

    /// Ends the look at a rise before its time is over; `nil` when there is none.
    mutating func finish() -> Report? {
        defer { pending = nil }
        return pending?.report
    }

    /// Takes a range of values and leaves what is to be reported in ``reported``.
    mutating func process(values: UnsafePointer<Float>, times: UnsafePointer<Int64>, range: Range<Int>) {
        reported.removeAll(keepingCapacity: true)
        rises.process(values: values, times: times, range: range)
        follow(values, times, from: range.lowerBound, to: range.upperBound)
        // A rise while an earlier one is followed belongs to it.
        for index in rises.reported where pending == nil && index >= (reported.last?.index ?? index) {
            let report = Report(
                index: index, onsetNanoseconds: times[index], first: values[index], greatest: values[index],
                aboveNanoseconds: 0)
            pending = Pending(report: report, lastNanoseconds: times[index], isAbove: true)
            follow(values, times, from: index, to: range.upperBound)
        }
    }

    private mutating func follow(
        _ values: UnsafePointer<Float>, _ times: UnsafePointer<Int64>, from start: Int, to end: Int
    ) {
        guard var pending else { return }
        let onset = pending.report.onsetNanoseconds
        let windowEnd = Units.later(onset, by: windowNanoseconds)
        for index in start..<end {
            let time = times[index]
            if pending.isAbove, time > pending.lastNanoseconds {
                pending.report.aboveNanoseconds += min(time, windowEnd) - pending.lastNanoseconds
            }
            guard time < windowEnd, time >= onset else {
                let found = pending.report
                reported.append(
                    Report(
                        index: index, onsetNanoseconds: onset, first: found.first, greatest: found.greatest,
                        aboveNanoseconds: found.aboveNanoseconds))
                self.pending = nil
                return
            }
            pending.lastNanoseconds = time
            pending.isAbove = rises.threshold.isInside(values[index])
            pending.report.greatest = max(pending.report.greatest, values[index])
        }
        self.pending = pending
    }
}
