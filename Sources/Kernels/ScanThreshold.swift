import CKernels

/// A threshold on the squared length of the samples in raw scans, which need not be decoded for it.
///
/// Where the conversion only scales and turns (equal scales, no offsets, an orthonormal matrix), a raw vector of the integer
/// squared length S has the squared length `Double(S)·s²` in the samples' unit. S is compared with the integers at which that
/// passes the limits, which are worked out once. Otherwise the squared length is a quadratic
/// form of ten coefficients, worked out in `Double` in a fixed order. Neither is rounded to `Float` in between, so within
/// one part in 2²³ of a limit decoded columns may decide otherwise.
public struct ScanThreshold: Sendable {
    /// How a scan is laid out.
    public let format: ScanFormat
    /// The two limits, in the square of the samples' unit.
    public let threshold: Threshold
    /// Whether integers decide: the conversion only scales and turns.
    public var isExact: Bool { if case .sum = rule { true } else { false } }

    private enum Rule {
        /// The sums of squares at which the side changes.
        case sum(SumLimits)
        /// The squared length is worked out.
        case form(QuadraticForm)
    }

    private let rule: Rule

    /// Works out what the scans are compared with.
    ///
    /// - Parameters:
    ///   - format: How a scan is laid out.
    ///   - conversion: From raw values to the samples' unit and frame.
    ///   - threshold: The two limits, in the square of the samples' unit.
    public init(format: ScanFormat, conversion: ScanConversion, threshold: Threshold) {
        self.format = format
        self.threshold = threshold
        if let squaredScale = conversion.squaredScale {
            rule = .sum(SumLimits(threshold, squaredScale: squaredScale))
        } else {
            rule = .form(QuadraticForm(conversion, threshold))
        }
    }

    /// Finds every crossing of the threshold in a block of scans; the side reached is carried to the next block.
    ///
    /// - Parameters:
    ///   - scans: The first scan's first byte; need not be aligned. `count` times the format's stride are read.
    ///   - count: The number of scans.
    ///   - isInside: The side before the block; holds the side after it when the function returns.
    ///   - crossings: Receives the crossings, counted from the first scan; what was in the list is forgotten.
    ///   - instructionSet: What to use; every one finds the same.
    public func findCrossings(
        scans: UnsafeRawPointer, count: Int, isInside: inout Bool, crossings: inout CrossingList,
        using instructionSet: InstructionSet = .current
    ) {
        let wasInside = isInside
        crossings.fill(forSamples: count, isInside: &isInside) { list in
            var found = 0
            var done = 0
            var inside = wasInside
            #if arch(x86_64)
                if instructionSet >= .avx2, case .sum(let limits) = rule, format.isCompact {
                    (found, inside) = findCompact(scans, count, limits, wasInside, list)
                    done = count & ~63
                }
            #endif
            var chain = CrossingChain(isInside: inside, crossings: list + found)
            if instructionSet == .scalar {
                findOneByOne(scans, count, &chain)
            } else {
                findInBlocks(scans, done..<count, &chain)
            }
            return (found + chain.count, chain.isInside)
        }
    }

    // MARK: - Reference

    private func findOneByOne(_ scans: UnsafeRawPointer, _ count: Int, _ chain: inout CrossingChain) {
        for i in 0..<count {
            let scan = scans + i * format.stride
            let (x, y, z) = (
                format.value(in: scan, at: format.xOffset), format.value(in: scan, at: format.yOffset),
                format.value(in: scan, at: format.zOffset)
            )
            let rises: Bool
            let keeps: Bool
            switch rule {
            case .sum(let limits):
                (rises, keeps) = limits.side(of: SumLimits.sum(x, y, z))
            case .form(let form):
                (rises, keeps) = form.side(of: form.value(Double(x), Double(y), Double(z)))
            }
            chain.take(rises: rises ? 1 : 0, keeps: keeps ? ~0 : ~1, base: i)
        }
    }

    // MARK: - Baseline

    /// 64 scans at a time, without a branch on what is in them.
    private func findInBlocks(_ scans: UnsafeRawPointer, _ range: Range<Int>, _ chain: inout CrossingChain) {
        switch format.element {
        case .int16LittleEndian:
            findInBlocks(scans, range, &chain) {
                Int32(Int16(littleEndian: $0.loadUnaligned(fromByteOffset: $1, as: Int16.self)))
            }
        case .int16BigEndian:
            findInBlocks(scans, range, &chain) {
                Int32(Int16(bigEndian: $0.loadUnaligned(fromByteOffset: $1, as: Int16.self)))
            }
        case .int32LittleEndian:
            findInBlocks(scans, range, &chain) {
                Int32(littleEndian: $0.loadUnaligned(fromByteOffset: $1, as: Int32.self))
            }
        }
    }

    @inline(__always)
    private func findInBlocks(
        _ scans: UnsafeRawPointer, _ range: Range<Int>, _ chain: inout CrossingChain,
        _ value: (UnsafeRawPointer, Int) -> Int32
    ) {
        let (xOffset, yOffset, zOffset, stride, shift) =
            (format.xOffset, format.yOffset, format.zOffset, format.stride, format.shift)
        @inline(__always)
        func find(_ decide: (Int32, Int32, Int32) -> (rises: Bool, keeps: Bool)) {
            var base = range.lowerBound
            while base < range.upperBound {
                let end = min(base + 64, range.upperBound)
                var rises: UInt64 = 0
                var falls: UInt64 = 0
                for i in base..<end {
                    let scan = scans + i &* stride
                    let side = decide(
                        value(scan, xOffset) >> shift, value(scan, yOffset) >> shift, value(scan, zOffset) >> shift)
                    rises |= (side.rises ? 1 : 0) &<< UInt64(truncatingIfNeeded: i &- base)
                    falls |= (side.keeps ? 0 : 1) &<< UInt64(truncatingIfNeeded: i &- base)
                }
                chain.take(rises: rises, keeps: ~falls, base: base)
                base = end
            }
        }
        switch rule {
        case .sum(let limits): find { limits.side(of: SumLimits.sum($0, $1, $2)) }
        case .form(let form): find { form.side(of: form.value(Double($0), Double($1), Double($2))) }
        }
    }

