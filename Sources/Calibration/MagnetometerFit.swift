import Glibc
public import SensorGeometry

/// What makes a magnetometer's field that of the Earth: field = softIron · (measured − hardIron).
public struct MagnetometerFit: Sendable, Equatable {
    /// How it was fitted.
    public enum Model: String, Sendable {
        /// Four parameters: the centre and the radius.
        case sphere
        /// Ten parameters: the centre and the shape.
        case ellipsoid
    }

    /// How it was fitted.
    public let model: Model
    /// What is added by magnets that turn with the sensor, in µT.
    public let hardIronMicrotesla: Vector3
    /// What undoes the iron that bends the field; its determinant is 1, so that it keeps the strength.
    public let softIron: Matrix3
    /// The strength of the field after the calibration, in µT.
    public let fieldMicrotesla: Double
    /// How far the calibrated samples are from a sphere: the standard deviation of the squared strength, by twice the square
    /// of the field; in percent.
    ///
    /// Source: NXP AN5019, "Magnetic calibration algorithms", equation of the fit error ε.
    package let fitErrorPercent: Double

    /// The fit error in µT: the standard deviation of the strength, which contains nothing of directions without samples.
    package var residualMicrotesla: Double { fitErrorPercent / 100 * fieldMicrotesla }

    /// A measured field, calibrated, in µT.
    package func apply(_ measured: Vector3) -> Vector3 {
        softIron * (measured - hardIronMicrotesla)
    }

    /// How much more the soft iron stretches one direction than another: 1 for a sphere.
    var stretch: Double {
        var matrix = SymmetricMatrix(size: 3)
        for row in 0..<3 {
            for column in 0...row { matrix[row, column] = softIron.rows[row][column] }
        }
        let values = matrix.eigen().map(\.value)
        guard let least = values.first, let most = values.last, least > 0 else { return .infinity }
        return most / least
    }
}

extension MagnetometerFit {
    /// Fits a sphere: its centre is the hard iron.
    ///
    /// The linear least squares of |m|² = 2·m·V + (B² − |V|²); source: NXP AN5019.
    ///
    /// - Parameter samples: In µT, from all around.
    /// - Returns: `nil` when they lie in a plane, are none, or one of them is not finite.
    package static func sphere(_ samples: [Vector3]) -> MagnetometerFit? {
        guard samples.allSatisfy(\.isFinite), let largest = samples.map(\.length).max(), largest > 0 else { return nil }
        var normal = SymmetricMatrix(size: 4)
        var right = [Double](repeating: 0, count: 4)
        for sample in samples {
            let scaled = sample / largest
            let row = [2 * scaled.x, 2 * scaled.y, 2 * scaled.z, 1]
            normal.add(row)
            for i in 0..<4 { right[i] += row[i] * scaled.squaredLength }
        }
        guard let found = normal.solve(right) else { return nil }
        let centre = Vector3(found[0], found[1], found[2])
        let square = found[3] + centre.squaredLength
        guard square > 0 else { return nil }
        return MagnetometerFit(
            .sphere, hardIron: centre * largest, softIron: .identity, field: square.squareRoot() * largest, samples)
    }

    /// Fits an ellipsoid: its centre is the hard iron, and what makes a sphere of it undoes the soft iron.
    ///
    /// The direction in which the quadric's ten terms vary least; source: NXP AN5019, ten-element calibration.
    ///
    /// - Parameter samples: In µT, from all around.
    /// - Returns: `nil` when what fits best is no ellipsoid.
    package static func ellipsoid(_ samples: [Vector3]) -> MagnetometerFit? {
        // Around the sphere's centre, so that all terms are of one size.
        guard let sphere = sphere(samples) else { return nil }
        var normal = SymmetricMatrix(size: 10)
        for sample in samples {
            let v = (sample - sphere.hardIronMicrotesla) / sphere.fieldMicrotesla
            normal.add([
                v.x * v.x, 2 * v.x * v.y, 2 * v.x * v.z, v.y * v.y, 2 * v.y * v.z, v.z * v.z, v.x, v.y, v.z, 1,
            ])
        }
        guard let best = normal.eigen().first?.vector else { return nil }
        // The sign is open; an ellipsoid's squares all have the same.
        let terms = best[0] + best[3] + best[5] < 0 ? best.map { -$0 } : best
        var shape = SymmetricMatrix(size: 3)
        shape[0, 0] = terms[0]
        shape[0, 1] = terms[1]
        shape[0, 2] = terms[2]
        shape[1, 1] = terms[3]
        shape[1, 2] = terms[4]
        shape[2, 2] = terms[5]
        let axes = shape.eigen()
        guard let least = axes.first?.value, least > 0, let centre = shape.solve([terms[6], terms[7], terms[8]])
        else { return nil }
        let offset = Vector3(centre[0], centre[1], centre[2]) / -2
        let strength = axes.reduce(0) { sum, axis in
            let along = (Vector3(axis.vector[0], axis.vector[1], axis.vector[2]) * offset).sum()
            return sum + axis.value * along * along
        }
        guard strength - terms[9] > 0 else { return nil }
        let scale = axes.reduce(1) { $0 * $1.value }
        let cubeRoot = cbrt(scale)
        return MagnetometerFit(
            .ellipsoid, hardIron: sphere.hardIronMicrotesla + offset * sphere.fieldMicrotesla,
            softIron: root(axes, of: cubeRoot),
            field: ((strength - terms[9]) / cubeRoot).squareRoot() * sphere.fieldMicrotesla, samples)
    }

    /// The symmetric root of a matrix with given axes, divided by a number.
    private static func root(_ axes: [(value: Double, vector: [Double])], of divisor: Double) -> Matrix3 {
        var rows = [Vector3](repeating: .zero, count: 3)
        for (value, vector) in axes {
            let factor = (value / divisor).squareRoot()
            let v = Vector3(vector[0], vector[1], vector[2])
            for row in 0..<3 { rows[row] += factor * v[row] * v }
        }
        return Matrix3(rows: rows)
    }

    private init(
        _ model: Model, hardIron: Vector3, softIron: Matrix3, field: Double, _ samples: [Vector3]
    ) {
        let square = field * field
        let sum = samples.reduce(0) { sum, sample in
            let difference = (softIron * (sample - hardIron)).squaredLength - square
            return sum + difference * difference
        }
        self.model = model
        hardIronMicrotesla = hardIron
        self.softIron = softIron
        fieldMicrotesla = field
        fitErrorPercent = 100 * (sum / Double(samples.count)).squareRoot() / (2 * square)
    }
}
