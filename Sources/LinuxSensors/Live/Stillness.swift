import Binnacle
import SensorGeometry

/// Whether a device has stayed where it is, and for how long, by its samples.
struct Stillness {
    private let limitSquared: Float
    /// Where the device is, and since when it has been there.
    private(set) var reference: SIMD3<Float>?
    private var sinceNanoseconds: Int64 = 0
    private var lastNanoseconds: Int64?

    /// After a longer time without samples nothing is known of the time before.
    private static let gapNanoseconds: Int64 = 1_000_000_000

    /// `limitG` is the distance in g up to which the device counts as being where it was.
    init(limitG: Double) {
        let limit = Float(limitG * Gravity.standard)
        limitSquared = limit * limit
    }

    /// How long the device has not moved at the last sample.
    var nanoseconds: Int64 { lastNanoseconds.map { $0 - sinceNanoseconds } ?? 0 }

    /// Looks at samples; returns whether one of them is elsewhere than those before.
    mutating func follow(_ columns: SampleColumns) -> Bool {
        var hasMoved = false
        for index in 0..<columns.count {
            let time = columns.times[index]
            let isGap = lastNanoseconds.map { time - $0 > Self.gapNanoseconds } ?? true
            lastNanoseconds = time
            if let distance = squaredDistance(columns.vector(index)) {
                // False for a NaN.
                let isThere = distance <= limitSquared
                if isThere, !isGap { continue }
                if !isThere { hasMoved = true }
            }
            reference = columns.vector(index)
            sinceNanoseconds = time
        }
        return hasMoved
    }

    /// Counts from the next sample; where the device was is still known.
    mutating func interrupt() { lastNanoseconds = nil }

    /// The square of the distance of an acceleration from where the device is, in (m/s²)²; `nil` before the first sample.
    func squaredDistance(_ vector: SIMD3<Float>) -> Float? { reference.map { (($0 - vector) * ($0 - vector)).sum() } }
}
