/// The conversion of raw axes to the samples' unit and axes: for each axis three factors and a constant.
///
/// An axis is `Float(((factor.x·x + factor.y·y) + factor.z·z) + constant)`, computed in `Double` in this order, so that
/// every instruction set gives the same bits.
package struct ScanConversion: Sendable, Equatable {
    /// The factors of raw x, y and z, and the constant, for x.
    package let x: SIMD4<Double>
    /// The same for y.
    package let y: SIMD4<Double>
    /// The same for z.
    package let z: SIMD4<Double>

    package init(x: SIMD4<Double>, y: SIMD4<Double>, z: SIMD4<Double>) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Converts the raw values of one sample.
    @inline(__always)
    package func apply(x rawX: Double, y rawY: Double, z rawZ: Double) -> (x: Float, y: Float, z: Float) {
        (Self.apply(x, rawX, rawY, rawZ), Self.apply(y, rawX, rawY, rawZ), Self.apply(z, rawX, rawY, rawZ))
    }

    @inline(__always)
    private static func apply(_ row: SIMD4<Double>, _ x: Double, _ y: Double, _ z: Double) -> Float {
        Float(row.x * x + row.y * y + row.z * z + row.w)
    }
}
