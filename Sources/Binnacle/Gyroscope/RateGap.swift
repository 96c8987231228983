import SensorGeometry

/// Estimates what a device turned while samples of its gyroscope are missing.
///
/// The rate is taken for a polynomial of third degree with the values and slopes at both ends (Hermite). In a fast turn by hand that
/// is a tenth of the error that the mean of both rates has. The slope behind the gap is known one sample later; its part is
/// corrected then.
package struct RateGap {
    /// The slope of the rate before the last sample, in rad/s²; `nil` when it is not known.
    private var slope: Vector3?
    /// T²/12 of the gap that has just ended; 0 when there was none.
    private var weight = 0.0
    private static let longest = 0.1
    /// The relative error of a turn that was not measured.
    package static let unknownTurnShare = 0.2
    /// In shorter gaps a hand cannot turn otherwise than at both ends.
    package static let longSeconds = 0.15

    /// The share of the turn over a gap that the rates at its ends may not show.
    package static func unknownShare(seconds: Double) -> Double {
        let share = min(seconds / longSeconds, 1)
        return unknownTurnShare * share * share
    }

    /// What the mean of the rates at both ends lacks, by what is known at the end of the gap, as a rotation vector in rad.
    mutating func turn(from first: Vector3, to last: Vector3, seconds: Double) -> Vector3 {
        let square = seconds * seconds / 12
        // Slopes say little about the middle of a long gap.
        weight = seconds <= Self.longest ? square : square * Self.longest / seconds
        defer { slope = nil }
        // The first part is what two turns about different axes make beside their sum.
        return cross(first, last) * square + (slope ?? .zero) * weight
    }

    /// What the slope at an ordinary step corrects of the gap before it, as a rotation vector in rad; a step too short for one has
    /// none.
    mutating func correction(slope: Vector3?) -> Vector3 {
        defer { weight = 0 }
        self.slope = slope
        guard weight != 0, let slope else { return .zero }
        return slope * -weight
    }
}
