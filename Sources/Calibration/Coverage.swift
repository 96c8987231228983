/// How well samples are spread over all directions: whether a fit to them can be trusted.
public struct Coverage: Sendable, Equatable {
    /// The condition number of the sphere fit's design matrix, whose rows are 2x/s, 2y/s, 2z/s and 1 with the greatest |m| as s.
    ///
    /// About 5 for a full sphere, 10 for a figure-eight, 17 for a flat spin that wobbles by 10°, 100 for a flat spin.
    public let condition: Double

    /// Above it not even a sphere can be trusted.
    public static let sphereLimit = 20.0
    /// Above it no ellipsoid can be trusted.
    public static let ellipsoidLimit = 12.0

    /// Looks at samples; `nil` when there is none but zeros.
    public init?(_ samples: [Vector]) {
        guard let largest = samples.map(\.length).max(), largest > 0, largest.isFinite else { return nil }
        var normal = SymmetricMatrix(size: 4)
        for sample in samples {
            let scaled = 2 * sample / largest
            normal.add([scaled.x, scaled.y, scaled.z, 1])
        }
        let values = normal.eigen().map(\.value)
        guard let least = values.first, let most = values.last else { return nil }
        condition = least > 0 ? (most / least).squareRoot() : .infinity
    }

    /// What may be fitted; `nil` when nothing may.
    public var model: MagnetometerCalibration.Model? {
        condition <= Self.ellipsoidLimit ? .ellipsoid : condition <= Self.sphereLimit ? .sphere : nil
    }
}
