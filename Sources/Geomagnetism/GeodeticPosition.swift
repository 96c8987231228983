/// A place on or above the WGS 84 ellipsoid, as satellite receivers give it.
public struct GeodeticPosition: Sendable, Equatable {
    /// Degrees north of the equator, −90 to 90.
    package let latitudeDegrees: Double
    /// Degrees east of Greenwich, −180 to 360.
    package let longitudeDegrees: Double
    /// Metres above the ellipsoid.
    package let altitudeMetres: Double

    package static let latitudes = -90.0...90.0
    /// The longitudes that are taken: counted from −180 or from 0.
    package static let longitudes = -180.0...360.0
    /// The altitudes for which the models are made, from 1 km below the ellipsoid to 850 km above it.
    package static let altitudes = -1000.0...850_000.0

    /// Creates a position; `nil` when a number is outside its range, or none.
    ///
    /// - Parameters:
    ///   - latitudeDegrees: Degrees north, −90 to 90.
    ///   - longitudeDegrees: Degrees east, −180 to 360.
    ///   - altitudeMetres: Metres above the ellipsoid, −1,000 to 850,000. A hundred metres change a field by 0.005 %.
    public init?(latitudeDegrees: Double, longitudeDegrees: Double, altitudeMetres: Double = 0) {
        guard Self.latitudes.contains(latitudeDegrees), Self.longitudes.contains(longitudeDegrees),
            Self.altitudes.contains(altitudeMetres)
        else { return nil }
        self.latitudeDegrees = latitudeDegrees
        self.longitudeDegrees = longitudeDegrees
        self.altitudeMetres = altitudeMetres
    }
}
