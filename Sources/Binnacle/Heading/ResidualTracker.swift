import Kernels

/// What smoothing takes away from a sensor's samples: their noise, and how far the smoothed vector lags behind a turn.
struct ResidualTracker {
    /// The mean of what was taken away of late: the lag; noise cancels itself in it.
    private(set) var lag = SIMD3<Float>.zero
    private var meanSquare: Float = 0
    private var meanStepSeconds: Float = 0
    private let timeConstantSeconds: Float

    /// Over how long the noise is averaged.
    private static let noiseSeconds: Float = 1

    init(timeConstantSeconds: Float) {
        self.timeConstantSeconds = timeConstantSeconds
    }

    /// Takes a sample and what the filter made of it.
    mutating func take(_ sample: SIMD3<Float>, smoothed: SIMD3<Float>, stepSeconds: Float) {
        let residual = sample - smoothed
        let square = squaredLength(residual)
        // A repeated stamp says nothing, and what is not finite would never leave again.
        guard stepSeconds > 0, square < .infinity else { return }
        let share = stepSeconds / (Self.noiseSeconds + stepSeconds)
        meanSquare += (square / 3 - meanSquare) * share
        meanStepSeconds += (stepSeconds - meanStepSeconds) * share
        lag += (residual - lag) * (stepSeconds / (timeConstantSeconds + stepSeconds))
    }

    /// The standard deviation of one axis of the smoothed vector.
    ///
    /// White noise of standard deviation σ leaves a one-pole filter as σ·√(dt/(2τ + dt)).
    var smoothedNoise: Double {
        let step = Double(meanStepSeconds)
        guard step > 0 else { return 0 }
        return (Double(meanSquare) * step / (2 * Double(timeConstantSeconds) + step)).squareRoot()
    }

    mutating func reset() {
        self = ResidualTracker(timeConstantSeconds: timeConstantSeconds)
    }
}