    // MARK: - Special instructions

    #if arch(x86_64)
        /// Takes as many scans as come in 64s.
        private func findCompact(
            _ scans: UnsafeRawPointer, _ count: Int, _ limits: SumLimits, _ isInside: Bool,
            _ list: UnsafeMutablePointer<UInt32>
        ) -> (count: Int, isInside: Bool) {
            var side: UInt64 = isInside ? 1 : 0
            var sums = ck_sums(
                rise: limits.rise.shifted(by: format.shift), keep: limits.keep.shifted(by: format.shift),
                under: limits.under.shifted(by: format.shift), floor: limits.floor.shifted(by: format.shift))
            let axis = UInt64(UInt16.max << UInt16(format.shift))
            let axes =
                axis << UInt64(8 * format.xOffset) | axis << UInt64(8 * format.yOffset) | axis
                << UInt64(8 * format.zOffset)
            let found = ck_scan_crossings16_avx2(
                scans, count, format.stride, axes, format.element == .int16BigEndian ? 1 : 0, &sums, &side,
                list)
            return (found, side != 0)
        }
    #endif
}

extension UInt64 {
    /// A limit on sums of squares, for values that are not shifted to the right; the greatest number, which no such sum
    /// reaches, where it is greater.
    fileprivate func shifted(by shift: Int) -> UInt32 {
        self > UInt64(UInt32.max) >> UInt64(2 * shift) ? .max : UInt32(self << UInt64(2 * shift))
    }
}

/// The sums of three squares at which the side changes.
struct SumLimits: Sendable {
    /// Sums from here on say inside.
    let rise: UInt64
    /// Sums below, but not below ``floor``, say outside.
    let keep: UInt64
    /// Sums below say inside as well.
    let under: UInt64
    /// Sums below do not say outside.
    let floor: UInt64

    /// The greatest sum there can be is 3·2⁶².
    private static let beyond: UInt64 = (3 << 62) + 1

    init(_ threshold: Threshold, squaredScale: Double) {
        func first(_ holds: (Double) -> Bool) -> UInt64 { Self.first { holds(Double($0) * squaredScale) } }
        rise = first { $0 > Double(threshold.high) }
        keep = first { $0 >= Double(threshold.low) }
        under = first { $0 >= Double(threshold.under) }
        floor = first { $0 >= Double(threshold.floor) }
    }

    @inline(__always)
    func side(of sum: UInt64) -> (rises: Bool, keeps: Bool) {
        (sum >= rise || sum < under, sum >= keep || sum < floor)
    }

    @inline(__always)
    static func sum(_ x: Int32, _ y: Int32, _ z: Int32) -> UInt64 {
        let (x, y, z) = (Int64(x), Int64(y), Int64(z))
        return UInt64(bitPattern: x &* x) &+ UInt64(bitPattern: y &* y) &+ UInt64(bitPattern: z &* z)
    }

    /// The first number for which something holds that holds for all behind it; a number that no sum reaches when it never does.
    private static func first(where holds: (UInt64) -> Bool) -> UInt64 {
        var low: UInt64 = 0
        var high = beyond
        while low < high {
            let middle = low + (high - low) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// The squared length of a converted vector as a polynomial of its raw values.
struct QuadraticForm: Sendable {
    private let xx, xy, xz, x: Double
    private let yy, yz, y: Double
    private let zz, z: Double
    private let constant: Double
    private let high, low, under, floor: Double

    init(_ conversion: ScanConversion, _ threshold: Threshold) {
        let rows = [conversion.x, conversion.y, conversion.z]
        func product(_ a: Int, _ b: Int) -> Double { rows.reduce(0) { $0 + $1[a] * $1[b] } }
        (xx, yy, zz) = (product(0, 0), product(1, 1), product(2, 2))
        (xy, xz, yz) = (2 * product(0, 1), 2 * product(0, 2), 2 * product(1, 2))
        (x, y, z) = (2 * product(0, 3), 2 * product(1, 3), 2 * product(2, 3))
        constant = product(3, 3)
        (high, low) = (Double(threshold.high), Double(threshold.low))
        (under, floor) = (Double(threshold.under), Double(threshold.floor))
    }

    @inline(__always)
    func side(of squared: Double) -> (rises: Bool, keeps: Bool) {
        (squared > high || squared < under, !(squared >= floor && squared < low))
    }

    /// The squared length; in this order on every instruction set.
    @inline(__always)
    func value(_ rawX: Double, _ rawY: Double, _ rawZ: Double) -> Double {
        let ofX = (xx * rawX + (xy * rawY + (xz * rawZ + x))) * rawX
        let ofY = (yy * rawY + (yz * rawZ + y)) * rawY
        let ofZ = (zz * rawZ + z) * rawZ
        return (ofX + ofY) + (ofZ + constant)
    }
}
