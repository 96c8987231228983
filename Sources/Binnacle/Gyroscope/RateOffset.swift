package import SensorGeometry

/// Estimates the gyroscope's offset with a Kalman filter: at rest from the rate itself, in motion from the corrections that the
/// inclination needs, and from a magnetometer.
package struct RateOffset {
    /// The offset in rad/s.
    package private(set) var value: Vector3
    /// Its covariance in (0.01°/s)², which keeps the numbers near 1.
    private(set) var covariance: Matrix3

    private let largest: Double
    private let largestInnovation: Double
    private let startVariance: Double
    private let forgettingSeconds: Double
    private let restVariance: Double
    private let motionVariance: Double
    private let verticalForgetting: Double

    init(_ settings: FusionSettings, memory: FusionMemory?) {
        func variance(_ sigma: Double) -> Double { (100 * sigma) * (100 * sigma) }
        largest = settings.largestOffset * .pi / 180
        largestInnovation = settings.largestMotionInnovation * .pi / 180
        startVariance = variance(settings.startSigma)
        forgettingSeconds = settings.forgettingSeconds
        restVariance = variance(settings.restSigma)
        motionVariance = variance(settings.motionSigma)
        verticalForgetting = settings.verticalForgetting
        value = memory?.offset ?? .zero
        let sigma = memory?.sigmaDegrees ?? Vector3(repeating: settings.startSigma)
        covariance = Matrix3(diagonal: sigma * sigma * 10_000)
    }

    /// The standard deviation along a unit vector, in °/s.
    func sigmaDegrees(along direction: Vector3) -> Double {
        0.01 * max(dot(direction, covariance * direction), 0).squareRoot()
    }

    /// The mean variance of the three axes, in (°/s)².
    var meanVariance: Double { covariance.diagonal.sum() / 3 * 1e-4 }

    /// Whether all three axes are known better than a standard deviation in °/s.
    func isKnown(within sigma: Double) -> Bool { covariance.diagonal.max() < 1e4 * sigma * sigma }

    /// Increases the uncertainty by the growth in a time.
    mutating func age(_ seconds: Double) {
        let growth = seconds * 100 / forgettingSeconds
        if covariance.x.x < startVariance { covariance.x.x += growth }
        if covariance.y.y < startVariance { covariance.y.y += growth }
        if covariance.z.z < startVariance { covariance.z.z += growth }
    }

    /// Learns from the mean rate at rest.
    mutating func learn(atRest rate: Vector3, seconds: Double) {
        let weight = weight(restVariance, seconds)
        let gain =
            covariance
            * (covariance + Matrix3(diagonal: Vector3(repeating: weight))).symmetricInverse
        value = (value + gain * (rate - value).clipped(to: largest)).clipped(to: largest)
        covariance = covariance - gain * covariance
    }

    /// Takes the mean rate at rest as it is.
    mutating func jump(to rate: Vector3) {
        value = rate.clipped(to: largest)
    }

    /// Learns from what the inclination had to be corrected by.
    ///
    /// - Parameters:
    ///   - innovation: The rates, in the level frame, that are not explained yet.
    ///   - frame: The rotation to the level frame, smoothed as they are.
    ///   - seconds: The time since the last sample.
    mutating func learn(inMotion innovation: Vector3, frame: Matrix3, seconds: Double) {
        let weight = weight(motionVariance, seconds)
        let spread = covariance * frame.transposed
        let all =
            frame * spread
            + Matrix3(diagonal: Vector3(weight, weight, weight / verticalForgetting))
        let gain = spread * all.symmetricInverse
        value = (value + gain * innovation.clipped(to: largestInnovation)).clipped(to: largest)
        // H·P is the transpose of P·Hᵀ.
        covariance = covariance - gain * spread.transposed
    }

    /// Learns a part of the offset.
    ///
    /// - Parameters:
    ///   - rate: That part, in rad/s.
    ///   - direction: Its direction in the device's frame; a mean of several may be shorter than 1.
    ///   - sigma: Its standard deviation, in rad/s.
    ///   - isNew: Whether the offset was never seen at rest: then the covariance may be far too small.
    mutating func learn(_ rate: Double, along direction: Vector3, sigma: Double, isNew: Bool) {
        let innovation = min(max(rate - dot(direction, value), -largestInnovation), largestInnovation)
        let unit = 18_000 / Double.pi
        let variance = sigma * sigma * unit * unit
        let excess = innovation * innovation * unit * unit - 4 * (dot(direction, covariance * direction) + variance)
        if isNew, excess > 0 {
            covariance =
                covariance
                + Matrix3(
                    excess * direction.x * direction, excess * direction.y * direction, excess * direction.z * direction
                )
        }
        let spread = covariance * direction
        let gain = spread * (1 / (dot(direction, spread) + variance))
        value = (value + gain * innovation).clipped(to: largest)
        covariance = covariance - Matrix3(spread * gain.x, spread * gain.y, spread * gain.z)
    }

    /// The variance of a measurement with which the filter's own settles at a value.
    private func weight(_ settled: Double, _ seconds: Double) -> Double {
        settled * settled * forgettingSeconds / (100 * seconds) + settled
    }
}

extension Vector3 {
    fileprivate func clipped(to limit: Double) -> Vector3 {
        func clip(_ part: Double) -> Double { part > limit ? limit : part < -limit ? -limit : part }
        return Vector3(clip(x), clip(y), clip(z))
    }
}
