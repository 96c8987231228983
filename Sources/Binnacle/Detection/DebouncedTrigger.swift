import Kernels

/// A threshold with hysteresis whose new side counts only after it has lasted.
///
/// The comparison is the kernels'; this adds time. Between two crossings the side does not change, so the sample at
/// which a side has lasted long enough is found by a search in the time column, not by looking at every sample.
struct DebouncedTrigger: ~Copyable {
    /// The sample at which the trigger switched.
    struct Transition: Equatable {
        let index: Int
        let isOn: Bool
        /// The stamp of the first sample of the active time.
        let onsetNanoseconds: Int64
        /// The stamp of the first sample on the side that was confirmed.
        let changedNanoseconds: Int64
        /// The most extreme value since the onset.
        let extreme: Float
    }

    /// Which side of the threshold switches the trigger on.
    enum ActiveSide { case above, below }

    let threshold: Threshold
    let activeSide: ActiveSide
    let onDelayNanoseconds: Int64
    let offDelayNanoseconds: Int64

    private(set) var isOn = false
    private(set) var transitions: [Transition] = []
    private var isAbove: Bool
    private var changedNanoseconds: Int64 = 0
    private var onsetNanoseconds: Int64 = 0
    private var extreme: Float = 0
    private var crossings = CrossingList()

    init(threshold: Threshold, activeSide: ActiveSide, onDelayNanoseconds: Int64, offDelayNanoseconds: Int64) {
        self.threshold = threshold
        self.activeSide = activeSide
        self.onDelayNanoseconds = onDelayNanoseconds
        self.offDelayNanoseconds = offDelayNanoseconds
        isAbove = activeSide == .below
    }

    /// Forgets everything, as if new.
    mutating func reset() {
        isOn = false
        interrupt()
    }

    /// Forgets a change that is not yet confirmed; what is confirmed stays.
    mutating func interrupt() {
        isAbove = isOn == (activeSide == .above)
    }

    /// Takes a range of values and leaves what they switched in ``transitions``.
    mutating func process(values: UnsafePointer<Float>, times: UnsafePointer<Int64>, range: Range<Int>) {
        transitions.removeAll(keepingCapacity: true)
        var isActive = isAbove == (activeSide == .above)
        findCrossings(values: values, range: range, threshold: threshold, isInside: &isAbove, crossings: &crossings)
        var start = range.lowerBound
        for position in 0..<crossings.count {
            let index = range.lowerBound + crossings[position]
            advance(values, times, start..<index, isActive: isActive)
            isActive.toggle()
            changedNanoseconds = times[index]
            if isActive && !isOn {
                onsetNanoseconds = changedNanoseconds
                extreme = values[index]
            }
            start = index
        }
        advance(values, times, start..<range.upperBound, isActive: isActive)
    }

    private mutating func advance(
        _ values: UnsafePointer<Float>, _ times: UnsafePointer<Int64>, _ range: Range<Int>, isActive: Bool
    ) {
        guard isActive != isOn else {
            track(values, range, isActive: isActive)
            return
        }
        let delay = isActive ? onDelayNanoseconds : offDelayNanoseconds
        let deadline = Units.later(changedNanoseconds, by: delay)
        let index = firstIndex(in: times, range: range, notBefore: deadline)
        guard index < range.upperBound else {
            track(values, range, isActive: isActive)
            return
        }
        track(values, range.lowerBound..<index + 1, isActive: isActive)
        isOn = isActive
        transitions.append(
            Transition(
                index: index, isOn: isOn, onsetNanoseconds: onsetNanoseconds,
                changedNanoseconds: changedNanoseconds, extreme: extreme))
        track(values, index + 1..<range.upperBound, isActive: isActive)
    }

    private mutating func track(_ values: UnsafePointer<Float>, _ range: Range<Int>, isActive: Bool) {
        guard isActive else { return }
        switch activeSide {
        case .above: extreme = max(extreme, extremes(of: values, range: range).greatest)
        case .below: extreme = min(extreme, extremes(of: values, range: range).least)
        }
    }
}
