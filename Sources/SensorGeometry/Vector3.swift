/// Three components in the device's axes.
public typealias Vector3 = SIMD3<Double>

/// The acceleration of gravity by definition.
package enum Gravity {
    /// 1 g in m/s², exact (3rd CGPM, 1901).
    @inlinable package static var standard: Double { 9.80665 }
}

// Three components are added in a fixed order, so that every build gives the same bits.

/// The scalar product.
@inlinable
package func dot(_ a: Vector3, _ b: Vector3) -> Double {
    a.x * b.x + a.y * b.y + a.z * b.z
}

@inlinable
package func length(_ v: Vector3) -> Double {
    dot(v, v).squareRoot()
}

/// The vector product.
@inlinable
package func cross(_ a: Vector3, _ b: Vector3) -> Vector3 {
    Vector3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

extension Vector3 {
    /// The sum of the squares.
    package var squaredLength: Double { dot(self, self) }
    package var length: Double { squaredLength.squareRoot() }
    /// Whether all components are finite and the length can be computed.
    package var isFinite: Bool { squaredLength.isFinite }
}
