/// A matrix of three rows.
public struct Matrix3: Sendable, Equatable {
    /// The rows, from the first on.
    public let rows: [Vector3]

    /// Takes three rows.
    ///
    /// - Precondition: There are three.
    public init(rows: [Vector3]) {
        precondition(rows.count == 3, "a matrix of three rows has three rows")
        self.rows = rows
    }

    /// Takes nine elements, row by row.
    ///
    /// - Precondition: There are nine.
    package init(elements: [Double]) {
        precondition(elements.count == 9, "a matrix of three rows has nine elements")
        rows = stride(from: 0, to: 9, by: 3).map { Vector3(elements[$0], elements[$0 + 1], elements[$0 + 2]) }
    }

    /// The matrix that changes nothing.
    package static let identity = Matrix3(rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    /// The nine elements, row by row.
    package var elements: [Double] { rows.flatMap { [$0.x, $0.y, $0.z] } }

    /// By how much it scales volumes; negative when it mirrors.
    package var determinant: Double { Self.determinant(rows[0], rows[1], rows[2]) }

    /// The product with a column.
    package static func * (matrix: Matrix3, vector: Vector3) -> Vector3 {
        Vector3(dot(matrix.rows[0], vector), dot(matrix.rows[1], vector), dot(matrix.rows[2], vector))
    }

    /// The product of two matrices.
    package static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        let columns = Matrix3(
            rows: (0..<3).map { Vector3(right.rows[0][$0], right.rows[1][$0], right.rows[2][$0]) })
        return Matrix3(rows: left.rows.map { columns * $0 })
    }

    /// The matrix with another value in place of each element.
    package func map(_ transform: (Double) -> Double) -> Matrix3 {
        Matrix3(elements: elements.map(transform))
    }

    /// The matrix that undoes this one; `nil` when its determinant is not above a limit.
    package func inverse(ifDeterminantAbove limit: Double) -> Matrix3? {
        let (a, b, c) = (rows[0], rows[1], rows[2])
        let determinant = determinant
        guard determinant > limit else { return nil }
        // The columns of the inverse are the products of two rows each.
        let (x, y, z) = (cross(b, c) / determinant, cross(c, a) / determinant, cross(a, b) / determinant)
        return Matrix3(rows: [[x.x, y.x, z.x], [x.y, y.y, z.y], [x.z, y.z, z.z]])
    }

    /// The column that the matrix makes a vector of; `nil` when there is none, or many.
    ///
    /// Cramer's rule: for three rows it is the shortest form, and well conditioned matrices are all there is here.
    package func solve(_ right: Vector3) -> Vector3? {
        let (a, b, c) = (rows[0], rows[1], rows[2])
        guard determinant.magnitude > 1e-9, determinant.isFinite else { return nil }
        func replaced(_ row: Vector3, _ place: Int, _ value: Double) -> Vector3 {
            var row = row
            row[place] = value
            return row
        }
        let solution = (0..<3).map { place in
            Self.determinant(
                replaced(a, place, right.x), replaced(b, place, right.y), replaced(c, place, right.z)) / determinant
        }
        return Vector3(solution[0], solution[1], solution[2])
    }

    private static func determinant(_ a: Vector3, _ b: Vector3, _ c: Vector3) -> Double {
        a.x * (b.y * c.z - b.z * c.y) - a.y * (b.x * c.z - b.z * c.x) + a.z * (b.x * c.y - b.y * c.x)
    }
}
