import Glibc
import SensorGeometry

/// Up to eight numbers with their covariance, which linear measurements correct one after the other: the update of a Kalman filter.
struct LinearEstimate {
    var state = SIMD8<Double>.zero
    /// Symmetric; each element is a row.
    var covariance = InlineArray<8, SIMD8<Double>>(repeating: .zero)

    /// The product of the covariance and a column.
    func spread(of column: SIMD8<Double>) -> SIMD8<Double> {
        var product = SIMD8<Double>.zero
        // It is symmetric, so its rows are its columns.
        for index in 0..<8 { product += covariance[index] * column[index] }
        return product
    }

    /// Corrects the state by a measurement.
    ///
    /// - Parameters:
    ///   - row: What the measurement is of the state.
    ///   - residual: The measurement minus what the state says.
    ///   - variance: That of the measurement's error.
    mutating func correct(_ row: SIMD8<Double>, residual: Double, variance: Double) {
        let spread = spread(of: row)
        let gain = spread / ((row * spread).sum() + variance)
        state += gain * residual
        for index in 0..<8 { covariance[index] -= spread * gain[index] }
    }
}

extension LinearEstimate {
    /// The numbers 3 to 5: what turns with the device, in the models of the field and of gravity.
    var offset: Vector3 { Vector3(state[3], state[4], state[5]) }

    var offsetCovariance: Matrix3 {
        let (x, y, z) = (covariance[3], covariance[4], covariance[5])
        return Matrix3(Vector3(x[3], x[4], x[5]), Vector3(y[3], y[4], y[5]), Vector3(z[3], z[4], z[5]))
    }

    /// The probability that there is an offset at all, where most sensors have none that counts: by Bayes' rule, as of a
    /// ``ScaleChoice``.
    ///
    /// - Parameters:
    ///   - sigma: The standard deviation of the offsets that there are, on each axis.
    ///   - variance: What the covariance does not contain.
    /// - Returns: From 0 to 1.
    @inline(__always)  // A call would copy the estimate.
    func offsetProbability(sigma: Double, besides variance: Double = 0) -> Double {
        let covariance = offsetCovariance + Matrix3(diagonal: Vector3(repeating: variance))
        let odds =
            Self.priorOdds * covariance.determinant.squareRoot() / (sigma * sigma * sigma)
            * exp(min(dot(offset, covariance.symmetricInverse * offset) / 2, 50))
        return odds / (1 + odds)
    }

    private static let priorOdds = 0.01
}
