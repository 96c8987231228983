import Kernels
import TestSupport

/// Random scans with a layout and a conversion.
struct ScanCase {
    let format: ScanFormat
    let conversion: ScanConversion
    let count: Int
    /// The scans; what lies between their fields is garbage.
    let scans: FuzzColumn<UInt8>

    init(_ number: Int, _ random: inout SeededGenerator) {
        format = Self.format(&random)
        conversion = Self.conversion(&random)
        count = KernelFuzz.length(number, &random)
        var garbage = random.next()
        var bytes = [UInt8](repeating: 0, count: count * format.stride)
        for index in bytes.indices {
            garbage = garbage &* 0x5851_F42D_4C95_7F2D &+ 1
            bytes[index] = UInt8(garbage >> 56)
        }
        let format = format
        let isFull = Int.random(in: 0..<4, using: &random) == 0
        let loudness = isFull ? 0 : Int.random(in: 0...(format.element == .int32LittleEndian ? 22 : 12), using: &random)
        for scan in 0..<count {
            for offset in [format.xOffset, format.yOffset, format.zOffset] {
                let at = scan * format.stride + offset
                Self.put(Self.word(format.element, loudness, &random), format.element, into: &bytes, at: at)
            }
        }
        scans = FuzzColumn(bytes, offset: Int.random(in: 0...31, using: &random))
    }

    /// The sample as one would decode it by hand.
    static func sample(
        _ scan: Int, _ bytes: UnsafePointer<UInt8>, _ format: ScanFormat, _ conversion: ScanConversion
    ) -> (x: Float, y: Float, z: Float) {
        let raw = raw(scan, bytes, format).map { Double($0) }
        func axis(_ row: SIMD4<Double>) -> Float { Float(((row.x * raw[0] + row.y * raw[1]) + row.z * raw[2]) + row.w) }
        return (axis(conversion.x), axis(conversion.y), axis(conversion.z))
    }

    /// The raw values as one would read them byte by byte.
    static func raw(_ scan: Int, _ bytes: UnsafePointer<UInt8>, _ format: ScanFormat) -> [Int] {
        [format.xOffset, format.yOffset, format.zOffset].map { offset in
            let size = format.element.byteCount
            let own = (0..<size).map { Int(bytes[scan * format.stride + offset + $0]) }
            let ordered = format.element == .int16BigEndian ? own : own.reversed()
            var value = ordered.reduce(0) { $0 * 256 + $1 }
            if value >= 1 << (8 * size - 1) { value -= 1 << (8 * size) }
            return value >> format.shift
        }
    }

    /// The stamp as one would read it byte by byte; 0 without one.
    static func stamp(_ scan: Int, _ bytes: UnsafePointer<UInt8>, _ format: ScanFormat) -> Int64 {
        guard let offset = format.timestampOffset else { return 0 }
        let word = (0..<8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[scan * format.stride + offset + $1]) }
        return Int64(bitPattern: word)
    }

    private static func word(
        _ element: ScanFormat.Element, _ loudness: Int, _ random: inout SeededGenerator
    ) -> Int {
        let bits = 8 * element.byteCount
        let limit = 1 << (bits - 1 - loudness)
        return switch Int.random(in: 0..<16, using: &random) {
        case 0: loudness == 0 ? -limit : 0
        case 1: loudness == 0 ? limit - 1 : 0
        default: Int.random(in: -limit..<limit, using: &random)
        }
    }

    private static func put(_ value: Int, _ element: ScanFormat.Element, into bytes: inout [UInt8], at place: Int) {
        let size = element.byteCount
        for byte in 0..<size {
            let own = UInt8(truncatingIfNeeded: value >> (8 * byte))
            bytes[place + (element == .int16BigEndian ? size - 1 - byte : byte)] = own
        }
    }

    private static func format(_ random: inout SeededGenerator) -> ScanFormat {
        let element = ScanFormat.Element.allCases.randomElement(using: &random) ?? .int16LittleEndian
        let shift = [0, 0, 4, 2, 15].randomElement(using: &random) ?? 0
        while true {
            // What devices have, in half of the cases; anything that holds together, in the other.
            let stride = [8, 16, 16, 16, 24, 12, 32, 17].randomElement(using: &random) ?? 16
            let stamp: Int? =
                [nil, 8, 8, 16, Int.random(in: 0...24, using: &random)].randomElement(using: &random) ?? nil
            let size = element.byteCount
            let places =
                Bool.random(using: &random)
                ? [0, size, 2 * size].shuffled(using: &random)
                : (0..<3).map { _ in Int.random(in: 0...stride, using: &random) }
            if let format = ScanFormat(
                stride: stride, element: element, shift: shift, axisOffsets: (places[0], places[1], places[2]),
                timestampOffset: stamp)
            {
                return format
            }
        }
    }

    private static func conversion(_ random: inout SeededGenerator) -> ScanConversion {
        let scale = Double.random(in: 1e-5...2, using: &random)
        func row() -> SIMD4<Double> { .random(in: -2...2, using: &random) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return ScanConversion(x: [1, 0, 0, 0], y: [0, 1, 0, 0], z: [0, 0, 1, 0])
        case 1: return ScanConversion(x: [scale, 0, 0, 0], y: [0, scale, 0, 0], z: [0, 0, scale, 0])
        // A device that lies on its side.
        case 2: return ScanConversion(x: [0, -scale, 0, 0], y: [0, 0, scale, 0], z: [-scale, 0, 0, 0])
        // A turn that no axis keeps: a third of a circle about (1, 1, 1), and then a quarter of one in 3-4-5.
        case 3:
            return ScanConversion(
                x: [0, 0.6 * scale, 0.8 * scale, 0], y: [0, -0.8 * scale, 0.6 * scale, 0], z: [scale, 0, 0, 0])
        case 4: return ScanConversion(x: [scale, 0, 0, 0.5], y: [0, 1.01 * scale, 0, -3], z: [0, 0, scale, 0])
        default: return ScanConversion(x: row(), y: row(), z: row())
        }
    }
}
