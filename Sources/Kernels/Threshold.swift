import CKernels

/// A threshold with hysteresis: inside above `high`, outside below `low`, unchanged in between.
///
/// It may have a second side below: also inside below `under`, and outside only from `floor`.
@usableFromInline
package struct Threshold: Sendable, Equatable {
    /// A greater value sets the side to *inside*.
    @usableFromInline package let high: Float
    /// A smaller value, not below ``floor``, sets it to *outside*; at most `high`.
    @usableFromInline package let low: Float
    /// A smaller value sets it to *inside*; −∞ without a second side.
    @usableFromInline package let under: Float
    /// A smaller value does not set it to *outside*; at least `under`, at most `low`.
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

    /// Whether a value sets the side to *inside*; a NaN never does.
    @inlinable
    package func isInside(_ value: Float) -> Bool { value > high || value < under }

    /// Whether a value sets the side to *outside*; a NaN never does.
    @inlinable
    package func isOutside(_ value: Float) -> Bool { value >= floor && value < low }

    /// Whether any value between two extremes can change the side; `false` without values.
    @inlinable
    package func canEnd(isInside: Bool, within extremes: Extremes) -> Bool {
        isInside
            ? extremes.least < low && extremes.greatest >= floor
            : extremes.greatest > high || extremes.least < under
    }

    /// The threshold for the forms in C.
    var band: ck_band { ck_band(high: high, low: low, under: under, floor: floor) }
}
