import Binnacle
import SensorGeometry

/// Finds the heading from an accelerometer and a magnetometer: smooths both, watches the field's strength, and has gates that close
/// where the two do not show it.
///
/// It is one value of its detector, because each access to a property of an object is checked at run time.
struct CompassHeading {
    /// Told what has become of the field's strength.
    typealias FieldChange = (InterferenceMonitor.Change, FieldEvent) -> Void

    /// Whether the field's strength is off: iron is nearby, or the calibration is wrong.
    var isDisturbed: Bool { interference?.isOn ?? false }
    /// Whether gravity seems to point up.
    var isReversed: Bool { gate.isReversed }
    /// The strength of the field, smoothed, in µT.
    var fieldStrength: Double { Double(field.length) }
    /// The strength that the field should have, in µT; `nil` when it is not known.
    var expectedStrength: Double? { interference?.expected }
    /// The stamp of the last acceleration; `nil` before the first one.
    var lastAccelerationNanoseconds: Int64? { acceleration.lastTimeNanoseconds }

    private let settings: NorthSettings
    private let maximumAgeNanoseconds: Int64
    private var accuracy: HeadingAccuracy
    private var finder: HeadingFinder
    private var gate: HeadingGate
    private var interference: InterferenceMonitor?
    private var acceleration: SmoothedVector
    private var field: SmoothedVector
    private var fieldHistory = FieldHistory()
    /// The iron that is taken from the field, and the one with which its strength and dip were learned.
    private var iron = SIMD3<Float>.zero
    private var learnedIron = SIMD3<Float>.zero
    /// Learns the iron while no gyroscope shows it; `nil` where a calibration has taken it.
    private var sphere: IronSphere?
    /// The magnetometer whose iron it is; `nil` while a calibration has taken a part of it.
    private var device: Sensor?
    /// What that was when its iron was recalled.
    private var recalled: MountedSensor?
    /// Whether a gyroscope shows the iron, better than the sphere does.
    private var isIronShown = false
    /// From the middle of a measurement until a program has stamped it, behind an I2C bus.
    private static let latencySeconds = 0.01
    /// The departure of the iron in µT from which on strength and dip are others.
    private static let ironChange: Float = 2

    init(settings: NorthSettings, accelerometer: SampleStream?, magnetometer: SampleStream?) {
        self.settings = settings
        maximumAgeNanoseconds = Units.nanoseconds(settings.maximumMagnetometerAge)
        let calibration = magnetometer?.sensor.calibration?.magnetometer
        let ironSigma =
            settings.plausibleFieldMicrotesla == nil ? nil : LearnedIron.startSigma(magnetometer?.sensor, settings)
        // Where turns show the iron, how well they do counts instead of what the calibration says.
        accuracy = HeadingAccuracy(
            settings: settings, calibration: ironSigma == nil ? calibration : nil,
            noise: magnetometer?.sensor.noise(of: .magnetometer) ?? 0, tiltError: TiltError.of(accelerometer))
        finder = HeadingFinder(settings: settings)
        gate = HeadingGate(settings: settings)
        // The field's strength is compared with the calibration's, else with the place's, else with what it was before.
        interference = InterferenceMonitor(
            settings: settings,
            expected: calibration?.fieldMicrotesla
                // A source that does not measure in microtesla cannot be compared with the place.
                ?? (settings.plausibleFieldMicrotesla == nil ? nil : settings.localField?.fieldMicrotesla))
        acceleration = SmoothedVector(settings: settings)
        field = SmoothedVector(settings: settings)
        if let ironSigma {
            sphere = IronSphere(ironSigma: ironSigma)
            accuracy.ironSigma = ironSigma
            device = calibration == nil ? magnetometer?.sensor : nil
        }
    }

    /// The iron that is worth keeping until the next start; `nil` while there is none.
    var state: GyroscopeState? {
        guard let device, let errors = sphere?.errors else { return nil }
        var memory = FusionMemory.nothing(FusionSettings())
        memory.errors = errors
        return GyroscopeState(
            gyroscope: nil, magnetometer: device.magnetometerDevice, memory: memory, isLearned: true, isAtRest: true,
            secondsAlone: nil, hasGyroscope: false)
    }

    /// Takes a sample of the accelerometer; one that is not finite is left out.
    ///
    /// - Returns: Whether the filter started again; what depends on it has to warm up then.
    mutating func update(acceleration sample: SIMD3<Float>, at time: Int64) -> Bool {
        acceleration.update(sample, timeNanoseconds: time)
    }

    /// Takes the hard iron that a gyroscope has shown; `nil` while none does.
    mutating func update(iron: LearnedIron?) {
        isIronShown = iron != nil
        if let iron { learn(iron) }
    }

    private mutating func learn(_ iron: LearnedIron) {
        // What was smoothed with other iron would be wrong for some time constants, and the accuracy is at once that of this one.
        if iron.offset != self.iron { field.shift(by: self.iron - iron.offset) }
        self.iron = iron.offset
        accuracy.ironSigma = iron.sigma
        let change = iron.offset - learnedIron
        guard (change * change).sum() > Self.ironChange * Self.ironChange else { return }
        learnedIron = iron.offset
        interference?.relearn()
        gate = HeadingGate(settings: settings)
    }

