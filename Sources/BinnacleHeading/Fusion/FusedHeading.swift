import Binnacle
import Glibc
import Kernels
import SensorGeometry

/// What a ``NorthDetector`` keeps of its gyroscope: the fusion, and whether it decides the heading.
///
/// It is an object, because a fusion is large: read from an optional value, it would be copied at every sample.
final class FusedHeading {
    private var fusion: Fusion
    /// What the fusion found at the last rate.
    private(set) var found = FusionFinding()
    /// Whether the heading is the fusion's; else it is the compass'.
    private(set) var isDeciding = false
    /// The last failure that was reported since there was a heading.
    private var reportedFailure: FusionFailure?
    private var lastRateNanoseconds: Int64?
    private let gyroscope: SampleStream
    private let settings: NorthSettings
    private let magnetometer: Sensor?
    private let accuracy: HeadingAccuracy
    /// Chooses the axis by the fusion's attitude, which is steadier than the compass'.
    private var finder: HeadingFinder
    private let constants: FusionSettings
    /// The field of the place, which is better than what an earlier run has learned.
    private let placeField: (strength: Double, dipDegrees: Double)?
    /// The strength that the calibration has; a field that was learned with another one is none.
    private let calibratedStrength: Double?
    private static let strengthShare = 0.1
    /// The sensors of which the fusion has learned.
    private var gyroscopeDevice: MountedSensor?
    private var magnetometerDevice: MountedSensor?

    /// Without a rate for so long the compass decides.
    private static let silenceNanoseconds: Int64 = 1_000_000_000

    /// Creates a fusion with what the settings and a calibration say of the place; `nil` without a gyroscope.
    init?(
        _ gyroscope: SampleStream?, settings: NorthSettings, accelerometer: SampleStream?, magnetometer: SampleStream?
    ) {
        guard let gyroscope else { return nil }
        self.gyroscope = gyroscope
        self.settings = settings
        self.magnetometer = magnetometer?.sensor
        finder = HeadingFinder(settings: settings)
        var constants = FusionSettings()
        constants.plausibleField = settings.plausibleFieldMicrotesla
        constants.leastLevelField = settings.minimumHorizontalFieldMicrotesla
        constants.accuracyLimit = settings.accuracyLimitDegrees
        let calibration = magnetometer?.sensor.calibration?.magnetometer
        constants.fieldNoise = magnetometer?.sensor.noise(of: .magnetometer) ?? 0
        // White noise of the density n leaves n/√(2T) of a mean over T.
        constants.restSigma = max(
            constants.restSigma,
            gyroscope.sensor.noise(of: .gyroscope) * 180 / .pi / (2 * constants.restSeconds).squareRoot())
        constants.tiltError = TiltError.of(accelerometer)
        accuracy = HeadingAccuracy(
            settings: settings, calibration: calibration, noise: constants.fieldNoise, tiltError: constants.tiltError)
        if let ironSigma = LearnedIron.startSigma(magnetometer?.sensor, settings) {
            constants.isFieldCalibrated = false
            constants.ironSigma = ironSigma
        } else {
            constants.fieldError = calibration?.residualMicrotesla
        }
        constants.ironIsOfDevice = calibration == nil
        constants.learnsSensors = settings.plausibleFieldMicrotesla != nil
        // A source that does not measure in microtesla cannot be compared with the place.
        if settings.plausibleFieldMicrotesla != nil, let place = settings.localField, let dip = place.dipDegrees {
            placeField = (calibration?.fieldMicrotesla ?? place.fieldMicrotesla, dip)
        } else {
            placeField = nil
        }
        self.constants = constants
        calibratedStrength = settings.plausibleFieldMicrotesla == nil ? nil : calibration?.fieldMicrotesla
        fusion = Self.fusion(constants, placeField, recalling: nil)
    }

    private static func fusion(
        _ constants: FusionSettings, _ place: (strength: Double, dipDegrees: Double)?, recalling memory: FusionMemory?
    ) -> Fusion {
        guard var memory = memory ?? place.map({ _ in FusionMemory.nothing(constants) }) else {
            return Fusion(settings: constants)
        }
        memory.field = place ?? memory.field
        return Fusion(settings: constants, memory: memory)
    }

    /// Begins with what an earlier run has learned of the sensors, and forgets what this one has of another gyroscope.
    private func recall() {
        guard gyroscope.sensor.gyroscopeDevice != gyroscopeDevice else { return }
        gyroscopeDevice = gyroscope.sensor.gyroscopeDevice
        magnetometerDevice = magnetometer?.magnetometerDevice
        let (rates, field) = (gyroscope.sensor.recalledGyroscope, recalledMagnetometer)
        let isKnown = rates != nil || field != nil
        fusion = Self.fusion(
            constants, placeField,
            recalling: isKnown ? (rates ?? FusionMemory.nothing(constants)).with(magnetometer: field) : nil)
    }

