import Glibc

/// The limits between orientations and between tilts, with their hysteresis.
///
/// All are compared with the sines of angles, so that no sample needs a trigonometric function. The angles are those of
/// iio-sensor-proxy 3.9, measured on its own function in steps of 0.1°: an edge is up when its axis rises more than 35.5°
/// above the horizon while the other axis does not; the tilt changes at 20.5° and 69.5°.
package struct ScreenLimits {
    /// The sine of the angle above which an axis rises.
    private static let edge = Float(sin(35.5 * Double.pi / 180))
    /// The angles between the tilts, from face down to face up.
    private static let tilts = [-69.5, -20.5, 20.5, 69.5]
    private static let order: [ScreenTilt] = [.faceDown, .tiltedDown, .vertical, .tiltedUp, .faceUp]

    /// The tangent of the turn in the screen's plane at which an edge gives way to its neighbour.
    private let turn: Float
    /// The sines of the angles at which a tilt gives way to the next one towards face up, and towards face down.
    private let rising: [Float]
    private let falling: [Float]
    private let plain: [Float]

    package init(hysteresisDegrees: Double) {
        func sines(_ offset: Double) -> [Float] { Self.tilts.map { Float(sin(($0 + offset) * Double.pi / 180)) } }
        let half = hysteresisDegrees / 2
        turn = Float(tan((45 + half) * Double.pi / 180))
        (rising, falling, plain) = (sines(half), sines(-half), sines(0))
    }

    /// The orientation that a direction means.
    ///
    /// - Parameters:
    ///   - up: The direction of up: x to the right edge, y to the top edge, z out of the screen; of length 1.
    ///   - current: The orientation until now.
    /// - Returns: The current one where none is clear, such as on a table.
    package func orientation(_ up: SIMD3<Float>, after current: ScreenOrientation) -> ScreenOrientation {
        let (isSideways, isUpright) = (abs(up.x) > Self.edge, abs(up.y) > Self.edge)
        guard isSideways != isUpright else { return current }
        let found: ScreenOrientation =
            isSideways ? (up.x > 0 ? .rightUp : .leftUp) : (up.y > 0 ? .normal : .bottomUp)
        switch current {
        case .undefined: return found
        case .normal: return isBeyond(up.y, isSideways ? up.x : 0) ? found : current
        case .bottomUp: return isBeyond(-up.y, isSideways ? up.x : 0) ? found : current
        case .rightUp: return isBeyond(up.x, isSideways ? 0 : up.y) ? found : current
        case .leftUp: return isBeyond(-up.x, isSideways ? 0 : up.y) ? found : current
        }
    }

    /// Whether the screen has turned far enough away from an edge, by that edge's part of up and the new one's.
    private func isBeyond(_ edge: Float, _ other: Float) -> Bool { edge <= 0 || abs(other) >= edge * turn }

    /// The tilt that a direction means, by the part of up that points out of the screen, from -1 to 1, and the tilt until now.
    package func tilt(_ rise: Float, after current: ScreenTilt) -> ScreenTilt {
        let found = Self.order[plain.count { rise > $0 }]
        guard let index = Self.order.firstIndex(of: current) else { return found }
        // What is left is left by the hysteresis; what is entered then is what the plain limits say.
        let isLeft = index < rising.count && rise > rising[index] || index > 0 && rise < falling[index - 1]
        return isLeft ? found : current
    }
}
