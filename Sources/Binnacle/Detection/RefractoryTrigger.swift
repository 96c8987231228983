import Kernels

/// A threshold with hysteresis that reports each rise, but not within a refractory time after the last report.
struct RefractoryTrigger: ~Copyable {
    let threshold: Threshold
    let refractoryNanoseconds: Int64

    /// The indices at which the last range of values rose and was reported.
    private(set) var reported: [Int] = []
    private var isInside = false
    private var lastReportNanoseconds: Int64?
    private var crossings = CrossingList()

    init(threshold: Threshold, refractoryNanoseconds: Int64) {
        self.threshold = threshold
        self.refractoryNanoseconds = refractoryNanoseconds
    }

    /// Whether values between two extremes leave everything as it is.
    func isIdle(through extremes: Extremes) -> Bool {
        !threshold.canEnd(isInside: isInside, within: extremes)
    }

    /// Forgets everything, as if new.
    mutating func reset() {
        isInside = false
        lastReportNanoseconds = nil
    }

    /// Forgets on which side of the threshold the values were.
    mutating func interrupt() {
        isInside = false
    }

    /// Takes a range of values and leaves what is to be reported in ``reported``.
    mutating func process(values: UnsafePointer<Float>, times: UnsafePointer<Int64>, range: Range<Int>) {
        reported.removeAll(keepingCapacity: true)
        findCrossings(values: values, range: range, threshold: threshold, isInside: &isInside, crossings: &crossings)
        reportRises(
            in: crossings, times: times, range: range, refractoryNanoseconds: refractoryNanoseconds,
            lastReportNanoseconds: &lastReportNanoseconds
        ) { reported.append($0) }
    }
}
