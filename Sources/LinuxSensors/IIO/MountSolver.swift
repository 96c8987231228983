import Glibc
import SensorGeometry

/// Finds an accelerometer's mount matrix and sign from rests in known poses.
///
/// With the means m of the poses as columns of M and their upward directions e as columns of E, T = E·Mᵀ·(M·Mᵀ)⁻¹ is the
/// least-squares solution of T·m = e. A negative determinant means that the sensor has the sign of gravity instead of specific
/// force, because no device is its own mirror image.
package struct MountSolver {
    /// A pose in which the user holds the device.
    package enum Pose: String, Sendable, CaseIterable {
        /// On a table with the screen up.
        case flat
        case leftDown
        case rightDown
        case topDown
        /// On its bottom edge, upright.
        case bottomDown

        /// The device's direction that points up: x to the right, y to the top, z out of the screen.
        var up: Vector3 {
            switch self {
            case .flat: [0, 0, 1]
            case .leftDown: [1, 0, 0]
            case .rightDown: [-1, 0, 0]
            case .topDown: [0, -1, 0]
            case .bottomDown: [0, 1, 0]
            }
        }
    }

    package struct Solution: Sendable, Equatable {
        /// The meaning of the accelerometer's sign.
        package let acceleration: SensorSettings.Acceleration
        /// The rotation from the sensor's axes to the device's, after the sign.
        package let matrix: MountMatrix
        /// The matrix for udev's hardware database, whose users expect the sign of gravity.
        package let hardwareDatabaseMatrix: MountMatrix
        /// The largest angle between the expected and the computed upward direction of a pose, in degrees.
        package let worstDegrees: Double
    }

    private var means: [(pose: Pose, mean: Vector3)] = []

    package init() {}

    /// Adds the mean of a rest, in m/s², with the device's sign and without a mount matrix.
    package mutating func add(_ pose: Pose, x: Double, y: Double, z: Double) {
        means.append((pose, Vector3(x, y, z)))
    }

    /// Solves; `nil` when the poses do not determine the axes.
    package func solve() -> Solution? {
        guard let found = Self.matrix(turning: means.map { ($0.mean, $0.pose.up) }) else { return nil }
        guard let whole = try? MountMatrix(found.elements) else { return nil }
        let sign: Double = whole.determinant < 0 ? -1 : 1
        guard let matrix = try? MountMatrix(found.elements.map { Self.tidy($0 * sign) }),
            let database = try? MountMatrix(found.elements.map { Self.tidy(-$0) })
        else { return nil }
        return Solution(
            acceleration: sign < 0 ? .gravity : .specificForce, matrix: matrix, hardwareDatabaseMatrix: database,
            worstDegrees: worstAngle(found))
    }

    /// The least-squares matrix that maps directions to others; `nil` when they do not determine the axes.
    static func matrix(turning directions: [(from: Vector3, to: Vector3)]) -> Matrix3? {
        var product = [Vector3](repeating: .zero, count: 3)
        var square = product
        for (from, to) in directions {
            guard from.length > 0 else { return nil }
            let unit = from / from.length
            for row in 0..<3 {
                product[row] += to[row] * unit
                square[row] += unit[row] * unit
            }
        }
        // Below the limit two axes are nearly the same.
        guard let inverse = Matrix3(rows: square).inverse(ifDeterminantAbove: 1e-3) else { return nil }
        return snapped(Matrix3(rows: product) * inverse)
    }

    /// The largest angle between the actual upward direction and the matrix's, in degrees.
    private func worstAngle(_ matrix: Matrix3) -> Double {
        means.map { pose, mean in
            let turned = matrix * mean
            let cosine = dot(turned, pose.up) / max(turned.length, 1e-9)
            return acos(min(max(cosine, -1), 1)) * 180 / .pi
        }.max() ?? 180
    }

    /// Replaces a matrix by the nearest one of swaps and signs if it is close: most sensors are mounted square.
    private static func snapped(_ matrix: Matrix3) -> Matrix3 {
        let square = matrix.map { abs($0) > 0.9 ? ($0 < 0 ? -1.0 : 1) : 0 }
        let rows = square.rows.map { row in (0..<3).count { row[$0] != 0 } }
        let columns = (0..<3).map { column in square.rows.count { $0[column] != 0 } }
        return rows == [1, 1, 1] && columns == [1, 1, 1] ? square : matrix
    }

    /// Rounds to three decimals, a tenth of a degree, and replaces −0 by 0.
    private static func tidy(_ value: Double) -> Double {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == 0 ? 0 : rounded
    }
}
