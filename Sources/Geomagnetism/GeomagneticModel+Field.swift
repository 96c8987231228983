import Glibc

extension GeomagneticModel {
    /// The field at a place and a time; also outside ``years``, where it is worth less from year to year.
    ///
    /// Source: NOAA NCEI, "The US/UK World Magnetic Model for 2020–2025: Technical Report", section 1.2.
    ///
    /// - Parameters:
    ///   - position: The place.
    ///   - decimalYear: The time, such as 2026.5.
    /// - Returns: The field in the frame of the ellipsoid at the place.
    public func field(at position: GeodeticPosition, decimalYear: Double) -> GeomagneticField {
        let place = GeocentricPlace(position)
        let years = decimalYear - epoch
        var functions = LegendreFunctions(cosine: place.sineOfLatitude, sine: place.cosineOfLatitude)
        let longitude = position.longitudeDegrees * .pi / 180
        // Of the longitude's multiples, by order.
        let turns = (0...degree).map { (cosine: cos(Double($0) * longitude), sine: sin(Double($0) * longitude)) }
        var (north, east, down) = (0.0, 0.0, 0.0)
        let ratio = Self.referenceRadiusKilometres / place.radiusKilometres
        var power = ratio * ratio
        for n in 1...degree {
            functions.advance()
            power *= ratio
            for m in 0...n {
                let coefficient = coefficients[Self.index(n, m)]
                let g = coefficient.g + years * coefficient.gChange
                let h = coefficient.h + years * coefficient.hChange
                let along = g * turns[m].cosine + h * turns[m].sine
                let across = g * turns[m].sine - h * turns[m].cosine
                north += power * along * functions.slope[m]
                east += power * Double(m) * across * functions.overSine[m]
                down -= power * Double(n + 1) * along * functions.value[m]
            }
        }
        // From the sphere's vertical to the ellipsoid's.
        let (turn, latitude) = (place.latitude, position.latitudeDegrees * .pi / 180)
        let (cosine, sine) = (cos(turn - latitude), sin(turn - latitude))
        return GeomagneticField(
            northNanotesla: north * cosine - down * sine, eastNanotesla: east,
            downNanotesla: north * sine + down * cosine)
    }

    /// The radius to which the coefficients belong.
    private static let referenceRadiusKilometres = 6371.2
}

/// A place seen from the centre of the Earth.
private struct GeocentricPlace {
    let radiusKilometres: Double
    /// In radians.
    let latitude: Double
    let sineOfLatitude: Double
    let cosineOfLatitude: Double

    /// WGS 84: half the long axis, and the square of the eccentricity from the flattening.
    private static let semiMajorKilometres = 6378.137
    private static let flattening = 1 / 298.257223563
    private static let eccentricitySquared = flattening * (2 - flattening)

    init(_ position: GeodeticPosition) {
        let latitude = position.latitudeDegrees * .pi / 180
        let altitude = position.altitudeMetres / 1000
        let (sine, cosine) = (sin(latitude), cos(latitude))
        let curvature = Self.semiMajorKilometres / (1 - Self.eccentricitySquared * sine * sine).squareRoot()
        let outward = (curvature + altitude) * cosine
        let upward = (curvature * (1 - Self.eccentricitySquared) + altitude) * sine
        radiusKilometres = hypot(outward, upward)
        sineOfLatitude = upward / radiusKilometres
        cosineOfLatitude = outward / radiusKilometres
        self.latitude = atan2(upward, outward)
    }
}

/// The associated Legendre functions of one degree after the other, Schmidt semi-normalised, of the cosine of the
/// colatitude θ.
///
/// Slopes come from the recursion's own derivative, and what is divided by sin θ from the same recursion with one factor
/// sin θ less; so nothing is divided by zero at the poles.
private struct LegendreFunctions {
    /// Of each order: Pₙᵐ(cos θ).
    private(set) var value = [1.0]
    /// dPₙᵐ/dθ.
    private(set) var slope = [0.0]
    /// Pₙᵐ/sin θ for orders from 1 on; the first is of no use.
    private(set) var overSine = [0.0]

    private let cosine: Double
    private let sine: Double
    private var degree = 0
    /// The same of one degree less.
    private var valueBefore: [Double] = []
    private var slopeBefore: [Double] = []
    private var overSineBefore: [Double] = []

    init(cosine: Double, sine: Double) {
        self.cosine = cosine
        self.sine = sine
    }

    /// Advances to the next degree.
    mutating func advance() {
        degree += 1
        let n = Double(degree)
        var (values, slopes, overSines) = ([Double](), [Double](), [Double]())
        for order in 0..<degree {
            let m = Double(order)
            let root = (n * n - m * m).squareRoot()
            let first = (2 * n - 1) / root
            let second = ((n - 1) * (n - 1) - m * m).squareRoot() / root
            // Below the diagonal there is nothing before.
            let hasTwo = order < degree - 1
            values.append(first * cosine * value[order] - (hasTwo ? second * valueBefore[order] : 0))
            slopes.append(
                first * (cosine * slope[order] - sine * value[order]) - (hasTwo ? second * slopeBefore[order] : 0))
            overSines.append(first * cosine * overSine[order] - (hasTwo ? second * overSineBefore[order] : 0))
        }
        let factor = degree == 1 ? 1 : ((2 * n - 1) / (2 * n)).squareRoot()
        values.append(factor * sine * value[degree - 1])
        slopes.append(factor * (cosine * value[degree - 1] + sine * slope[degree - 1]))
        overSines.append(degree == 1 ? 1 : factor * sine * overSine[degree - 1])
        (valueBefore, slopeBefore, overSineBefore) = (value, slope, overSine)
        (value, slope, overSine) = (values, slopes, overSines)
    }
}
