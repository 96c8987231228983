public import SensorGeometry

/// What makes an accelerometer's reading the specific force: force = matrix · (measured − offset).
public struct AccelerometerFit: Sendable, Equatable {
    /// What is read too much, in m/s².
    public let offset: Vector3
    /// Scale and misalignment.
    public let matrix: Matrix3
    /// The root mean square of what is left between the calibrated readings and 1 g straight up, in m/s².
    public let fitError: Double

    /// A greater fit error is refused: some positions were held 3° off, or more.
    package static let greatestError = 0.5

    /// A measured specific force, calibrated, in m/s².
    package func apply(_ measured: Vector3) -> Vector3 {
        matrix * (measured - offset)
    }

    /// Fits twelve parameters, a matrix and an offset, to what was read with each side up.
    ///
    /// Linear least squares of force = M·measured + c, a row of four for each axis; source: STMicroelectronics AN3192,
    /// "Using LSM303DLH for a tilt compensated electronic compass", calibration of the accelerometer.
    ///
    /// - Parameter rests: In m/s², the mean of each position.
    /// - Returns: What makes 1 g straight up of each, as well as twelve parameters can.
    /// - Throws: When the result should not be used, an error that says why, and what to do about it.
    public static func sixPositions(_ rests: [Face: Vector3]) throws -> AccelerometerFit { try fit(rests) }

    package static func fit(_ rests: [Face: Vector3]) throws(AccelerometerRefusal) -> AccelerometerFit {
        let missing = Face.allCases.filter { rests[$0] == nil }
        guard missing.isEmpty else { throw .missing(missing, moving: []) }
        let positions = Face.allCases.compactMap { face in
            rests[face].map { (up: face.axis * Gravity.standard, read: $0) }
        }
        var normal = SymmetricMatrix(size: 4)
        var rights = [[Double]](repeating: [0, 0, 0, 0], count: 3)
        for (up, read) in positions {
            guard read.isFinite, read.length < 1e6 else { throw .fit(.infinity) }
            let row = [read.x, read.y, read.z, 1]
            normal.add(row)
            for axis in 0..<3 {
                for place in 0..<4 { rights[axis][place] += row[place] * up[axis] }
            }
        }
        var rows: [Vector3] = []
        var constant = Vector3.zero
        for axis in 0..<3 {
            guard let found = normal.solve(rights[axis]) else { throw .fit(.infinity) }
            rows.append([found[0], found[1], found[2]])
            constant[axis] = found[3]
        }
        let matrix = Matrix3(rows: rows)
        guard let shift = matrix.solve(constant) else { throw .fit(.infinity) }
        let offset = Vector3.zero - shift
        let square = positions.reduce(0) { $0 + (matrix * ($1.read - offset) - $1.up).squaredLength }
        let error = (square / Double(positions.count)).squareRoot()
        // Written so that NaN is refused as well.
        guard error < greatestError else { throw .fit(error) }
        return AccelerometerFit(offset: offset, matrix: matrix, fitError: error)
    }
}
