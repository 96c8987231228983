/// The constants of the fusion; angles in degrees, rates in °/s.
///
/// The structure and most values are those of VQF (D. Laidig, T. Seel, Information Fusion 91, 2023,
/// doi:10.1016/j.inffus.2022.10.014). FusionTruthTests has that paper's own ones; the defaults differ where recordings with an
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
    /// Whether the offset about the vertical is also learned in motion, from the magnetometer.
    package var learnsOffsetFromField = true
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
    /// The magnetometer's noise where it was measured, in µT/√Hz; 0 assumes less than the other errors.
    package var fieldNoise = 0.0
    /// What is left of the accelerometer's offset and axes, as a standard deviation of the tilt about a level axis, in radians.
    package var tiltError = 0.0

    /// Whether the hard iron, the gyroscope's scale and the magnetometer's delay are learned from turns; not for a field in another unit.
    package var learnsSensors = true
    /// Whether the hard iron was taken from the field by a calibration where the magnetometer is mounted; else it is learned.
    package var isFieldCalibrated = true
    /// Whether the iron that is learned is all of the device's, which it keeps; not the rest that a calibration has left.
    package var ironIsOfDevice = true
    /// The standard deviation of the hard iron on each axis, in µT, before a turn has shown it.
    package var ironSigma = 35.0
    /// The standard deviation of the gyroscope's scale, before turns have shown it: data sheets of small chips allow 1 to 3 %.
    package var scaleSigma = 0.02

    /// The largest rate that the gyroscope measures, in rad/s; `nil` when it is not known.
    package var gyroscopeRange: Float?
    /// Whether the gyroscope reports only changes: its rate holds until the next report.
    package var gyroscopeReportsOnChange = false
    package var accuracyLimit: Double? = 45

    package init() {}

    /// What of the errors that turns show belongs to the device.
    package func usable(_ errors: SensorErrors) -> SensorErrors {
        ironIsOfDevice ? errors : errors.withoutIron()
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
    /// What turns have shown of the sensors; `nil` when that is nothing.
    package var errors: SensorErrors?

    package init(
        offset: SIMD3<Double>, sigmaDegrees: SIMD3<Double>, field: (strength: Double, dipDegrees: Double)? = nil,
        errors: SensorErrors? = nil
    ) {
        self.offset = offset
        self.sigmaDegrees = sigmaDegrees
        self.field = field
        self.errors = errors
    }

    /// What a fusion knows that has learned nothing.
    package static func nothing(_ settings: FusionSettings) -> FusionMemory {
        FusionMemory(offset: .zero, sigmaDegrees: SIMD3(repeating: settings.startSigma))
    }

    package var ofGyroscope: FusionMemory {
        let scale = errors.flatMap { $0.isScaleKnown ? $0.withoutIron() : nil }
        return FusionMemory(offset: offset, sigmaDegrees: sigmaDegrees, errors: scale)
    }

    package var ofMagnetometer: FusionMemory {
        var memory = FusionMemory.nothing(FusionSettings())
        memory.field = field
        memory.errors = errors.flatMap { $0.isIronKnown ? $0.withoutScale() : nil }
        return memory
    }

    /// It with what is known of a magnetometer in place of what it has of one.
    package func with(magnetometer: FusionMemory?) -> FusionMemory {
        var memory = ofGyroscope
        memory.field = magnetometer?.field
        if let iron = magnetometer?.errors {
            let scale = memory.errors ?? iron.withoutScale()
            memory.errors = SensorErrors(
                iron: iron.iron, ironSigma: iron.ironSigma, scale: scale.scale, scaleSigma: scale.scaleSigma)
        }
        return memory
    }

    /// What it is worth after a time: an offset moves with the temperature.
    package func aged(seconds: Double) -> FusionMemory {
        let growth = 0.1 * 0.1 * max(seconds, 0) / 100
        var aged = self
        for axis in 0..<3 {
            let square = sigmaDegrees[axis] * sigmaDegrees[axis] + growth
            aged.sigmaDegrees[axis] = min(square.squareRoot(), 0.5)
        }
        if let errors { aged.errors = errors.aged(seconds: seconds) }
        return aged
    }

    package static func == (left: FusionMemory, right: FusionMemory) -> Bool {
        left.offset == right.offset && left.sigmaDegrees == right.sigmaDegrees
            && left.field?.strength == right.field?.strength && left.field?.dipDegrees == right.field?.dipDegrees
            && left.errors == right.errors
    }
}

/// What turns have shown to be wrong with a magnetometer and a gyroscope.
package struct SensorErrors: Sendable, Equatable {
    /// The hard iron in µT, in the device's frame, of the samples without a calibration.
    package var iron: SIMD3<Double>
    /// Its standard deviation on each axis.
    package var ironSigma: SIMD3<Double>
    /// What the gyroscope's rates have to be multiplied by.
    package var scale: Double
    /// Its standard deviation.
    package var scaleSigma: Double

    package init(iron: SIMD3<Double>, ironSigma: SIMD3<Double>, scale: Double, scaleSigma: Double) {
        self.iron = iron
        self.ironSigma = ironSigma
        self.scale = scale
        self.scaleSigma = scaleSigma
    }

    /// How far iron and scale move within days, by temperature: as far as a fixed installation lets them.
    private static let (ironDrift, scaleDrift) = (2.0, 0.002)
    private static let daySeconds = 86_400.0

    /// The standard deviations of what is not known, in µT and of the scale: a fusion limits them to its own.
    private static let (unknownIron, unknownScale) = (1000.0, 1.0)

    /// Whether anything is known of the iron.
    package var isIronKnown: Bool { ironSigma.max() < Self.unknownIron }
    /// Whether anything is known of the scale.
    package var isScaleKnown: Bool { scaleSigma < Self.unknownScale }

    /// The scale alone: for a field from which a calibration has taken the iron, because another calibration leaves another one, and
    /// for another magnetometer.
    func withoutIron() -> SensorErrors { .scale(scale, sigma: scaleSigma) }

    /// The iron alone: for another gyroscope.
    func withoutScale() -> SensorErrors { .iron(iron, sigma: ironSigma) }

    /// A scale, while nothing is known of the iron.
    package static func scale(_ scale: Double, sigma: Double) -> SensorErrors {
        SensorErrors(iron: .zero, ironSigma: SIMD3(repeating: unknownIron), scale: scale, scaleSigma: sigma)
    }

    /// Iron, while nothing is known of the scale.
    package static func iron(_ iron: SIMD3<Double>, sigma: SIMD3<Double>) -> SensorErrors {
        SensorErrors(iron: iron, ironSigma: sigma, scale: 1, scaleSigma: unknownScale)
    }

    /// What it is worth after a time: as much less as a day makes it, and no less after longer.
    func aged(seconds: Double) -> SensorErrors {
        let share = min(max(seconds, 0) / Self.daySeconds, 1)
        var aged = self
        for axis in 0..<3 {
            aged.ironSigma[axis] =
                (ironSigma[axis] * ironSigma[axis] + Self.ironDrift * Self.ironDrift * share).squareRoot()
        }
        aged.scaleSigma = (scaleSigma * scaleSigma + Self.scaleDrift * Self.scaleDrift * share).squareRoot()
        return aged
    }
}
