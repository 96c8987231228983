import CKernels

/// A comparison with hysteresis: inside above `high`, outside below `low`, unchanged in between.
///
/// It may have a second side below: a value is inside below `under` as well, and outside only from `floor` on.
@usableFromInline
package struct Threshold: Sendable, Equatable {
    /// A value greater than this one switches to *inside*.
    @usableFromInline package let high: Float
    /// A value smaller than this one, and not smaller than ``floor``, switches to *outside*; at most `high`.
    @usableFromInline package let low: Float
    /// A value smaller than this one switches to *inside*; −∞ without a second side.
    @usableFromInline package let under: Float
    /// A value smaller than this one does not switch to *outside*; at least `under`, at most `low`.
    @usableFromInline package let floor: Float

    /// Creates a threshold with one side.
    ///
    /// - Precondition: `low <= high`.
    package init(high: Float, low: Float) {
        self.init(high: high, low: low, under: -.infinity, floor: -.infinity)
    }

    /// Creates a threshold with two sides: inside above `high` and below `under`, outside from `floor` to `low`.
    ///
    /// - Precondition: `under <= floor`, `floor <= low` and `low <= high`.
    package init(high: Float, low: Float, under: Float, floor: Float) {
        precondition(low <= high, "a threshold's low (\(low)) may not be above its high (\(high))")
        precondition(
            under <= floor && floor <= low,
            "a threshold's limits have to rise from under (\(under)) and floor (\(floor)) to low (\(low))")
        self.high = high
        self.low = low
        self.under = under
        self.floor = floor
    }

    /// Whether there is a second side below.
    var isTwoSided: Bool { under > -.infinity || floor > -.infinity }

    /// Whether a value switches to *inside*; a NaN never does.
    @inlinable
    package func isInside(_ value: Float) -> Bool { value > high || value < under }

    /// Whether a value switches to *outside*; a NaN never does.
    @inlinable
    package func isOutside(_ value: Float) -> Bool { value >= floor && value < low }

    /// Tells whether any value between two extremes can end a side.
    ///
    /// - Parameters:
    ///   - isInside: The side.
    ///   - extremes: The least and the greatest of the values.
    /// - Returns: `false` when there is no value.
    @inlinable
    package func canEnd(isInside: Bool, within extremes: Extremes) -> Bool {
        isInside
            ? extremes.least < low && extremes.greatest >= floor
            : extremes.greatest > high || extremes.least < under
    }

    /// As the forms in C take it.
    var band: ck_band { ck_band(high: high, low: low, under: under, floor: floor) }
}
