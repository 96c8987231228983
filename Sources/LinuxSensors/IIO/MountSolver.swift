import Glibc
import SensorGeometry

/// Finds the mount matrix of an accelerometer, and the meaning of its sign, from rests in known poses.
///
/// With the means m of the poses as columns of M and the directions e that point up in them as columns of E, the matrix
/// T = E·Mᵀ·(M·Mᵀ)⁻¹ is the least-squares solution of T·m = e. A determinant below 0 is a sensor that reads the other
/// way round (gravity instead of specific force), for no device is its own mirror image.
package struct MountSolver {
    /// A pose in which a person can hold a device.
    package enum Pose: String, Sendable, CaseIterable {
        /// On a table, the screen up.
        case flat
        /// On its left edge.
        case leftDown
        /// On its right edge.
        case rightDown
        /// On its top edge.
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

    /// What was found.
    package struct Solution: Sendable, Equatable {
        /// What the accelerometer's sign means.
        package let acceleration: SensorSettings.Acceleration
        /// From the sensor's axes to the device's, after the sign; a turn.
        package let matrix: MountMatrix
        /// The matrix for udev's hardware database, whose users expect the sign of gravity.
        package let hardwareDatabaseMatrix: MountMatrix
        /// The residual of the poses, as the largest angle between where up should be and where it is, in degrees.
        package let worstDegrees: Double
    }

    private var means: [(pose: Pose, mean: Vector3)] = []

    /// Creates a solver without poses.
    package init() {}

    /// Adds the mean of a rest, in m/s², without a mount matrix and with the sign as the device gives it.
    package mutating func add(_ pose: Pose, x: Double, y: Double, z: Double) {
        means.append((pose, Vector3(x, y, z)))
    }

    /// Solves; `nil` when the poses do not tell the axes apart.
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

    /// The matrix that turns directions into others, by least squares; `nil` when they do not tell the axes apart.
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
        // Below the limit two axes look alike.
        guard let inverse = Matrix3(rows: square).inverse(ifDeterminantAbove: 1e-3) else { return nil }
        return snapped(Matrix3(rows: product) * inverse)
    }

    /// The largest angle between up as it is and up as the matrix has it, in degrees.
    private func worstAngle(_ matrix: Matrix3) -> Double {
        means.map { pose, mean in
            let turned = matrix * mean
            let cosine = dot(turned, pose.up) / max(turned.length, 1e-9)
            return acos(min(max(cosine, -1), 1)) * 180 / .pi
        }.max() ?? 180
    }

    /// Most sensors are mounted square: a matrix close to one of swaps and signs is replaced by that one.
    private static func snapped(_ matrix: Matrix3) -> Matrix3 {
        let square = matrix.map { abs($0) > 0.9 ? ($0 < 0 ? -1.0 : 1) : 0 }
        let rows = square.rows.map { row in (0..<3).count { row[$0] != 0 } }
        let columns = (0..<3).map { column in square.rows.count { $0[column] != 0 } }
        return rows == [1, 1, 1] && columns == [1, 1, 1] ? square : matrix
    }

    /// Rounds to three decimals, which are a tenth of a degree, and turns −0 into 0.
    private static func tidy(_ value: Double) -> Double {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == 0 ? 0 : rounded
    }
}
