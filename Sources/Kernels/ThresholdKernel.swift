/// A comparison with hysteresis: inside above `high`, outside below `low`, unchanged in between.
public struct Threshold: Sendable, Equatable {
    /// A value greater than this one switches to *inside*.
    public let high: Float
    /// A value smaller than this one switches to *outside*; at most `high`.
    public let low: Float

    /// Creates a threshold.
    ///
    /// - Precondition: `low <= high`.
    public init(high: Float, low: Float) {
        precondition(low <= high, "a threshold's low (\(low)) may not be above its high (\(high))")
        self.high = high
        self.low = low
    }
}

/// One change of side found by ``findCrossings(values:range:threshold:isInside:crossings:)``.
public struct Crossing: Sendable, Equatable {
    /// The index of the first value on the new side.
    public let index: Int
    /// Whether the new side is *inside*.
    public let isRising: Bool

    /// Creates a crossing.
    public init(index: Int, isRising: Bool) {
        self.index = index
        self.isRising = isRising
    }
}

/// Finds every crossing of a threshold in a block of values; the side reached is carried to the next block.
///
/// A NaN is on neither side and changes nothing.
///
/// - Parameters:
///   - values: The values; reaches at least to the range's end.
///   - range: The values to look at.
///   - threshold: The two limits, in the unit of the values.
///   - isInside: The side before the block; holds the side after it when the function returns.
///   - crossings: The crossings are appended here in the order of their indices.
public func findCrossings(
    values: UnsafePointer<Float>, range: Range<Int>, threshold: Threshold,
    isInside: inout Bool, crossings: inout [Crossing]
) {
    let high = threshold.high
    let low = threshold.low
    var inside = isInside
    var i = range.lowerBound
    while i < range.upperBound {
        // Two short loops instead of one with a state: each looks only for what can end it.
        if inside {
            while i < range.upperBound, !(values[i] < low) { i += 1 }
        } else {
            while i < range.upperBound, !(values[i] > high) { i += 1 }
        }
        guard i < range.upperBound else { break }
        inside.toggle()
        crossings.append(Crossing(index: i, isRising: inside))
        i += 1
    }
    isInside = inside
}
