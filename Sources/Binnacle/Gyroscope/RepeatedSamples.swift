import SensorGeometry

/// Finds that a gyroscope or an accelerometer repeats its last sample and measures nothing, by what the other one shows meanwhile.
///
/// The noise of a sensor that works changes the last bits of its samples. A coarse one may repeat them at rest, and in a turn for as long as
/// that changes the acceleration by less than its steps.
package struct RepeatedSamples {
    /// Whether the gyroscope repeats a rate with which the acceleration does not turn; until the rate changes.
    package private(set) var isRateFrozen = false
    /// Whether the accelerometer repeats a sample while the device turns; until it changes.
    package private(set) var isAccelerationFrozen = false

    private var rate = Vector3.zero
    private var rateSeconds = 0.0
    /// An acceleration since which the rate has repeated, the rotation then, and for how long later ones contradict.
    private var witness: (acceleration: Vector3, rotation: Quaternion, seconds: Double)?

    /// The last acceleration that differed from the one before, and the rotation then or at the end of the last slow stretch.
    private var acceleration = (value: Vector3.zero, rotation: Quaternion.identity)
    /// The smallest change of an axis so far, in m/s²: the sensor's step.
    private var step = Double.infinity

    /// In rad/s, 10°/s: a slower turn may be the offset of a gyroscope.
    private static let leastRate = 10 * Double.pi / 180
    /// In m/s², 0.05 g, 3° of a turn.
    private static let leastChange = 0.05 * Gravity.standard
    /// No sensor is read so much more often than it measures; in seconds.
    private static let repeatingSeconds = 0.5
    /// How long the acceleration has to contradict a rate, in seconds, and from which angle on: the cosine of 10°.
    private static let (contradictingSeconds, contradictingCosine) = (0.2, 0.985)
    /// In m/s²: a larger difference from gravity's length is an acceleration, which may have any direction.
    private static let largestExcess = 0.5

    init() {}

    /// Takes a rate, in rad/s without the offset, and the time since the last one.
    ///
    /// - Returns: Whether it counts.
    @inline(__always)  // Called for each sample.
    mutating func takes(rate sample: Vector3, turning: Double, seconds: Double) -> Bool {
        guard sample == rate else {
            (rate, rateSeconds, witness, isRateFrozen) = (sample, 0, nil, false)
            return true
        }
        rateSeconds += seconds
        if turning < Self.leastRate { witness = nil }
        return !isRateFrozen
    }

    /// Takes an acceleration in m/s², the rotation from the device's frame to one that does not turn, and the rate in rad/s.
    ///
    /// - Returns: Whether it counts.
    @inline(__always)  // Called for each sample.
    mutating func takes(acceleration sample: Vector3, rotation: Quaternion, turning: Double, seconds: Double) -> Bool {
        if rateSeconds >= Self.repeatingSeconds, turning >= Self.leastRate { compare(sample, rotation, seconds) }
        guard sample == acceleration.value else {
            for axis in 0..<3 {
                let change = abs(sample[axis] - acceleration.value[axis])
                if change > 0 { step = min(step, change) }
            }
            (acceleration, isAccelerationFrozen) = ((sample, rotation), false)
            return true
        }
        if isAccelerationFrozen { return false }
        guard turning >= Self.leastRate else {
            acceleration.rotation = rotation
            return true
        }
        let expected = (rotation.conjugate * acceleration.rotation).rotate(sample)
        isAccelerationFrozen = length(expected - sample) > max(Self.leastChange, 2 * step)
        return !isAccelerationFrozen
    }

    private mutating func compare(_ sample: Vector3, _ rotation: Quaternion, _ seconds: Double) {
        let size = length(sample)
        guard abs(size - Gravity.standard) < Self.largestExcess else { return }
        guard let before = witness else {
            witness = (sample, rotation, 0)
            return
        }
        let expected = (rotation.conjugate * before.rotation).rotate(before.acceleration)
        let cosine = dot(expected, sample) / (length(before.acceleration) * size)
        let contradicting = cosine < Self.contradictingCosine ? before.seconds + seconds : 0
        witness?.seconds = contradicting
        isRateFrozen = contradicting >= Self.contradictingSeconds
    }

    /// Begins again, because the frame that does not turn is another one.
    mutating func interrupt() {
        (witness, rateSeconds) = (nil, 0)
        acceleration = (Vector3(.nan, .nan, .nan), .identity)
        isAccelerationFrozen = false
    }
}
