/// Three components of a measured vector, in the device's axes.
public typealias Vector = SIMD3<Double>

extension Vector {
    /// The sum of the squares.
    var squaredLength: Double { (self * self).sum() }
    /// The length.
    var length: Double { squaredLength.squareRoot() }
    /// Whether all three are numbers, and the length can be computed.
    var isFinite: Bool { squaredLength.isFinite }
}