    private var recalledMagnetometer: FusionMemory? {
        var memory = magnetometer?.recalledMagnetometer
        if let calibratedStrength, let known = memory?.field?.strength,
            abs(known - calibratedStrength) > Self.strengthShare * calibratedStrength
        {
            memory?.field = nil
        }
        return memory
    }

    /// Follows a magnetometer that was opened later than the gyroscope, or is another one than before.
    private func followMagnetometer() {
        guard let device = magnetometer?.magnetometerDevice, device != magnetometerDevice else { return }
        let isOther = magnetometerDevice != nil
        magnetometerDevice = device
        var memory = recalledMagnetometer
        // A first one of which nothing is known is what the fusion has begun with.
        guard isOther || memory != nil else { return }
        if let placeField {
            memory = memory ?? FusionMemory.nothing(constants)
            memory?.field = placeField
        }
        fusion.replaceMagnetometer(memory)
    }

    /// Whether there was a rate of a device.
    var isOfDevice: Bool { gyroscopeDevice != nil }

    /// What is known of the gyroscope; `nil` while there is none.
    var state: GyroscopeState? {
        guard isFed else { return nil }
        return gyroscope.sensor.gyroscopeState(
            fusion.memory, magnetometer: magnetometer, isLearned: fusion.hasLearned, isAtRest: fusion.isAtRest,
            secondsAlone: magnetometer == nil ? nil : fusion.secondsOnGyroscopeAlone)
    }

    /// The hard iron that turns have shown, which a compass has to take from the field as well, and how well it is known; `nil` where
    /// the turns are not those of the compass.
    var iron: LearnedIron? {
        guard isFed, found.axes == nil, found.fault != .axesWrong, found.fault != .fieldAxesWrong,
            constants.learnsSensors, !constants.isFieldCalibrated
        else { return nil }
        return LearnedIron(offset: SIMD3<Float>(found.iron), sigma: found.ironSigma)
    }

    /// The strength of the field, smoothed, in µT.
    var fieldStrength: Double { found.fieldStrength }

    /// Whether there was a rate, so that the fusion needs the other samples.
    var isFed: Bool { lastRateNanoseconds != nil }

    /// What is known of the movement at the last rate; `nil` without a vertical.
    func motion() -> FusedMotion? { isFed ? fusion.motion() : nil }

    /// Gravity at a stamp, in m/s², in the device's frame; `nil` without a vertical.
    func gravity(at time: Int64) -> Vector3? { isFed ? fusion.shownGravity(at: time) : nil }

    /// Takes a rate; returns what the delegate is to be told of the sensors, once.
    func update(rate: SIMD3<Float>, at time: Int64) -> FusionFailure? {
        if lastRateNanoseconds == nil {
            recall()
            fusion.setGyroscope(of: gyroscope.sensor)
        }
        lastRateNanoseconds = time
        let found = fusion.find(gyroscope: rate, at: time)
        self.found = found
        if found.fault?.isOfCompass ?? false {
            isDeciding = true
            if found.fault == .fieldAxesWrong { return failure(.magnetometerAxes) }
        } else if let finding = found.axes {
            isDeciding = false
            return failure(.axes(finding))
        }
        if found.fault == nil {
            isDeciding = true
            reportedFailure = nil
        } else if found.fault == .ironUnknown {
            // A compass knows even less.
            isDeciding = true
        } else if found.fault?.isOfStart ?? false {
            isDeciding = false
        }
        return nil
    }

    /// Finds the heading at the last rate, or throws why there is none; adds a row to the columns.
    func find(at time: Int64, into columns: inout HeadingColumns) throws(HeadingFault) -> HeadingHold.Source {
        guard settings.localField?.zone != .blackout else { throw .blackout }
        let found = found
        if let fault = found.fault { throw fault.headingFault }
        guard !isMirrored(found) else { throw .gravityReversed }
        let attitude = found.attitude
        let pointing = try finder.find(attitude)
        let degrees = try accuracy.degrees(pointing, magnetic: found.accuracyDegrees)
        let turnRate = headingRate(of: pointing.axis.vector, up: attitude.up, rate: found.rate).map { $0 * 180 / .pi }
        columns.append(
            pointing.axis, acceleration: SIMD3<Float>(attitude.up * Gravity.standard),
            field: SIMD3<Float>(attitude.north * attitude.horizontalField + attitude.up * attitude.verticalField),
            accuracyDegrees: Float(degrees), turnRateDegrees: turnRate)
        return HeadingHold.Source(
            pointing: pointing, accuracyDegrees: degrees, timeNanoseconds: time, turnRateDegrees: turnRate)
    }

