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
