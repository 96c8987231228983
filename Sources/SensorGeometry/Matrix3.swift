/// A 3 × 3 matrix, stored inline so that a step of the fusion allocates nothing.
public struct Matrix3: Sendable, Equatable {
    @usableFromInline package var x: Vector3
    @usableFromInline package var y: Vector3
    @usableFromInline package var z: Vector3

    @inlinable
    package init(_ x: Vector3, _ y: Vector3, _ z: Vector3) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Creates a matrix from three rows.
    ///
    /// - Precondition: There are three.
    public init(rows: [Vector3]) {
        precondition(rows.count == 3, "a matrix of three rows has three rows")
        self.init(rows[0], rows[1], rows[2])
    }

    /// Creates a matrix from nine elements, row by row.
    ///
    /// - Precondition: There are nine.
    package init(elements: [Double]) {
        precondition(elements.count == 9, "a matrix of three rows has nine elements")
        self.init(rows: stride(from: 0, to: 9, by: 3).map { Vector3(elements[$0], elements[$0 + 1], elements[$0 + 2]) })
    }

    @inlinable
    package init(diagonal: Vector3) {
        self.init(Vector3(diagonal.x, 0, 0), Vector3(0, diagonal.y, 0), Vector3(0, 0, diagonal.z))
    }

    package static let identity = Matrix3(diagonal: Vector3(repeating: 1))

    /// The rows, from the first on.
    public var rows: [Vector3] { [x, y, z] }

    package var elements: [Double] { rows.flatMap { [$0.x, $0.y, $0.z] } }

    @inlinable package var diagonal: Vector3 { Vector3(x.x, y.y, z.z) }

    /// Rows as columns.
    @inlinable package var transposed: Matrix3 {
        Matrix3(Vector3(x.x, y.x, z.x), Vector3(x.y, y.y, z.y), Vector3(x.z, y.z, z.z))
    }

    /// The factor by which it scales volumes; negative when it mirrors.
    package var determinant: Double {
        x.x * (y.y * z.z - y.z * z.y) - x.y * (y.x * z.z - y.z * z.x) + x.z * (y.x * z.y - y.y * z.x)
    }

    /// The product with a column.
    @inlinable
    package static func * (matrix: Matrix3, vector: Vector3) -> Vector3 {
        Vector3(dot(matrix.x, vector), dot(matrix.y, vector), dot(matrix.z, vector))
    }

    @inlinable
    package static func * (left: Matrix3, right: Matrix3) -> Matrix3 {
        @inline(__always) func row(_ v: Vector3) -> Vector3 { right.x * v.x + right.y * v.y + right.z * v.z }
        return Matrix3(row(left.x), row(left.y), row(left.z))
    }

    @inlinable
    package static func + (left: Matrix3, right: Matrix3) -> Matrix3 {
        Matrix3(left.x + right.x, left.y + right.y, left.z + right.z)
    }

    @inlinable
    package static func - (left: Matrix3, right: Matrix3) -> Matrix3 {
        Matrix3(left.x - right.x, left.y - right.y, left.z - right.z)
    }

    /// The matrix with each element replaced by a function of it.
    package func map(_ transform: (Double) -> Double) -> Matrix3 {
        Matrix3(elements: elements.map(transform))
    }

    /// The inverse; `nil` when the determinant is not above a limit.
    package func inverse(ifDeterminantAbove limit: Double) -> Matrix3? {
        let determinant = determinant
        guard determinant > limit else { return nil }
        // The columns of the inverse are the products of two rows each.
        return Matrix3(cross(y, z) / determinant, cross(z, x) / determinant, cross(x, y) / determinant).transposed
    }

    /// The inverse of a symmetric matrix whose determinant is not 0.
    @inlinable package var symmetricInverse: Matrix3 {
        let first = cross(y, z)
        let scale = 1 / dot(x, first)
        // The columns of the inverse are these products; those of a symmetric matrix are also its rows.
        return Matrix3(first * scale, cross(z, x) * scale, cross(x, y) * scale)
    }

    /// The solution x of matrix · x = `right`; `nil` when there is none, or more than one.
    ///
    /// Cramer's rule, which is shortest for three rows; all matrices here are well conditioned.
    package func solve(_ right: Vector3) -> Vector3? {
        let determinant = determinant
        guard determinant.magnitude > 1e-9, determinant.isFinite else { return nil }
        var solution = Vector3.zero
        for place in 0..<3 {
            var replaced = self
            replaced.x[place] = right.x
            replaced.y[place] = right.y
            replaced.z[place] = right.z
            solution[place] = replaced.determinant / determinant
        }
        return solution
    }
}
