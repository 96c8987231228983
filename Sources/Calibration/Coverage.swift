package import SensorGeometry

/// How well samples are spread over all directions: whether a fit to them can be trusted.
package struct Coverage: Sendable, Equatable {
    /// The condition number of the sphere fit's design matrix, whose rows are 2x/s, 2y/s, 2z/s and 1 with the greatest |m| as s.
    ///
    /// About 5 for a full sphere, 10 for a figure-eight, 17 for a flat spin that wobbles by 15°, 100 for a flat spin.
    package let condition: Double

    /// Above it not even a sphere can be trusted.
    package static let sphereLimit = 20.0
    /// Above it no ellipsoid can be trusted.
    package static let ellipsoidLimit = 12.0

    /// The share of hard iron in the field with which the limits were found.
    private static let usualShare = 1.4
    /// A greater share is taken for the usual one.
    private static let greatestShare = 2.0

    /// Looks at samples, in µT; `nil` when there is none but zeros, or one that is not finite.
    ///
    /// A condition number depends on where zero is, and a fit does not: with strong magnets far from zero the best samples
    /// would look bad. So samples whose centre lies more than two fields from zero are moved to 1.4 fields.
    package init?(_ samples: [Vector3]) {
        guard samples.allSatisfy(\.isFinite), let raw = Self.condition(samples) else { return nil }
        guard let sphere = MagnetometerFit.sphere(samples) else {
            condition = raw
            return
        }
        let (centre, field) = (sphere.hardIronMicrotesla, sphere.fieldMicrotesla)
        guard centre.length > Self.greatestShare * field else {
            condition = raw
            return
        }
        let usual = centre / centre.length * (Self.usualShare * field)
        condition = Self.condition(samples.map { $0 - centre + usual }) ?? .infinity
    }

    private static func condition(_ samples: [Vector3]) -> Double? {
        guard let largest = samples.map(\.length).max(), largest > 0, largest.isFinite else { return nil }
        var normal = SymmetricMatrix(size: 4)
        for sample in samples {
            let scaled = 2 * sample / largest
            normal.add([scaled.x, scaled.y, scaled.z, 1])
        }
        let values = normal.eigen().map(\.value)
        guard let least = values.first, let most = values.last else { return nil }
        return least > 0 ? (most / least).squareRoot() : .infinity
    }

    /// What may be fitted; `nil` when nothing may.
    package var model: MagnetometerFit.Model? {
        condition <= Self.ellipsoidLimit ? .ellipsoid : condition <= Self.sphereLimit ? .sphere : nil
    }
}
