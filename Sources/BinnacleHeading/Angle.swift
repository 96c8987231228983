import Glibc

/// Arithmetic on angles in degrees.
package enum Angle {
    /// The same direction from 0 up to but not including 360.
    package static func normalizedDegrees(_ degrees: Double) -> Double {
        let rest = fmod(degrees, 360)
        let positive = rest < 0 ? rest + 360 : rest
        // A tiny negative angle becomes 360 when 360 is added to it.
        return positive < 360 ? positive : 0
    }

    /// The turn from one direction to another, from −180 (to the left) to 180.
    package static func differenceDegrees(from: Double, to: Double) -> Double {
        let turn = normalizedDegrees(to - from)
        return turn > 180 ? turn - 360 : turn
    }
}
