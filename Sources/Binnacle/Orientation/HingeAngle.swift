import Glibc
import Kernels

/// The angle of a hinge that lies along the x axes of two parts, by the direction of gravity in both.
///
/// The axes of the screen and of the base are the same when the laptop lies open flat, which is 180°: y leads from the hinge to
/// the screen's upper edge, z out of the screen. The angle is the turn from one part's gravity to the other's around x, so
/// accelerometers of which all signs are reversed give the same; two reversed axes, as in ``OrientationSettings/Frame/desktop``, are
/// half a turn around the third and mirror it.
package struct HingeAngle {
    /// The part of gravity across the hinge, of its square, below which the angle is unknown: a hinge within 30° of
    /// upright.
    private static let leastAcross: Float = 0.25
    /// How far from closed and folded back, which are the same for gravity, the last angle decides which it is.
    private static let ambiguousDegrees = 30.0
    /// How long an angle has to last that the hinge cannot have come to: longer than a hand tips the device over.
    private static let tipNanoseconds: Int64 = 500_000_000

    /// Whether the last angle that was beyond doubt was beyond flat.
    private var side = Dwell<Bool?>(nil, delayNanoseconds: tipNanoseconds)
    /// The last angle that counted, from 0 to 360; forgotten when no angle came for longer than a tip takes.
    private var last: Double?
    /// The stamp of the last angle, whether it counted or not.
    private var lastNanoseconds: Int64?

    package init() {}

    /// The angle in degrees, from 0 to 360, from the accelerations of both parts in one unit; `nil` when it cannot be known.
    ///
    /// `isFolded` is the state of a switch, where there is one; the stamp is the screen's.
    package mutating func degrees(
        screen: SIMD3<Float>, base: SIMD3<Float>, in frame: OrientationSettings.Frame, isFolded: Bool?,
        at timeNanoseconds: Int64
    ) -> Double? {
        guard Self.isAcross(screen), Self.isAcross(base) else { return nil }
        let turn = atan2(Double(screen.z), Double(screen.y)) - atan2(Double(base.z), Double(base.y))
        var angle = (180 + (frame == .desktop ? -turn : turn) * 180 / .pi).truncatingRemainder(dividingBy: 360)
        if angle < 0 { angle += 360 }
        if let lastNanoseconds, isGap(from: lastNanoseconds, to: timeNanoseconds, limit: Self.tipNanoseconds) {
            last = nil
        }
        lastNanoseconds = timeNanoseconds
        guard angle < Self.ambiguousDegrees || angle > 360 - Self.ambiguousDegrees else {
            follow(angle, at: timeNanoseconds)
            return angle
        }
        side.interrupt()
        // A hinge passes through all angles between: one that was beyond flat last cannot be closed now.
        let isBack = isFolded ?? side.value ?? false
        if isBack, angle < 180 { angle = 360 } else if !isBack, angle > 180 { angle = 0 }
        last = angle
        return angle
    }

    /// Takes an angle that is beyond doubt, if both parts were measured at one time.
    ///
    /// The samples of the two parts are some time apart. A turn of the whole device in that time looks like one of the hinge, also through
    /// closed or folded back, where a hinge ends.
    private mutating func follow(_ angle: Double, at timeNanoseconds: Int64) {
        let isThroughFlat = last.map { abs(angle - $0) < 180 } ?? true
        guard isThroughFlat || side.isDue(angle > 180, at: timeNanoseconds) else { return }
        side.accept(angle > 180)
        last = angle
    }

    private static func isAcross(_ force: SIMD3<Float>) -> Bool {
        let squares = force * force
        return squares.y + squares.z >= leastAcross * squares.sum()
    }

    /// Forgets an angle that has not lasted long enough.
    mutating func interrupt() { side.interrupt() }

    /// Forgets on which side of flat the hinge was.
    mutating func forget() {
        side.accept(nil)
        (last, lastNanoseconds) = (nil, nil)
    }
}

extension Posture {
    /// The angles between the postures, in degrees, and the half of their hysteresis.
    static let limits = [15.0, 190, 330]
    static let halfHysteresis = 5.0
    static let order: [Posture] = [.closed, .laptop, .tent, .tablet]

    /// The posture that an angle means, after another one.
    package static func of(_ degrees: Double, after current: Posture?) -> Posture {
        guard var index = current.flatMap({ order.firstIndex(of: $0) }) else {
            return order[limits.count { degrees > $0 }]
        }
        while index < limits.count, degrees > limits[index] + halfHysteresis { index += 1 }
        while index > 0, degrees < limits[index - 1] - halfHysteresis { index -= 1 }
        return order[index]
    }
}
