package import Binnacle
import Glibc
package import SensorGeometry

/// Learns the hard iron of a magnetometer from the directions in which it has seen the Earth's field, without a gyroscope.
///
/// Whatever the attitude, the field has one strength F and one part D along the vertical g: |m − b| = F and (m − b)·g = D. Both
/// are linear in the state (b, c, d), the first as |m|² = 2·m·b + c with c = F² − |b|² (a sphere), the second as m·g = b·g + d;
/// so each is one measurement of a Kalman filter, whose covariance knows which directions of b were not seen: a turn on a table
/// shows the level ones.
package struct IronSphere {
    /// The hard iron in µT, in the device's frame.
    package var iron: Vector3 { Vector3(estimate.state[0], estimate.state[1], estimate.state[2]) }

    private var estimate = LinearEstimate()
    private let startVariance: Double
    /// The field of the last sample that was learned from, and its stamp.
    private var last: (field: Vector3, nanoseconds: Int64)?
    /// The share of the last measurements that no iron explains.
    private(set) var misfit = 0.0
    /// How often it has begun again, because that was too much.
    private(set) var restarts = 0
    /// The mean direction of the field: as long as 1 while it was never turned, near 0 when all were seen.
    private var direction = Vector3.zero

    /// In µT: samples of nearer directions have the same errors of soft iron and of the room, so they say nothing new.
    private let step: Double
    /// The standard deviation of those errors on an axis, in µT: indoors the field differs by so much from place to place.
    private let fieldNoise: Double
    /// In µT/√s: what the device carries changes.
    private static let ironDrift = 0.2
    /// In rad: how steady the vertical is at best.
    private static let leastTilt = 0.05
    /// In µT⁴ and µT²: nothing is known of the strength and of the part along the vertical before the first sample.
    private static let (unknownStrength, unknownPart) = (1e8, 1e4)
    /// From here on, the strength is known well enough to judge a measurement, in the same units.
    private static let (knownStrength, knownPart) = (1e6, 1e3)
    /// In µT: the strengths that the Earth's field has.
    private static let strengths = 20.0...70.0
    /// Of the squares of normalized residuals one in a hundred is larger than the first, and one in 370 larger than the second.
    private static let (oddSquare, largestSquare) = (6.63, 9.0)
    /// The weight of a measurement in the misfit, and from which misfit on it is other iron.
    private static let (misfitGain, largestMisfit) = (0.1, 0.3)
    /// In µT².
    private static let leastVariance = 0.01
    /// Of the field: what soft iron makes of it, which cannot be told from hard iron while one direction alone was seen.
    private static let shapeShare = 0.03
    /// The weight of a sample in the mean direction.
    private static let directionGain = 0.05

    /// Creates a sphere of which nothing is known but the standard deviation of the iron on each axis, in µT.
    package init(ironSigma: Double, step: Double = 20, fieldNoise: Double = 4) {
        startVariance = ironSigma * ironSigma
        self.step = step
        self.fieldNoise = fieldNoise
        forget()
    }

    /// Begins with what an earlier run has learned of the device.
    package mutating func recall(_ errors: SensorErrors) {
        for axis in 0..<3 {
            estimate.state[axis] = errors.iron[axis]
            // What is learned has the share of the shape already: a restart makes it no less certain.
            let variance = errors.ironSigma[axis] * errors.ironSigma[axis] - shapeVariance
            estimate.covariance[axis][axis] = min(max(variance, Self.leastVariance), startVariance)
        }
    }

    /// What was learned; `nil` while that is less than a half of what was not known.
    package var errors: SensorErrors? {
        var sigma = Vector3.zero
        for axis in 0..<3 { sigma[axis] = (estimate.covariance[axis][axis] + shapeVariance).squareRoot() }
        guard sigma.squaredLength < 3 * startVariance / 4 else { return nil }
        return SensorErrors(iron: iron, ironSigma: sigma, scale: 1, scaleSigma: 1)
    }

    private var shapeVariance: Double {
        let shape = Self.shapeShare * strength
        return shape * shape * (direction == .zero ? 1 : min(direction.squaredLength, 1))
    }

    private mutating func forget() {
        estimate.covariance = InlineArray(repeating: .zero)
        for axis in 0..<3 { estimate.covariance[axis][axis] = startVariance }
        estimate.covariance[3][3] = Self.unknownStrength
        estimate.covariance[4][4] = Self.unknownPart
        (misfit, direction) = (0, .zero)
    }

    private var strength: Double {
        guard estimate.covariance[3][3] < Self.knownStrength else { return 45 }
        return min(max(fittedStrength, Self.strengths.lowerBound), Self.strengths.upperBound)
    }

    /// The strength that the field has on the sphere, in µT, whatever the Earth's may be.
    var fittedStrength: Double { max(estimate.state[3] + iron.squaredLength, 0).squareRoot() }

    private var covariance: Matrix3 {
        func row(_ index: Int) -> Vector3 {
            Vector3(estimate.covariance[index][0], estimate.covariance[index][1], estimate.covariance[index][2])
        }
        return Matrix3(row(0), row(1), row(2))
    }

    /// How far iron that was found in another way is from this one.
    ///
    /// - Parameters:
    ///   - other: That iron, in µT.
    ///   - variance: Its variance on an axis.
    /// - Returns: The square of the difference in units of the standard deviation of both.
    func square(of other: Vector3, variance: Double) -> Double {
        let both = covariance + Matrix3(diagonal: Vector3(repeating: variance + shapeVariance))
        return dot(other - iron, both.symmetricInverse * (other - iron))
    }

    /// How well the iron along a level axis is known.
    ///
    /// - Parameter up: The unit vector that points up, in the device's frame.
    /// - Returns: Its standard deviation, in µT.
    package func sigma(levelTo up: Vector3) -> Double {
        let matrix = covariance
        let level = max(matrix.x.x + matrix.y.y + matrix.z.z - dot(up, matrix * up), 0) / 2
        return (level + shapeVariance).squareRoot()
    }

    /// Takes a field in µT as it was measured.
    ///
    /// - Parameters:
    ///   - field: The sample.
    ///   - up: The unit vector that points up; `nil` to learn from the strength alone.
    ///   - tilt: By how much that may be off, in rad.
    ///   - nanoseconds: The stamp.
    package mutating func update(_ field: Vector3, up: Vector3?, tilt: Double, at nanoseconds: Int64) {
        guard field.isFinite, up?.isFinite ?? true else { return }
        guard let last else {
            self.last = (field, nanoseconds)
            return
        }
        guard length(field - last.field) > step else { return }
        let seconds = max(Units.seconds(from: last.nanoseconds, to: nanoseconds), 0)
        self.last = (field, nanoseconds)
        for axis in 0..<3 { estimate.covariance[axis][axis] += Self.ironDrift * Self.ironDrift * seconds }
        let strength = strength
        let noise = fieldNoise * fieldNoise
        measure(
            SIMD8(2 * field.x, 2 * field.y, 2 * field.z, 1, 0, 0, 0, 0), field.squaredLength,
            variance: 4 * strength * strength * noise, isJudged: estimate.covariance[3][3] < Self.knownStrength)
        if let up {
            let tilted = strength * (tilt + Self.leastTilt)
            measure(
                SIMD8(up.x, up.y, up.z, 0, 1, 0, 0, 0), dot(field, up), variance: noise + tilted * tilted,
                isJudged: estimate.covariance[4][4] < Self.knownPart)
        }
        if misfit > Self.largestMisfit {
            // The device was built in elsewhere, or has a magnet.
            forget()
            restarts += 1
        }
        let seen = (field - iron) / strength
        direction = direction == .zero ? seen : direction + (seen - direction) * Self.directionGain
    }

    private mutating func measure(_ row: SIMD8<Double>, _ value: Double, variance: Double, isJudged: Bool) {
        let residual = value - (row * estimate.state).sum()
        let square = residual * residual / ((row * estimate.spread(of: row)).sum() + variance)
        if isJudged { misfit += ((square > Self.oddSquare ? 1 : 0) - misfit) * Self.misfitGain }
        guard square <= Self.largestSquare else { return }
        estimate.correct(row, residual: residual, variance: variance)
    }
}
