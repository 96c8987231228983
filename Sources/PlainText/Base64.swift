/// Base64 (RFC 4648), and numbers as bytes.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let rest = bytes.count - index
            let first = UInt32(bytes[index]) << 16
            let second = rest > 1 ? UInt32(bytes[index + 1]) << 8 : 0
            let bits = first | second | (rest > 2 ? UInt32(bytes[index + 2]) : 0)
            text.append(digits[Int(bits >> 18)])
            text.append(digits[Int(bits >> 12 & 63)])
            text.append(rest > 1 ? digits[Int(bits >> 6 & 63)] : UInt8(ascii: "="))
            text.append(rest > 2 ? digits[Int(bits & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    /// Appends the low bytes of a number in little-endian order.
    package static func append(_ bits: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(place)))) }
    }
}
