/// The overlapping Allan deviation of evenly spaced values, and the parts of their noise that follow from it.
///
/// White noise of the two-sided density N² has the variance N²/τ, a random walk of the rate K has K²τ/3, and the least deviation is
/// 0.664 times the bias instability.
///
/// Source: IEEE Std 952-1997, annex C.
package struct AllanDeviation {
    /// The deviation by the time over which values are averaged, in octaves.
    package private(set) var points: [(seconds: Double, deviation: Double)] = []
    /// The one-sided density of the white noise, in the unit by √Hz, as data sheets state it; `nil` when none is seen.
    package private(set) var noiseDensity: Double?
    /// The random walk, in the unit by √s; `nil` when it is not seen beside the white noise in this time.
    package private(set) var randomWalk: Double?
    /// The bias instability: at most this, where the deviation still falls at its last point.
    package private(set) var instability: (value: Double, seconds: Double)?

    /// An average of fewer values is left out of the fit, because a chip's filter makes neighbours alike.
    private static let leastAveraged = 4
    /// The least number of averages that a point is made of.
    private static let leastAverages = 9

    package init(_ values: [Float], intervalSeconds: Double) {
        var sums = [0.0]
        sums.reserveCapacity(values.count + 1)
        // Without the first value gravity does not cost digits.
        for value in values { sums.append(sums[sums.count - 1] + Double(value) - Double(values[0])) }
        // Normal equations for N² and K².
        var (aa, ab, bb, ay, by) = (0.0, 0.0, 0.0, 0.0, 0.0)
        var averaged = 1
        while averaged * Self.leastAverages <= values.count {
            var square = 0.0
            for index in 0...(values.count - 2 * averaged) {
                let step = sums[index + 2 * averaged] - 2 * sums[index + averaged] + sums[index]
                square += step * step
            }
            let pairs = Double(values.count - 2 * averaged + 1)
            let variance = square / (2 * pairs * Double(averaged) * Double(averaged))
            let time = Double(averaged) * intervalSeconds
            points.append((time, variance.squareRoot()))
            if averaged >= Self.leastAveraged, variance > 0 {
                // The relative error of a variance is that of the number of independent averages.
                let weight = Double(values.count / averaged) / (variance * variance)
                let (a, b) = (1 / time, time / 3)
                aa += weight * a * a
                ab += weight * a * b
                bb += weight * b * b
                ay += weight * a * variance
                by += weight * b * variance
            }
            averaged *= 2
        }
        guard aa > 0, let last = points.last else { return }
        let determinant = aa * bb - ab * ab
        var white = determinant > 0 ? (ay * bb - by * ab) / determinant : ay / aa
        var walk = determinant > 0 ? (by * aa - ay * ab) / determinant : 0
        if walk < 0 { (white, walk) = (ay / aa, 0) }
        if white < 0 { (white, walk) = (0, by / bb) }
        if white > 0 { noiseDensity = (2 * white).squareRoot() }
        if walk * last.seconds / 3 > white / last.seconds { randomWalk = walk.squareRoot() }
        if let least = points.min(by: { $0.deviation < $1.deviation }) {
            instability = (least.deviation / 0.664, least.seconds)
        }
    }
}
