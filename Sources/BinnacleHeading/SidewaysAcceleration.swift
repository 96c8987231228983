import SensorGeometry

/// Estimates a lasting acceleration across gravity, as in a curve, from what it adds to the length of the acceleration.
///
/// An acceleration a across gravity lengthens the measured one to √(1 + a²) g. A length alone proves nothing, because an
/// accelerometer's errors change it with the attitude. So an acceleration begins when the length grows and a tilt of the
/// same size is seen at that time: up moves eastward, or the dip departs. It lasts until the length is again what it was
/// before, or the device has been turned over.
struct SidewaysAcceleration {
    /// What a sample shows.
    struct Sample {
        /// Up as measured, in the device's frame; a unit vector.
        let up: SIMD3<Double>
        /// The mean length of the acceleration minus 1 g, in g.
        let meanLengthExcess: Double
        /// By how much up has moved eastward without the field, in radians.
        let tilt: Double
        /// The sine of the difference between the dip and the dip at rest.
        let dipDeparture: Double
        /// Whether the length is too short, because it is the one of a mean of several directions: a lower bound, from which
        /// nothing is learned.
        let isSpread: Bool
    }

    /// Up's error towards east or west squared, in radians: what the length tells beyond the dip's share.
    private(set) var tiltSquare = 0.0
    /// The mean length of the acceleration minus the length at rest, in g.
    private(set) var lengthExcess = 0.0
    var lasts: Bool { upAtBegin != nil }

    /// The mean length minus 1 g at rest, in g.
    private var rest: Double?
    private var restWeight = RunningWeight(timeConstantSeconds: risingSeconds)
    /// Where up was when the acceleration began.
    private var upAtBegin: SIMD3<Double>?

    /// The length that 0.08 g across gravity adds, in g.
    private static let leastExcess = 0.003
    /// The share of the least excess below which it is over.
    private static let exitShare = 0.5
    /// The share of the excess that the tilt seen has to explain; what is seen of a tilt decays.
    private static let seenShare = 0.15
    /// The cosine of the greatest turn of up, 20°, within which the accelerometer's errors count as unchanged.
    private static let turnedCosine = 0.94
    // The length at rest is learned in so many seconds where it rises, and faster where it falls: an acceleration across
    // gravity only adds to it.
    private static let risingSeconds = 30.0
    private static let fallingSeconds = 2.0
    // A wrong length at rest is to be forgotten, too.
    private static let lastingSeconds = 120.0

    /// Takes a sample in calm motion, and the time since the previous one.
    mutating func update(_ sample: Sample, seconds: Double) {
        guard let rest else {
            rest = sample.meanLengthExcess
            return
        }
        lengthExcess = sample.meanLengthExcess - rest
        let dipSquare = sample.dipDeparture * sample.dipDeparture
        if !sample.isSpread { decide(sample, dipSquare) }
        tiltSquare = lasts ? max(0, 2 * lengthExcess - dipSquare) : 0
        guard !sample.isSpread else { return }
        let rising = restWeight.update(seconds)
        let share = lengthExcess < 0 ? seconds / Self.fallingSeconds : lasts ? seconds / Self.lastingSeconds : rising
        self.rest = rest + lengthExcess * min(share, 1)
    }

    private mutating func decide(_ sample: Sample, _ dipSquare: Double) {
        if let begin = upAtBegin {
            let isOver = lengthExcess < Self.exitShare * Self.leastExcess
            if isOver || dot(begin, sample.up) < Self.turnedCosine { upAtBegin = nil }
        } else if lengthExcess > Self.leastExcess {
            let seen = (sample.tilt * sample.tilt + dipSquare) / 2
            if seen > Self.seenShare * lengthExcess { upAtBegin = sample.up }
        }
    }

    /// Takes a sample in rough motion, in which the length tells nothing.
    mutating func updateRough() {
        upAtBegin = nil
        tiltSquare = 0
        lengthExcess = 0
    }
}
