/// Takes runs of decimal digits eight bytes at a time, with arithmetic inside one 64-bit word instead of a branch a digit.
enum DigitRun {
    /// Moves behind the digits at a position and appends them to a number, which wraps when it has no more room.
    ///
    /// - Parameters:
    ///   - p: At least eight bytes from it on are readable, and a byte that is no digit follows the run.
    ///   - number: Grows by the digits.
    @inline(__always)
    static func take(_ p: inout UnsafePointer<UInt8>, into number: inout UInt64) {
        while true {
            let bytes = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
            // Digits become 0 … 9; in every other byte the top bit is set by one of the two terms.
            let values = bytes ^ 0x3030_3030_3030_3030
            let others = (values &+ 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080
            let count = others.trailingZeroBitCount / 8
            guard count < 8 else {
                number = number &* 100_000_000 &+ value(values)
                p += 8
                continue
            }
            // The first digit lies lowest; shifted up, the missing ones become leading zeros. A shift by 64 gives 0.
            number = number &* powers[count] &+ value(values << UInt64(64 - 8 * count))
            p += count
            return
        }
    }

    /// Up to eight bytes as the values of their digits, the last in the highest byte; the missing ones are zeros.
    ///
    /// - Parameters:
    ///   - p: At least eight bytes from it on are readable.
    ///   - count: 1 to 8.
    /// - Returns: The values, a byte each.
    @inline(__always)
    static func load(_ p: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        let bytes = UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
        return (bytes ^ 0x3030_3030_3030_3030) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    }

    /// Whether each of eight bytes is 0 to 9.
    @inline(__always)
    static func isAllDigits(_ values: UInt64) -> Bool {
        (values &+ 0x7676_7676_7676_7676 | values) & 0x8080_8080_8080_8080 == 0
    }

    /// Eight digits, the first in the lowest byte, as a number: pairs, then fours, then all.
    @inline(__always)
    static func value(_ digits: UInt64) -> UInt64 {
        let pairs = (digits &* 10 &+ digits >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs &* 100 &+ pairs >> 16) & 0x0000_FFFF_0000_FFFF
        return (fours &* 10_000 &+ fours >> 32) & 0xFFFF_FFFF
    }

    private static let powers: [UInt64] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]
}
