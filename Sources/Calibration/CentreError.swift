import SensorGeometry

/// How far the centre of a fit may be off: by the samples' noise, and by the soft iron that a sphere leaves as it is.
///
/// The samples' squared lengths after the calibration differ from 1 by noise, by a shift of the centre, by another radius and by a
/// stretch. Least squares of these nine unknowns give the shift and its covariance. For an ellipsoid nothing is known of the
/// stretch beforehand, as its fit has found it. For a sphere the stretch is expected to be as strong as in a device of the
/// usual kind (a prior, as in Gelman et al., *Bayesian Data Analysis*, 3rd edition, section 14.8): where directions are missing,
/// samples cannot tell a stretch from a shift, and the prior says how much may be hidden. The stretch that is found with it then says
/// how strong it is in this device. Its own shift may be one of the room's field, so it only keeps a centre from being used.
package struct CentreError: Sendable, Equatable {
    /// Where the centre is more likely, seen from the fit's, as a share of the field.
    package private(set) var shift: Double
    /// The standard deviation of that, over all axes, as a share of the field.
    package private(set) var deviation: Double

    private let model: MagnetometerFit.Model

    /// The root mean square of how far the centre is off, as a share of the field.
    package var expected: Double { model == .sphere ? deviation : greatest }
    /// The same, should the stretch that the samples show be the device's alone.
    package var greatest: Double { (shift * shift + deviation * deviation).squareRoot() }
    /// What all centres stay within whose samples came from everywhere, as a share of the field.
    package var limit: Double { shift + Self.limitFactor * deviation }

    // From 28,000 made clouds of eight shapes, with 60 to 3000 samples, noise of 0.05 to 1 µT and soft iron of up to 20 %: of 8500
    // good ones none was off by more than 0.5 %. A strong stretch shifts a centre further than the linear equations say.
    private static let limitFactor = 3.0
    /// How much soft iron stretches along one direction: one standard deviation, as a share; the recordings have 1 % and less.
    private static let usualStretch = 0.01
    /// What a stretch that seems to be none may hide.
    private static let hiddenStretch = 0.003
    /// The edge of a cube of nearly one direction, as a share of the field.
    private static let cellEdge = 0.4

    private static let size = 9
    private static let stretches = 4..<9

    /// Looks at the samples of a fit, in the order of their arrival.
    init(of fit: MagnetometerFit, _ samples: [Vector3]) {
        var normal = SymmetricMatrix(size: Self.size)
        var right = [Double](repeating: 0, count: Self.size)
        let rests = samples.map { sample in
            let v = fit.apply(sample) / fit.fieldMicrotesla
            return (row: Self.row(v), value: v.squaredLength - 1)
        }
        for (row, value) in rests {
            normal.add(row)
            for i in 0..<Self.size { right[i] += row[i] * value }
        }
        (shift, deviation, model) = (0, .infinity, fit.model)
        guard let variance = Self.variance(rests, normal.solve(right)) else { return }
        if fit.model == .sphere {
            for i in Self.stretches { normal[i, i] += variance / (Self.usualStretch * Self.usualStretch) }
        }
        guard let found = normal.solve(right) else { return }
        shift = Vector3(found[0], found[1], found[2]).length
        let trace = (0..<3).reduce(0.0) { sum, axis in
            var unit = [Double](repeating: 0, count: Self.size)
            unit[axis] = 1
            return sum + (normal.solve(unit)?[axis] ?? .infinity)
        }
        deviation = (variance * trace).squareRoot()
        if fit.model == .sphere {
            let stretch = Self.stretches.reduce(0) { $0 + found[$1] * found[$1] } / Double(Self.stretches.count)
            deviation *= (Self.hiddenStretch * Self.hiddenStretch + stretch).squareRoot() / Self.usualStretch
        }
    }

    /// The variance of what the unknowns leave, as that of as many independent samples would have to be.
    ///
    /// A sensor's noise is independent, and what a room and the shape of the iron make of the field is not: samples of nearly one
    /// direction have the same of it. So their means vary by more than those of noise.
    private static func variance(_ rests: [(row: [Double], value: Double)], _ found: [Double]?) -> Double? {
        guard let found else { return nil }
        // In the order of the samples, so that every run adds in the same order.
        var places: [SIMD3<Int>: Int] = [:]
        var cells: [(sum: Double, count: Double)] = []
        var square = 0.0
        for (row, value) in rests {
            let left = zip(row, found).reduce(value) { $0 - $1.0 * $1.1 }
            square += left * left
            let cell = SIMD3<Int>((Vector3(row[0], row[1], row[2]) / (2 * cellEdge)).rounded(.down))
            let place = places[cell] ?? cells.count
            if place == cells.count {
                places[cell] = place
                cells.append((0, 0))
            }
            cells[place].sum += left
            cells[place].count += 1
        }
        let single = square / Double(max(1, rests.count - size))
        let degrees = Double(max(1, cells.count - size))
        let between = cells.reduce(0) { $0 + $1.sum * $1.sum / $1.count } / degrees
        // A mean of the squares of noise varies by √(2/n); within three times that the samples are as good as independent.
        return between > single * (1 + 3 * (2 / degrees).squareRoot()) ? between : single
    }

    /// By how much each unknown lengthens the square of a vector: three of the centre, the radius, five of the stretch.
    private static func row(_ v: Vector3) -> [Double] {
        [
            2 * v.x, 2 * v.y, 2 * v.z, 2,
            2 * (v.x * v.x - v.y * v.y), 2 * (v.x * v.x + v.y * v.y - 2 * v.z * v.z) / 3.0.squareRoot(),
            4 * v.x * v.y, 4 * v.x * v.z, 4 * v.y * v.z,
        ]
    }
}
