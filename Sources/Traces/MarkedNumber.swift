/// A decimal number that was found by its separators: one to eight digits, a mark, one to eight digits.
///
/// Eight bytes are read from the first digit on, and eight from the mark on; there are no branches but those on the
/// lengths, which hardly change from row to row.
struct MarkedNumber {
    /// All digits, without the mark.
    let mantissa: UInt64
    /// How many of them stand behind the mark.
    let decimals: Int
    let isNegative: Bool

    /// Reads a number; `nil` when there is anything else.
    ///
    /// - Parameters:
    ///   - field: Where it starts, perhaps with a sign.
    ///   - mark: The first mark of decimals in it, or its end.
    ///   - end: Where it ends; seven bytes behind it are readable.
    @inline(__always)
    init?(_ field: UnsafePointer<UInt8>, mark: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        // Signs of measured values are as good as random: added up instead of branched upon.
        let sign = field.pointee
        isNegative = sign == UInt8(ascii: "-")
        let first = field + ((isNegative ? 1 : 0) &+ (sign == UInt8(ascii: "+") ? 1 : 0))
        let whole = mark - first
        decimals = end - mark &- 1
        // Each of the four is negative when its limit is broken.
        guard (whole &- 1) | (decimals &- 1) | (8 &- whole) | (8 &- decimals) >= 0 else { return nil }
        let high = DigitRun.load(first, count: whole)
        let low = DigitRun.load(mark + 1, count: decimals)
        if whole &+ decimals <= 8 {
            let digits = high &>> UInt64(truncatingIfNeeded: 8 &* decimals) | low
            guard DigitRun.isAllDigits(digits) else { return nil }
            mantissa = DigitRun.value(digits)
        } else {
            guard DigitRun.isAllDigits(high), DigitRun.isAllDigits(low) else { return nil }
            mantissa = DigitRun.value(high) &* DecimalPowers.integer[decimals] &+ DigitRun.value(low)
        }
    }

    /// The nearest Double to the number without its sign, when the mantissa is below 2⁵³: both operands of the division
    /// are exact then.
    @inline(__always)
    var magnitude: Double { Double(Int64(bitPattern: mantissa)) / DecimalPowers.exact[decimals] }
}
