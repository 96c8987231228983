import SensorGeometry

/// Three rows of three, kept in place: nothing is allocated for a step of the fusion.
struct SquareMatrix: Sendable, Equatable {
    var x: Vector3
    var y: Vector3
    var z: Vector3

    init(_ x: Vector3, _ y: Vector3, _ z: Vector3) {
        self.x = x
        self.y = y
        self.z = z
    }

    init(diagonal: Vector3) {
        self.init(Vector3(diagonal.x, 0, 0), Vector3(0, diagonal.y, 0), Vector3(0, 0, diagonal.z))
    }

    static let zero = SquareMatrix(.zero, .zero, .zero)

    var diagonal: Vector3 { Vector3(x.x, y.y, z.z) }

    var transposed: SquareMatrix {
        SquareMatrix(Vector3(x.x, y.x, z.x), Vector3(x.y, y.y, z.y), Vector3(x.z, y.z, z.z))
    }

    /// The inverse of a symmetric matrix whose determinant is not 0.
    var symmetricInverse: SquareMatrix {
        let (a, b, c) = (cross(y, z), cross(z, x), cross(x, y))
        let scale = 1 / dot(x, a)
        // The columns of the inverse are these products; of a symmetric matrix they are its rows as well.
        return SquareMatrix(a * scale, b * scale, c * scale)
    }

    static func * (m: SquareMatrix, v: Vector3) -> Vector3 { Vector3(dot(m.x, v), dot(m.y, v), dot(m.z, v)) }

    static func * (a: SquareMatrix, b: SquareMatrix) -> SquareMatrix {
        func row(_ v: Vector3) -> Vector3 { b.x * v.x + b.y * v.y + b.z * v.z }
        return SquareMatrix(row(a.x), row(a.y), row(a.z))
    }

    static func + (a: SquareMatrix, b: SquareMatrix) -> SquareMatrix { SquareMatrix(a.x + b.x, a.y + b.y, a.z + b.z) }
    static func - (a: SquareMatrix, b: SquareMatrix) -> SquareMatrix { SquareMatrix(a.x - b.x, a.y - b.y, a.z - b.z) }
}