    /// Takes a sample of the magnetometer; returns whether the filter started again, so that what depends on it warms up.
    mutating func update(field sample: SIMD3<Float>, at time: Int64) -> Bool {
        learnIron(sample, at: time)
        let startsAgain = field.update(sample - iron, timeNanoseconds: time)
        if let time = field.lastTimeNanoseconds {
            fieldHistory.append(
                FieldHistory.Field(
                    vector: field.value, recent: field.recent, strength: field.length, iron: iron,
                    timeNanoseconds: time))
        }
        return startsAgain
    }

    /// Learns the iron from a sample, where no gyroscope shows it.
    private mutating func learnIron(_ sample: SIMD3<Float>, at time: Int64) {
        let up = Vector3(acceleration.recent)
        guard sphere != nil, up != .zero else { return }
        // Only now it is known which device it is.
        if let device, let current = device.magnetometerDevice, current != recalled {
            if recalled != nil { sphere = LearnedIron.startSigma(device, settings).map { IronSphere(ironSigma: $0) } }
            recalled = current
            if let errors = device.recalledMagnetometer?.errors { sphere?.recall(errors) }
        }
        let size = length(up)
        // What accelerates the device tilts the vertical, and so does a turn that the smoothing follows late.
        let lag = length(up - Vector3(acceleration.value))
        let tilt = (lag + abs(size - Gravity.standard)) / Gravity.standard
        sphere?.update(Vector3(sample), up: up / size, tilt: tilt, at: time)
        // Read in place: bound to a name, the sphere would be copied at each sample, covariance and all.
        guard !isIronShown, let iron = sphere?.iron, let sigma = sphere?.sigma(levelTo: up / size) else { return }
        learn(LearnedIron(offset: SIMD3<Float>(iron), sigma: sigma))
    }

    /// Finds the heading at a sample of the accelerometer that was taken, or throws why there is none; adds a row to the columns.
    mutating func find(
        at time: Int64, into columns: inout HeadingColumns, fieldChanged: FieldChange
    ) throws(HeadingFault) -> HeadingHold.Source {
        guard let field = pairedField(at: time) else { throw .magnetometerMissing }
        let strength = Double(field.strength)
        // The gates would judge a field that is mostly iron.
        if sphere != nil, !isIronShown, accuracy.isIronTooLarge(in: strength) { throw .ironUnknown }
        let pointing = try watch(field, at: time, fieldChanged)
        let degrees: Double
        do {
            degrees = try accuracy.degrees(
                pointing, acceleration: acceleration.recent, field: field.recent, strength: strength,
                expectedStrength: interference?.expected ?? strength, tiltVariance: gate.tiltVariance,
                dipVariance: gate.dipVariance, turn: gate.turn, lateness: lateness(of: field, at: time))
        } catch {
            throw sphere != nil && accuracy.ironSigma > LearnedIron.knownShare * strength ? .ironUnknown : error
        }
        columns.append(
            pointing.axis, acceleration: acceleration.value, field: field.vector, accuracyDegrees: Float(degrees))
        return HeadingHold.Source(pointing: pointing, accuracyDegrees: degrees, timeNanoseconds: time)
    }

    /// By how many times the lag of the smoothing, its time constant, a field is late in a turn: by its age and its latency as well.
    private func lateness(of field: FieldHistory.Field, at time: Int64) -> Double {
        let seconds = settings.smoothing / .seconds(1)
        let age = Units.seconds(from: field.timeNanoseconds, to: time) + Self.latencySeconds
        return seconds > 0 ? 1 + age / seconds : 1
    }

    /// Shows the gates and the watch over the field a sample of the accelerometer that was taken, where the fusion has the heading:
    /// so they stay ready.
    mutating func watch(at time: Int64, fieldChanged: FieldChange) {
        guard let field = pairedField(at: time) else { return }
        _ = try? watch(field, at: time, fieldChanged)
    }

    /// The field as it was known at a stamp, without the iron that is known now.
    private func pairedField(at time: Int64) -> FieldHistory.Field? {
        fieldHistory.latest(notAfter: time, maximumAge: maximumAgeNanoseconds)?.without(iron)
    }

    /// Shows the gates and the watch over the field a sample; finds the axis that has a heading.
    private mutating func watch(
        _ field: FieldHistory.Field, at time: Int64, _ fieldChanged: FieldChange
    ) throws(HeadingFault) -> HeadingFinder.Pointing {
        // A sample that was not finite left the filter where it was: its stamp would not fit the value.
        guard acceleration.lastTimeNanoseconds == time else { throw .accelerationWeak }
        guard settings.localField?.zone != .blackout else { throw .blackout }
        let strength = Double(field.strength)
        if let change = interference?.update(strength, at: time), let expected = interference?.expected {
            fieldChanged(
                change, FieldEvent(timeNanoseconds: time, fieldMicrotesla: strength, expectedMicrotesla: expected))
        }
        let expected = interference?.expected ?? strength
        // Unconfirmed, it makes no event, but there is no heading in such a field either.
        let isDisturbed = interference.map { $0.isOn || $0.isOff } ?? false
        let pointing: HeadingFinder.Pointing
        do {
            pointing = try finder.find(acceleration: acceleration.value, field: field)
        } catch {
            throw isDisturbed ? .interference : error
        }
        let fault = gate.update(
            pointing.attitude, strength: (strength, expected > 0 ? strength / expected : 1),
            accelerationLength: Double(acceleration.length), isDisturbed: isDisturbed, at: time)
        if isDisturbed { throw .interference }
        if let fault { throw fault }
        return pointing
    }
}
