/// The constants of the fusion; angles in degrees, rates in °/s.
///
/// The structure and most values are those of VQF (D. Laidig, T. Seel, Information Fusion 91, 2023,
/// doi:10.1016/j.inffus.2022.10.014). ``published`` has that paper's own ones; the defaults differ where recordings with an
/// optical reference showed a gain.
package struct FusionSettings: Sendable, Equatable {
    /// The time constant of the inclination's correction by the accelerometer.
    package var inclinationSeconds = 3.0
    /// The time constant of the heading's correction by the magnetometer.
    package var headingSeconds = 9.0

    // Rest.
    package var restSmoothingSeconds = 0.5
    package var restRate = 2.0
    /// In m/s².
    package var restAcceleration = 0.5
    package var restSeconds = 1.5
    /// How long rest has to last while the offset is not known.
    package var unknownRestSeconds = 3.0
    /// Whether a slow steady turn is told from rest: by the offset once that is known, by the field before.
    package var guardsAgainstSteadyTurns = true

    // The gyroscope's offset.
    package var largestOffset = 10.0
    /// The limit of what the inclination's correction may say about the offset at once.
    package var largestMotionInnovation = 2.0
    package var startSigma = 0.5
    package var motionSigma = 0.1
    package var restSigma = 0.03
    /// The time in which the standard deviation of the offset grows from 0 to 0.1°/s.
    package var forgettingSeconds = 100.0
    package var verticalForgetting = 0.0001
    /// Whether an offset that turns out to be another one at rest begins the orientation again.
    package var restartsWithOffset = true
    /// From when on the offset is estimated in motion: the first correction of the inclination is no offset.
    package var motionEstimateFromSeconds = 6.0

    // The field.
    package var fieldSmoothingSeconds = 0.05
    package var fieldReferenceSeconds = 20.0
    package var fieldStrengthShare = 0.1
    package var fieldDip = 10.0
    package var undisturbedSeconds = 0.5
    package var firstFieldSeconds = 5.0
    package var newFieldSeconds = 20.0
    /// The rate from which time counts for a new reference field, and for the first one.
    package var newFieldRate = 20.0
    package var firstFieldRate = 0.0
    package var longestRejectionSeconds = 60.0
    package var rejectionFactor = 2.0
    /// Whether a magnet right after the first reference field is rejected for the whole time.
    package var firstFieldEndsRejection = true
    /// The field strengths that are the Earth's, in µT; `nil` takes any.
    package var plausibleField: ClosedRange<Double>?
    /// The least level part of the field, in the field's unit.
    package var leastLevelField = 0.0
    /// The standard deviation of the field's error after a calibration, on one axis; `nil` is 0.6 % of its strength.
    package var fieldError: Double?

    /// The largest rate that the gyroscope measures, in rad/s; `nil` when it is not known.
    package var gyroscopeRange: Float?
    /// Whether the gyroscope reports only changes: its rate holds until the next report.
    package var gyroscopeReportsOnChange = false
    package var accuracyLimit: Double? = 45

    /// The defaults.
    package init() {}

    /// The published constants, as the reference implementation has them.
    package static var published: FusionSettings {
        var settings = FusionSettings()
        settings.largestOffset = 2
        settings.unknownRestSeconds = settings.restSeconds
        settings.guardsAgainstSteadyTurns = false
        settings.restartsWithOffset = false
        settings.motionEstimateFromSeconds = 0
        settings.firstFieldRate = settings.newFieldRate
        settings.firstFieldEndsRejection = false
        return settings
    }
}

/// What a fusion has learned that is worth keeping until the next start.
package struct FusionMemory: Sendable, Equatable {
    /// The gyroscope's offset in rad/s.
    package var offset: SIMD3<Double>
    /// Its standard deviation on each axis, in °/s.
    package var sigmaDegrees: SIMD3<Double>
    /// The undisturbed field: its strength, in the field's unit, and its dip in degrees; `nil` when it is not known.
    package var field: (strength: Double, dipDegrees: Double)?

    package init(
        offset: SIMD3<Double>, sigmaDegrees: SIMD3<Double>, field: (strength: Double, dipDegrees: Double)? = nil
    ) {
        self.offset = offset
        self.sigmaDegrees = sigmaDegrees
        self.field = field
    }

    /// What a fusion knows that has learned nothing.
    static func nothing(_ settings: FusionSettings) -> FusionMemory {
        FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: settings.startSigma))
    }

    /// What it is worth after a time: an offset moves with the temperature.
    package func aged(seconds: Double) -> FusionMemory {
        let growth = 0.1 * 0.1 * max(seconds, 0) / 100
        var aged = self
        for axis in 0..<3 {
            let square = sigmaDegrees[axis] * sigmaDegrees[axis] + growth
            aged.sigmaDegrees[axis] = min(square.squareRoot(), 0.5)
        }
        return aged
    }

    package static func == (left: FusionMemory, right: FusionMemory) -> Bool {
        left.offset == right.offset && left.sigmaDegrees == right.sigmaDegrees
            && left.field?.strength == right.field?.strength && left.field?.dipDegrees == right.field?.dipDegrees
    }
}
