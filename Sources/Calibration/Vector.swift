/// Three components of a measured vector, in the sensor's axes.
public typealias Vector = SIMD3<Double>

extension Vector {
    /// The sum of the squares.
    var squaredLength: Double { (self * self).sum() }
    /// The length.
    var length: Double { squaredLength.squareRoot() }
}

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

    /// The product with a column.
    public static func * (matrix: Matrix3, vector: Vector) -> Vector {
        Vector((matrix.rows[0] * vector).sum(), (matrix.rows[1] * vector).sum(), (matrix.rows[2] * vector).sum())
    }
}
