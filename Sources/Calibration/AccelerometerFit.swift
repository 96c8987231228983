public import SensorGeometry

/// What makes an accelerometer's reading the specific force: force = matrix · (measured − offset).
public struct AccelerometerFit: Sendable, Equatable {
    /// What is read too much, in m/s².
    public let offset: Vector3
    /// Scale and, of positions that were level, misalignment.
    public let matrix: Matrix3
    /// The root mean square of the vector that is left between a calibrated reading and the specific force, in m/s²; what is usual of a
    /// misalignment where that is not corrected.
    public let fitError: Double
    /// The root mean square of the angle by which the positions were off the vertical, in degrees, when that is why the misalignment is
    /// not corrected; `nil` where it is.
    package let skewDegrees: Double?

    /// A greater fit error is refused: the positions were held 5° off, or more.
    package static let greatestError = 0.9
    /// Positions that leave more, some 0.6°, say less about the axes of a chip than data sheets do.
    private static let greatestSkew = 0.1
    /// What an unknown misalignment leaves, in m/s²: data sheets of small chips state 0.5 to 2 % between the axes at most, and much less
    /// as a rule.
    private static let misalignment = 0.05

    /// A measured specific force, calibrated, in m/s².
    package func apply(_ measured: Vector3) -> Vector3 {
        matrix * (measured - offset)
    }

    /// Fits twelve parameters, a matrix and an offset, to what was read with each side up.
    ///
    /// Linear least squares of force = M·measured + c, a row of four for each axis; source: STMicroelectronics AN3192,
    /// "Using LSM303DLH for a tilt compensated electronic compass", calibration of the accelerometer.
    ///
    /// Positions that were not level, which a length of 1 g does not show, would give the sensor the tilt that they had. Where they
    /// do not fit together, offset and scale alone are fitted, which make 1 g of each length.
    ///
    /// - Parameter rests: In m/s², the mean of each position.
    /// - Returns: What makes 1 g straight up of each, as well as twelve parameters can, or 1 g.
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
        // Eighteen equations for twelve parameters.
        let error = (square / 6 * 3).squareRoot()
        // Written so that NaN is refused as well.
        guard error < greatestError else { throw .fit(error) }
        guard error > greatestSkew else {
            return AccelerometerFit(offset: offset, matrix: matrix, fitError: error, skewDegrees: nil)
        }
        guard let lengths = fit(lengthsOf: positions.map(\.read)) else { throw .fit(error) }
        // In the mean the fit leaves g times the angle by which a position was off.
        return AccelerometerFit(
            offset: lengths.offset, matrix: Matrix3(diagonal: lengths.scale), fitError: misalignment,
            skewDegrees: error / Gravity.standard * 180 / .pi)
    }

    /// The offset and the scale of each axis that make 1 g of the length of six readings; `nil` where there are none.
    ///
    /// Newton's method for |scale · (read − offset)| = 1 g.
    private static func fit(lengthsOf reads: [Vector3]) -> (offset: Vector3, scale: Vector3)? {
        var (offset, scale) = (Vector3.zero, Vector3.one)
        for _ in 0..<20 {
            var normal = SymmetricMatrix(size: 6)
            var right = [Double](repeating: 0, count: 6)
            for read in reads {
                let (shifted, force) = (read - offset, scale * (read - offset))
                let (ofScale, ofOffset) = (force * shifted / force.length, -1 * force * scale / force.length)
                let row = [ofScale.x, ofScale.y, ofScale.z, ofOffset.x, ofOffset.y, ofOffset.z]
                normal.add(row)
                for place in 0..<6 { right[place] += row[place] * (Gravity.standard - force.length) }
            }
            guard let step = normal.solve(right) else { return nil }
            scale += [step[0], step[1], step[2]]
            offset += [step[3], step[4], step[5]]
            guard (scale - Vector3.one).length < 0.5, offset.length < Gravity.standard else { return nil }
            if step.allSatisfy({ abs($0) < 1e-12 }) { return (offset, scale) }
        }
        return nil
    }
}
