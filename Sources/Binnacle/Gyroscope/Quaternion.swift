import Glibc
public import SensorGeometry

/// A rotation as a unit quaternion, scalar first: `a * b` is first b, then a.
public struct Quaternion: Sendable, Equatable {
    /// The scalar part.
    public var w: Double
    /// The first component of the vector part.
    public var x: Double
    /// The second one.
    public var y: Double
    /// The third one.
    public var z: Double

    /// Creates a quaternion from its parts.
    @inlinable package init(w: Double, x: Double, y: Double, z: Double) {
        self.w = w
        self.x = x
        self.y = y
        self.z = z
    }

    /// The rotation that changes nothing.
    package static let identity = Quaternion(w: 1, x: 0, y: 0, z: 0)

    /// A turn about the vertical axis, counter-clockwise seen from above.
    package init(aboutVertical radians: Double) {
        self.init(w: cos(radians / 2), x: 0, y: 0, z: sin(radians / 2))
    }

    /// The rotation by a steady rate, in rad/s in the frame that turns.
    package init(rate: Vector3, seconds: Double) {
        let half = rate * (seconds / 2)
        let square = dot(half, half)
        let (cosine, share): (Double, Double)
        if square < 1e-3 {
            cosine = 1 - square / 2 + square * square / 24
            share = 1 - square / 6 + square * square / 120
        } else {
            let angle = square.squareRoot()
            (cosine, share) = (cos(angle), sin(angle) / angle)
        }
        self.init(w: cosine, x: half.x * share, y: half.y * share, z: half.z * share)
    }

    @usableFromInline var vector: Vector3 { Vector3(x, y, z) }

    /// The opposite rotation.
    @inlinable package var conjugate: Quaternion { Quaternion(w: w, x: -x, y: -y, z: -z) }

    /// The same rotation, with the length 1.
    @inlinable package var normalized: Quaternion {
        let scale = 1 / (w * w + x * x + y * y + z * z).squareRoot()
        return Quaternion(w: w * scale, x: x * scale, y: y * scale, z: z * scale)
    }

    /// The angle of the rotation in radians, from 0 to π.
    package var angle: Double { 2 * atan2(vector.length, abs(w)) }

    /// The axis of the rotation times its angle in radians; the shorter way.
    package var rotationVector: Vector3 {
        let length = vector.length
        guard length > 1e-12 else { return .zero }
        return vector * ((w < 0 ? -angle : angle) / length)
    }

    /// The vector after the rotation.
    @inlinable @inline(__always) package func rotate(_ v: Vector3) -> Vector3 {
        let twice = cross(vector, v) * 2
        return v + twice * w + cross(vector, twice)
    }

    /// The rows of the matrix of the rotation.
    @inlinable @inline(__always) package var matrix: Matrix3 {
        Matrix3(
            Vector3(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            Vector3(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            Vector3(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))
    }

    /// The rotation at a share of the way to another one that is not far away.
    func interpolated(to other: Quaternion, share: Double) -> Quaternion {
        let near = w * other.w + x * other.x + y * other.y + z * other.z
        let second = near < 0 ? -share : share
        let first = 1 - share
        return Quaternion(
            w: first * w + second * other.w, x: first * x + second * other.x, y: first * y + second * other.y,
            z: first * z + second * other.z
        ).normalized
    }

    @inlinable @inline(__always) package static func * (a: Quaternion, b: Quaternion) -> Quaternion {
        Quaternion(
            w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)
    }
}
