/// The limits of detectors, for pictures and live readings.
extension MotionSettings {
    /// Everything that is compared with an acceleration, in g, or with the rate of turn, in °/s.
    package var limits: [Readings.Limit] {
        var limits: [Readings.Limit] = []
        if features.contains(.motion) {
            switch measure {
            case .userAcceleration:
                limits.append(Readings.Limit("motion", of: "user_g", begin: thresholdG, end: effectiveReleaseG))
            case .linearAcceleration:
                limits.append(Readings.Limit("motion", of: "linear_g", begin: thresholdG, end: effectiveReleaseG))
            case .magnitude:
                limits.append(
                    Readings.Limit("motion", of: "total_g", begin: 1 + thresholdG, end: 1 + effectiveReleaseG))
                limits.append(
                    Readings.Limit(
                        "motion", of: "total_g", isAbove: false, begin: 1 - thresholdG, end: 1 - effectiveReleaseG))
            }
        }
        if features.contains(.shake) {
            limits.append(Readings.Limit("shake", of: "user_g", begin: shakeG, end: shakeG / 2))
        }
        if features.contains(.freeFall) {
            limits.append(Readings.Limit("free fall", of: "total_g", isAbove: false, begin: freeFallG))
        }
        if features.contains(.shock) { limits.append(Readings.Limit("shock", of: "total_g", begin: shockG)) }
        if features.contains(.rotation) {
            limits.append(
                Readings.Limit(
                    "rotation", of: "rate_dps", begin: Float(rotationDegreesPerSecond),
                    end: Float(effectiveRotationRelease)))
        }
        return limits
    }
}

extension NorthSettings {
    /// How near the bearing is faced, and how inaccurate a heading may be.
    package var limits: [Readings.Limit] {
        var limits = [
            Readings.Limit(
                "facing", of: "off_deg", isAbove: false, begin: Float(toleranceDegrees),
                end: Float(effectiveExitDegrees))
        ]
        if let accuracyLimitDegrees {
            limits.append(Readings.Limit("no heading", of: "accuracy_deg", begin: Float(accuracyLimitDegrees)))
        }
        return limits
    }
}

extension OrientationSettings {
    /// How far the screen turns until another edge counts, and how far it leans until another tilt does.
    ///
    /// The measures have no sign: the limits are the same to both sides.
    package var limits: [Readings.Limit] {
        let half = Float(hysteresisDegrees / 2)
        return [
            Readings.Limit("next edge", of: "turn_deg", begin: 45 + half, end: 45 - half),
            Readings.Limit("tilted", of: "lean_deg", begin: 20.5 + half, end: 20.5 - half),
            Readings.Limit("facing up or down", of: "lean_deg", begin: 69.5 + half, end: 69.5 - half),
        ]
    }
}

extension HingeSettings {
    /// The angles beyond which a laptop is set up otherwise.
    package var limits: [Readings.Limit] {
        zip(Posture.limits, Posture.order.dropFirst()).map { degrees, posture in
            Readings.Limit(
                posture.rawValue, of: "angle_deg", begin: Float(degrees + Posture.halfHysteresis),
                end: Float(degrees - Posture.halfHysteresis))
        }
    }
}
