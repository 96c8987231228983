package import Kernels

/// Hysteresis whose new side counts only after it has lasted.
///
/// The comparison is the kernels'; this adds time. Between two crossings the side does not change, so the sample at
/// which a side has lasted long enough is found by a search in the time column, not by looking at every sample.
package struct DebouncedTrigger: ~Copyable {
    /// The sample at which the trigger switched.
    package struct Transition: Equatable {
        package let index: Int
        package let isOn: Bool
        /// The stamp of the first sample of the active time.
        package let onsetNanoseconds: Int64
        /// The stamp of the first sample on the side that was confirmed.
        package let changedNanoseconds: Int64
        /// The least and the greatest value since the onset; of no value when none was looked at.
        package let extremes: Extremes
    }

    /// Which side switches the trigger on.
    package enum ActiveSide { case inside, outside }

    let activeSide: ActiveSide
    let onDelayNanoseconds: Int64
    let offDelayNanoseconds: Int64
    /// A return to the inactive side that is shorter does not begin the time before the trigger is on again.
    let dipNanoseconds: Int64

    package private(set) var isOn = false
    package private(set) var transitions: [Transition] = []
    private var isInside: Bool
    private var changedNanoseconds: Int64 = 0
    private var onsetNanoseconds: Int64 = 0
    /// When values left the active side before the trigger was on; `nil` when there is nothing to go on with.
    private var dippedNanoseconds: Int64?
    private var extremes = Extremes()
    private var crossings = CrossingList()

    package init(
        activeSide: ActiveSide, onDelayNanoseconds: Int64, offDelayNanoseconds: Int64, dipNanoseconds: Int64 = 0
    ) {
        self.activeSide = activeSide
        self.onDelayNanoseconds = onDelayNanoseconds
        self.offDelayNanoseconds = offDelayNanoseconds
        self.dipNanoseconds = dipNanoseconds
        isInside = activeSide == .outside
    }

    /// Whether values between two extremes leave everything as it is: the trigger is off, nothing is under way, and none
    /// of them changes the side.
    func isIdle(through extremes: Extremes, threshold: Threshold) -> Bool {
        !isOn && !isActive && !threshold.canEnd(isInside: isInside, within: extremes)
    }

    /// Forgets everything, as if new.
    package mutating func reset() {
        isOn = false
        interrupt()
    }

    /// Forgets a change that is not yet confirmed; what is confirmed stays.
    package mutating func interrupt() {
        isInside = isOn == (activeSide == .inside)
        dippedNanoseconds = nil
    }

    /// Goes on after a time without values.
    ///
    /// As in ``LevelDwell``, a gap that is shorter than half of the time before the trigger is off belongs to it. Every other change that is
    /// not yet confirmed is forgotten.
    mutating func interrupt(from last: Int64, to next: Int64) {
        if isOn, !isActive, !isGap(from: last, to: next, limit: offDelayNanoseconds / 2) { return }
        interrupt()
    }

    /// Switches on without values, because something else has seen the beginning, at a stamp.
    package mutating func switchOn(onsetNanoseconds onset: Int64) {
        isOn = true
        onsetNanoseconds = onset
        changedNanoseconds = onset
        extremes = Extremes()
        interrupt()
    }

    /// Switches off at a stamp, because no values come any more; `nil` while off.
    package mutating func switchOff(at timeNanoseconds: Int64) -> Transition? {
        guard isOn else { return nil }
        let changed = isActive ? timeNanoseconds : changedNanoseconds
        isOn = false
        interrupt()
        return Transition(
            index: 0, isOn: false, onsetNanoseconds: onsetNanoseconds, changedNanoseconds: changed, extremes: extremes)
    }

    /// Takes a range of values and leaves what they switched in ``transitions``.
    package mutating func process(
        values: UnsafePointer<Float>, times: UnsafePointer<Int64>, range: Range<Int>, threshold: Threshold
    ) {
        process(times: times, range: range, values: values) { isInside, crossings in
            findCrossings(
                values: values, range: range, threshold: threshold, isInside: &isInside, crossings: &crossings)
        }
    }

    /// Takes a range of samples and leaves what they switched in ``transitions``.
    ///
    /// - Parameters:
    ///   - times: The samples' stamps, never falling.
    ///   - range: The samples to take.
    ///   - values: What extremes are to be known of; `nil` when none are.
    ///   - find: The kernel that finds the crossings in the range.
    package mutating func process(
        times: UnsafePointer<Int64>, range: Range<Int>, values: UnsafePointer<Float>? = nil,
        find: (inout Bool, inout CrossingList) -> Void
    ) {
        transitions.removeAll(keepingCapacity: true)
        var isActive = isActive
        find(&isInside, &crossings)
        var start = range.lowerBound
        for position in 0..<crossings.count {
            let index = range.lowerBound + crossings[position]
            advance(values, times, start..<index, isActive: isActive)
            isActive.toggle()
            changedNanoseconds = times[index]
            if !isOn { cross(isActive: isActive) }
            start = index
        }
        advance(values, times, start..<range.upperBound, isActive: isActive)
    }

    private var isActive: Bool { isInside == (activeSide == .inside) }

    /// Notes a change of the side while the trigger is off.
    private mutating func cross(isActive: Bool) {
        guard isActive else {
            dippedNanoseconds = changedNanoseconds
            return
        }
        if let left = dippedNanoseconds, !isGap(from: left, to: changedNanoseconds, limit: dipNanoseconds - 1) {
            changedNanoseconds = onsetNanoseconds
        } else {
            onsetNanoseconds = changedNanoseconds
            extremes = Extremes()
        }
    }

    private mutating func advance(
        _ values: UnsafePointer<Float>?, _ times: UnsafePointer<Int64>, _ range: Range<Int>, isActive: Bool
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
        dippedNanoseconds = nil
        transitions.append(
            Transition(
                index: index, isOn: isOn, onsetNanoseconds: onsetNanoseconds,
                changedNanoseconds: changedNanoseconds, extremes: extremes))
        track(values, index + 1..<range.upperBound, isActive: isActive)
    }

    private mutating func track(_ values: UnsafePointer<Float>?, _ range: Range<Int>, isActive: Bool) {
        guard isActive, let values, !range.isEmpty else { return }
        extremes.include(Kernels.extremes(of: values, range: range))
    }
}