    /// Whether the field points up where the place has it point down, or the other way round: up or the field has the wrong sign.
    private func isMirrored(_ found: FusionFinding) -> Bool {
        guard let placeField, abs(placeField.dipDegrees) > HeadingGate.leastDipDegrees else { return false }
        return found.verticalField * placeField.dipDegrees > 0
            && abs(found.verticalField) > tan(HeadingGate.leastDipDegrees * .pi / 180) * found.horizontalField
    }

    func update(acceleration: SIMD3<Float>, at time: Int64) {
        if isFed { fusion.update(acceleration: acceleration, at: time) }
    }

    func update(field: SIMD3<Float>, at time: Int64) {
        guard isFed else { return }
        followMagnetometer()
        fusion.update(field: field, at: time)
    }

    /// Notices at a sample of another sensor that the gyroscope is silent.
    func missRate(at time: Int64) -> FusionFailure? {
        // Without the gyroscope a magnetometer with other axes has no heading either.
        guard isDeciding, found.fault != .fieldAxesWrong, let last = lastRateNanoseconds,
            isGap(from: last, to: time, limit: Self.silenceNanoseconds)
        else { return nil }
        isDeciding = false
        return failure(.silent)
    }

    /// Begins again, because there are no rates or their stamps say nothing; what was learned stays.
    func interrupt() {
        isDeciding = false
        lastRateNanoseconds = nil
        fusion.restart()
    }

    private func failure(_ failure: FusionFailure) -> FusionFailure? {
        // First turns may speak against the gyroscope.
        guard reportedFailure == nil || failure == .magnetometerAxes && reportedFailure != failure else { return nil }
        reportedFailure = failure
        return failure
    }

}

extension FusionFault {
    /// Whether the fusion has not begun, or cannot: the compass may still have a heading.
    fileprivate var isOfStart: Bool {
        switch self {
        case .gyroscopeMissing, .accelerometerMissing, .fieldMissing, .axesWrong, .settling: true
        case .fieldVertical, .saturated, .inaccurate, .ironUnknown, .accelerometerFrozen, .fieldFrozen, .fieldAxesWrong:
            false
        }
    }

    /// Whether a sensor fails of which the compass makes its headings as well, and knows nothing of it.
    fileprivate var isOfCompass: Bool {
        switch self {
        case .accelerometerFrozen, .fieldFrozen, .fieldAxesWrong: true
        default: false
        }
    }

    /// What is reported to a delegate.
    var headingFault: HeadingFault {
        switch self {
        case .gyroscopeMissing, .axesWrong, .settling, .inaccurate: .inaccurate
        case .accelerometerMissing: .accelerometerMissing
        case .fieldMissing: .magnetometerMissing
        case .fieldVertical: .fieldVertical
        case .ironUnknown: .ironUnknown
        case .saturated: .rateSaturated
        case .accelerometerFrozen: .accelerometerFrozen
        case .fieldFrozen: .magnetometerFrozen
        case .fieldAxesWrong: .magnetometerMisaligned
        }
    }
}

/// What is wrong with the sensors of a fusion.
enum FusionFailure: SampleFailure, Equatable, CustomStringConvertible {
    case silent
    case axes(AxisFinding)
    case magnetometerAxes

    var description: String {
        switch self {
        case .silent: "no gyroscope sample for a second; headings are those of the compass until it is back"
        case .axes(.frozen):
            "the gyroscope repeats one rate, with which gravity does not turn; it is left out until the rate changes"
        case .axes(let finding):
            "the gyroscope turns otherwise than the compass: \(finding); headings are those of the compass. "
                + "Its mount_matrix corrects it, or the magnetometer's where it was turned about the vertical alone"
        case .magnetometerAxes:
            "the magnetometer turns otherwise than the gyroscope and gravity; there is no heading. "
                + "Its mount_matrix corrects it"
        }
    }
}

extension AxisFinding: CustomStringConvertible {
    /// In words.
    package var description: String {
        func name(_ axis: Int) -> String { axis == 0 ? "x" : axis == 1 ? "y" : "z" }
        switch self {
        case .reversed(let axis): return "axis \(name(axis)) is probably reversed"
        case .swapped(let axis, let other): return "axes \(name(axis)) and \(name(other)) are probably swapped"
        case .frozen: return "it repeats one rate"
        case .other: return "its axes or its scale are wrong"
        }
    }
}
