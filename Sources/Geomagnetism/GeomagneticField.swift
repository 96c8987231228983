package import BinnacleHeading
import Glibc

/// The main magnetic field at a place and a time, in the north-east-down frame of the ellipsoid.
public struct GeomagneticField: Sendable, Equatable {
    /// The component to geographic north, X, in nT.
    public let northNanotesla: Double
    /// The component to the east, Y, in nT.
    public let eastNanotesla: Double
    /// The component downwards, Z, in nT.
    public let downNanotesla: Double

    package init(northNanotesla: Double, eastNanotesla: Double, downNanotesla: Double) {
        self.northNanotesla = northNanotesla
        self.eastNanotesla = eastNanotesla
        self.downNanotesla = downNanotesla
    }

    /// The horizontal part, H, in nT.
    public var horizontalNanotesla: Double { hypot(northNanotesla, eastNanotesla) }
    /// The total intensity, F, in nT.
    public var totalNanotesla: Double { hypot(horizontalNanotesla, downNanotesla) }
    /// By how much magnetic north lies east of geographic north, D, in degrees; true = magnetic + D.
    public var declinationDegrees: Double { atan2(eastNanotesla, northNanotesla) * 180 / .pi }
    /// How far the field points below the horizon, I (the dip), in degrees.
    public var inclinationDegrees: Double { atan2(downNanotesla, horizontalNanotesla) * 180 / .pi }

    /// The standard uncertainty of the declination, in degrees: √(0.26² + (5417/H)²), H in nT.
    ///
    /// What the model cannot know is in it: the crust, the currents above, and the years since it was made.
    ///
    /// Source: NOAA NCEI, "The US/UK World Magnetic Model for 2025–2030", error model of WMM2025.
    public var declinationUncertaintyDegrees: Double {
        let share = 5417 / horizontalNanotesla
        return (0.26 * 0.26 + share * share).squareRoot()
    }

    /// What a compass is good for there, by the zones that the model's makers draw around the magnetic poles: caution below
    /// 6,000 nT of horizontal field, blackout below 2,000 nT.
    package var zone: LocalField.Zone {
        let horizontal = horizontalNanotesla
        return horizontal < 2000 ? .blackout : horizontal < 6000 ? .caution : .normal
    }
}
