/// A matrix of three rows.
public struct Matrix3: Sendable, Equatable {
    /// The rows, from the first on.
    public let rows: [Vector]

    /// Takes three rows.
    ///
    /// - Precondition: There are three.
    public init(rows: [Vector]) {
        precondition(rows.count == 3, "a matrix of three rows has three rows")
        self.rows = rows
    }

    /// The matrix that changes nothing.
    public static let identity = Matrix3(rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    /// By how much it scales volumes; negative when it mirrors.
    public var determinant: Double { Self.determinant(rows[0], rows[1], rows[2]) }

    /// The product with a column.
    public static func * (matrix: Matrix3, vector: Vector) -> Vector {
        Vector((matrix.rows[0] * vector).sum(), (matrix.rows[1] * vector).sum(), (matrix.rows[2] * vector).sum())
    }

    /// The column that the matrix makes a vector of; `nil` when there is none, or many.
    ///
    /// Cramer's rule: for three rows it is the shortest form, and well conditioned matrices are all there is here.
    func solve(_ right: Vector) -> Vector? {
        let (a, b, c) = (rows[0], rows[1], rows[2])
        guard determinant.magnitude > 1e-9, determinant.isFinite else { return nil }
        func replaced(_ row: Vector, _ place: Int, _ value: Double) -> Vector {
            var row = row
            row[place] = value
            return row
        }
        let solution = (0..<3).map { place in
            Self.determinant(
                replaced(a, place, right.x), replaced(b, place, right.y), replaced(c, place, right.z)) / determinant
        }
        return Vector(solution[0], solution[1], solution[2])
    }

    private static func determinant(_ a: Vector, _ b: Vector, _ c: Vector) -> Double {
        a.x * (b.y * c.z - b.z * c.y) - a.y * (b.x * c.z - b.z * c.x) + a.z * (b.x * c.y - b.y * c.x)
    }
}
