import Glibc

/// Finds out how an accelerometer sits in its device, and what its sign means, from rests in known poses.
///
/// With the means m of the poses as columns of M and the directions e that point up in them as columns of E, the matrix
/// T = E·Mᵀ·(M·Mᵀ)⁻¹ is the least-squares solution of T·m = e. A determinant below 0 is a sensor that reads the other
/// way round (gravity instead of specific force), for no device is its own mirror image.
public struct MountSolver {
    /// A pose in which a person can hold a device.
    public enum Pose: String, Sendable, CaseIterable {
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
        var up: [Double] {
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
    public struct Solution: Sendable, Equatable {
        /// What the accelerometer's sign means.
        public let acceleration: SensorSettings.Acceleration
        /// From the sensor's axes to the device's, after the sign; a turn.
        public let matrix: MountMatrix
        /// The matrix for udev's hardware database, whose users expect the sign of gravity.
        public let hardwareDatabaseMatrix: MountMatrix
        /// How badly the poses fit, as the largest angle between where up should be and where it is, in degrees.
        public let worstDegrees: Double
    }

    private var means: [(pose: Pose, mean: [Double])] = []

    /// Creates a solver that knows nothing yet.
    public init() {}

    /// Adds the mean of a rest, in m/s², without a mount matrix and with the sign as the device gives it.
    public mutating func add(_ pose: Pose, x: Double, y: Double, z: Double) {
        means.append((pose, [x, y, z]))
    }

    /// Solves; `nil` when the poses do not tell the axes apart.
    public func solve() -> Solution? {
        var product = [Double](repeating: 0, count: 9)
        var square = [Double](repeating: 0, count: 9)
        for (pose, mean) in means {
            let length = Self.length(mean)
            guard length > 0 else { return nil }
            let unit = mean.map { $0 / length }
            for row in 0..<3 {
                for column in 0..<3 {
                    product[row * 3 + column] += pose.up[row] * unit[column]
                    square[row * 3 + column] += unit[row] * unit[column]
                }
            }
        }
        guard let inverse = Self.inverse(square) else { return nil }
        let found = Self.snapped(Self.multiply(product, inverse))
        guard let whole = try? MountMatrix(found) else { return nil }
        let sign: Double = whole.determinant < 0 ? -1 : 1
        guard let matrix = try? MountMatrix(found.map { Self.tidy($0 * sign) }),
            let database = try? MountMatrix(found.map { Self.tidy(-$0) })
        else { return nil }
        return Solution(
            acceleration: sign < 0 ? .gravity : .specificForce, matrix: matrix, hardwareDatabaseMatrix: database,
            worstDegrees: worstAngle(found))
    }

    /// The largest angle between up as it is and up as the matrix has it, in degrees.
    private func worstAngle(_ matrix: [Double]) -> Double {
        means.map { pose, mean in
            let turned = (0..<3).map { row in (0..<3).reduce(0) { $0 + matrix[row * 3 + $1] * mean[$1] } }
            let cosine = zip(turned, pose.up).reduce(0) { $0 + $1.0 * $1.1 } / max(Self.length(turned), 1e-9)
            return acos(min(max(cosine, -1), 1)) * 180 / .pi
        }.max() ?? 180
    }

    /// Most sensors sit square: a matrix that is nearly one of swaps and signs becomes it.
    private static func snapped(_ matrix: [Double]) -> [Double] {
        let square = matrix.map { abs($0) > 0.9 ? ($0 < 0 ? -1.0 : 1) : 0 }
        let rows = (0..<3).map { row in (0..<3).count { square[row * 3 + $0] != 0 } }
        let columns = (0..<3).map { column in (0..<3).count { square[$0 * 3 + column] != 0 } }
        return rows == [1, 1, 1] && columns == [1, 1, 1] ? square : matrix
    }

    /// Three decimals are a tenth of a degree; and there is no −0.
    private static func tidy(_ value: Double) -> Double {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == 0 ? 0 : rounded
    }

    private static func length(_ vector: [Double]) -> Double {
        vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
    }

    private static func multiply(_ a: [Double], _ b: [Double]) -> [Double] {
        var product = [Double](repeating: 0, count: 9)
        for row in 0..<3 {
            for column in 0..<3 {
                for index in 0..<3 { product[row * 3 + column] += a[row * 3 + index] * b[index * 3 + column] }
            }
        }
        return product
    }

    /// The inverse by cofactors; `nil` when two axes look alike.
    private static func inverse(_ m: [Double]) -> [Double]? {
        /// The determinant of the two by two elements at four places.
        func minor(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Double { m[a] * m[d] - m[b] * m[c] }
        let cofactors: [Double] = [
            minor(4, 5, 7, 8), minor(2, 1, 8, 7), minor(1, 2, 4, 5),
            minor(5, 3, 8, 6), minor(0, 2, 6, 8), minor(2, 0, 5, 3),
            minor(3, 4, 6, 7), minor(1, 0, 7, 6), minor(0, 1, 3, 4),
        ]
        let determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6]
        guard determinant > 1e-3 else { return nil }
        return cofactors.map { $0 / determinant }
    }
}
