/// The bytes of a hub's reports: numbers with the lowest byte first, behind the report's number.
struct HubReports {
    let description: HubDescription

    /// An input report.
    ///
    /// - Parameters:
    ///   - sensor: One of the hub's.
    ///   - counts: The axes.
    ///   - microseconds: The hub's time; left out by a hub that has none.
    /// - Returns: The bytes, with the report's number first.
    func input(_ sensor: VirtualSensor, _ counts: SIMD3<Int32>, microseconds: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(21)
        bytes.append(description.reportNumber(of: sensor) ?? 0)
        for axis in 0..<3 {
            switch description.width {
            case .bits16: Self.append(Int16(clamping: counts[axis]), to: &bytes)
            case .bits32: Self.append(counts[axis], to: &bytes)
            }
        }
        if description.hasTime { Self.append(microseconds, to: &bytes) }
        return bytes
    }

    /// Adds a number.
    static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        for place in 0..<(number.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    /// Reads 32 bits.
    static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
