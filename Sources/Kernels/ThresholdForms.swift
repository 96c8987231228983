import CKernels

/// The number of samples that the baseline form tests together for a possible change of the side.
private let blockLength = 256

/// The reference: one sample after the other; returns the number of crossings, and the side after the last sample.
@inline(__always)
func crossingsOneByOne(
    _ measure: some Measure, _ sampleCount: Int, _ threshold: Threshold, _ isInside: Bool,
    _ crossings: UnsafeMutablePointer<UInt32>
) -> (count: Int, isInside: Bool) {
    var isInside = isInside
    var count = 0
    var index = 0
    while index < sampleCount {
        // Two short loops instead of one with a state.
        if isInside {
            while index < sampleCount, !threshold.isOutside(measure.oneFalling(index)) { index += 1 }
        } else {
            while index < sampleCount, !threshold.isInside(measure.one(index)) { index += 1 }
        }
        guard index < sampleCount else { break }
        isInside.toggle()
        crossings[count] = UInt32(truncatingIfNeeded: index)
        count += 1
        index += 1
    }
    return (count, isInside)
}

/// The baseline form: skips blocks in which nothing can change the side, and evaluates the others with masks.
@inline(__always)
func crossingsInBlocks(
    _ measure: some Measure, _ sampleCount: Int, _ threshold: Threshold, _ isInside: Bool,
    _ crossings: UnsafeMutablePointer<UInt32>
) -> (count: Int, isInside: Bool) {
    // A constant in each case, so that a threshold with one side has no cost for the other.
    threshold.isTwoSided
        ? crossingsInBlocks(measure, sampleCount, threshold, SideTest(threshold, isTwoSided: true), isInside, crossings)
        : crossingsInBlocks(
            measure, sampleCount, threshold, SideTest(threshold, isTwoSided: false), isInside, crossings)
}

@inline(__always)
private func crossingsInBlocks(
    _ measure: some Measure, _ sampleCount: Int, _ threshold: Threshold, _ sides: SideTest, _ isInside: Bool,
    _ crossings: UnsafeMutablePointer<UInt32>
) -> (count: Int, isInside: Bool) {
    var chain = CrossingChain(isInside: isInside, crossings: crossings)
    var index = 0
    var isBusy = false
    while index + blockLength <= sampleCount {
        if !isBusy, sides.isCalm(measure, index, isInside: chain.isInside) {
            index += blockLength
            continue
        }
        let before = chain.count
        for start in stride(from: index, to: index + blockLength, by: 64) {
            let masks = sides.masks(measure, start)
            chain.take(rises: masks.rises, keeps: masks.keeps, base: start)
        }
        isBusy = chain.count != before
        index += blockLength
    }
    while index + 64 <= sampleCount {
        let masks = sides.masks(measure, index)
        chain.take(rises: masks.rises, keeps: masks.keeps, base: index)
        index += 64
    }
    var rises: UInt64 = 0
    var falls: UInt64 = 0
    for rest in index..<sampleCount {
        if threshold.isInside(measure.one(rest)) { rises |= 1 << UInt64(rest - index) }
        if threshold.isOutside(measure.oneFalling(rest)) { falls |= 1 << UInt64(rest - index) }
    }
    chain.take(rises: rises, keeps: ~falls, base: index)
    return (chain.count, chain.isInside)
}

/// A threshold's comparisons, four samples at a time.
private struct SideTest {
    private let high: SIMD4<Float>
    private let low: SIMD4<Float>
    private let under: SIMD4<Float>
    private let floor: SIMD4<Float>
    private let isTwoSided: Bool

    @inline(__always)
    init(_ threshold: Threshold, isTwoSided: Bool) {
        self.isTwoSided = isTwoSided
        high = SIMD4(repeating: threshold.high)
        low = SIMD4(repeating: threshold.low)
        under = SIMD4(repeating: threshold.under)
        floor = SIMD4(repeating: threshold.floor)
    }

    /// Whether no sample of a block can change the side.
    @inline(__always)
    func isCalm(_ measure: some Measure, _ index: Int, isInside: Bool) -> Bool {
        var isAny = SIMDMask<SIMD4<Int32>>(repeating: false)
        for start in stride(from: index, to: index + blockLength, by: 16) {
            if isInside {
                isAny .|= falls(measure.fourFalling(start)) .| falls(measure.fourFalling(start + 4))
                isAny .|= falls(measure.fourFalling(start + 8)) .| falls(measure.fourFalling(start + 12))
            } else {
                isAny .|= rises(measure.four(start)) .| rises(measure.four(start + 4))
                isAny .|= rises(measure.four(start + 8)) .| rises(measure.four(start + 12))
            }
        }
        return ck_signs(unsafeBitCast(isAny, to: SIMD4<Float>.self)) == 0
    }

    /// The comparisons of 64 samples.
    @inline(__always)
    func masks(_ measure: some Measure, _ index: Int) -> (rises: UInt64, keeps: UInt64) {
        var inside: UInt64 = 0
        var outside: UInt64 = 0
        for group in 0..<4 {
            let start = index + 16 * group
            let a = measure.four(start)
            let b = measure.four(start + 4)
            let c = measure.four(start + 8)
            let d = measure.four(start + 12)
            inside |= bits(rises(a), rises(b), rises(c), rises(d)) << UInt64(16 * group)
            let e = measure.fourFalling(start)
            let f = measure.fourFalling(start + 4)
            let g = measure.fourFalling(start + 8)
            let h = measure.fourFalling(start + 12)
            outside |= bits(falls(e), falls(f), falls(g), falls(h)) << UInt64(16 * group)
        }
        return (inside, ~outside)
    }

    @inline(__always)
    private func rises(_ value: SIMD4<Float>) -> SIMDMask<SIMD4<Int32>> {
        isTwoSided ? (value .> high) .| (value .< under) : value .> high
    }

    @inline(__always)
    private func falls(_ value: SIMD4<Float>) -> SIMDMask<SIMD4<Int32>> {
        isTwoSided ? (value .< low) .& (value .>= floor) : value .< low
    }

    /// One bit per lane of four masks.
    @inline(__always)
    private func bits(
        _ a: SIMDMask<SIMD4<Int32>>, _ b: SIMDMask<SIMD4<Int32>>, _ c: SIMDMask<SIMD4<Int32>>,
        _ d: SIMDMask<SIMD4<Int32>>
    ) -> UInt64 {
        UInt64(
            ck_sixteen_bits(
                unsafeBitCast(a, to: SIMD4<Float>.self), unsafeBitCast(b, to: SIMD4<Float>.self),
                unsafeBitCast(c, to: SIMD4<Float>.self), unsafeBitCast(d, to: SIMD4<Float>.self)))
    }
}
