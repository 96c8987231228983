/// A place on or above the WGS 84 ellipsoid, as satellite receivers give it.
public struct GeodeticPosition: Sendable, Equatable {
    /// Degrees north of the equator, −90 to 90.
    public let latitudeDegrees: Double
    /// Degrees east of Greenwich, −180 to 360.
    public let longitudeDegrees: Double
    /// Metres above the ellipsoid.
    public let altitudeMetres: Double

    /// The altitudes for which the models are made, from 1 km below the ellipsoid to 850 km above it.
    public static let altitudes = -1000.0...850_000.0

    /// Creates a position; `nil` when a number is outside its range, or none.
    ///
    /// - Parameters:
    ///   - latitudeDegrees: Degrees north, −90 to 90.
    ///   - longitudeDegrees: Degrees east, −180 to 360.
    ///   - altitudeMetres: Metres above the ellipsoid, within ``altitudes``. A hundred metres change a field by 0.005 %.
    public init?(latitudeDegrees: Double, longitudeDegrees: Double, altitudeMetres: Double = 0) {
        guard (-90...90).contains(latitudeDegrees), (-180...360).contains(longitudeDegrees),
            Self.altitudes.contains(altitudeMetres)
        else { return nil }
        self.latitudeDegrees = latitudeDegrees
        self.longitudeDegrees = longitudeDegrees
        self.altitudeMetres = altitudeMetres
    }
}
