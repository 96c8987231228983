/// Notices rates at the end of the gyroscope's range: what it turned is not known then.
struct RateRange {
    private let limit: Float?
    private var largest: Float = RateRange.leastPlateau
    private var last = SIMD3<Float>.zero
    /// How often the rate of each axis has repeated.
    private var repetitions = SIMD3<Int>.zero

    /// In rad/s, 97°/s: no gyroscope's range ends below 125°/s, and one that is cut at 100°/s is found.
    private static let leastPlateau: Float = 1.7
    /// In rad/s, 200°/s: slower turns may have a peak that repeats once or twice.
    private static let fast: Float = 3.5
    private static let slowRepetitions = 3
    /// How near to the end of a known range counts as the end.
    private static let share: Float = 0.999

    /// - Parameter range: The largest rate in rad/s; `nil` when it is not known. Then the largest rate so far is its end while it
    ///   repeats to the last bit.
    init(_ range: Float?) {
        limit = range.map { $0 * Self.share }
    }

    /// Takes a sample in rad/s; returns whether one of its axes is at the end of the range.
    mutating func update(_ rate: SIMD3<Float>) -> Bool {
        let size = SIMD3(abs(rate.x), abs(rate.y), abs(rate.z))
        if let limit { return max(size.x, size.y, size.z) >= limit }
        for axis in 0..<3 { repetitions[axis] = rate[axis] == last[axis] ? repetitions[axis] + 1 : 0 }
        last = rate
        guard max(size.x, size.y, size.z) >= largest else { return false }
        var isAtEnd = false
        for axis in 0..<3 where size[axis] >= largest {
            if repetitions[axis] >= (size[axis] >= Self.fast ? 1 : Self.slowRepetitions) { isAtEnd = true }
            largest = size[axis]
        }
        return isAtEnd
    }
}
