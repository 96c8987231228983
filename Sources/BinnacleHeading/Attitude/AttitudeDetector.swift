package import Binnacle
import Kernels

/// Finds how a body lies and moves, from an accelerometer and, as far as they are there, a gyroscope and a magnetometer.
///
/// With a gyroscope an attitude is found at each of its samples, and is right in motion as well: its tilt from accelerometer and gyroscope,
/// its turn about the vertical from the magnetometer, or without one from where the body pointed at first. Without a gyroscope it
/// is found at each sample of the accelerometer: tilt from the smoothed acceleration, north while the compass has one. With an
/// accelerometer alone there is a tilt and no turn about the vertical.
///
/// It knows no clock but the samples' stamps.
package final class AttitudeDetector: ReportingDetector {
    package static let kind = "attitude"
    package let name: String
    /// The accelerometer's stream; `nil` when there is none.
    package let accelerometer: SampleStream?
    /// The gyroscope's stream, which may never have a sample; `nil` when there is none.
    package let gyroscope: SampleStream?
    /// The magnetometer's stream; `nil` when there is none.
    package let magnetometer: SampleStream?
    /// How an attitude is found, and when it is reported.
    package let settings: AttitudeSettings
    package weak var delegate: (any DetectorDelegate)?
    /// Roll, pitch, heading or yaw, and its accuracy at each sample that decides an attitude.
    package let rows: MeasuredRows? = MeasuredRows()
    package private(set) var isDetecting = false
    package private(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// The latest attitude, for the thread of the samples; `nil` while there is none.
    package private(set) var latest: DeviceMotion?

    /// The streams of the gyroscope, the accelerometer and the magnetometer, as far as they are there.
    package let streams: [SampleStream]
    /// What is known of the gyroscope, as of the end of the last delivery; `nil` while there is none.
    package var gyroscopeState: GyroscopeState? { fused?.fused.state }

    private let axes: BodyAxes
    private var fused: FusedAttitude?
    private var level: LevelAttitude
    private var lastRateNanoseconds: Int64?
    /// Since when rates come and do not make an attitude.
    private var missingNanoseconds: Int64?
    private var isFailureTold = false
    /// Whether the fusion has begun again, and has not found north yet, which may be known without it.
    private var isReturning = false
    private var lastFoundNanoseconds: Int64?
    private let gapLimitNanoseconds: Int64
    private var filter: AttitudeFilter
    private var heel: AngleLimit?
    private var pitch: AngleLimit?
    /// Called with each attitude, for sequences of a session, until they return `false`.
    package var readers: [(DeviceMotion) -> Bool] = []

    private static let silenceNanoseconds: Int64 = 1_000_000_000

    /// Creates a detector that does not detect yet.
    ///
    /// - Parameters:
    ///   - name: The name that events carry.
    ///   - accelerometer: The stream that says what is up; without one, a start tells *device not available*.
    ///   - gyroscope: The stream that says how the device turns; `nil` when it is not used.
    ///   - magnetometer: The stream that says where north is; `nil` makes the turn about the vertical relative.
    ///   - settings: How to find an attitude, and when to report one.
    /// - Precondition: ``AttitudeSettings/problems()`` finds none.
    package init(
        name: String = "attitude", accelerometer: SampleStream?, gyroscope: SampleStream? = nil,
        magnetometer: SampleStream? = nil, settings: AttitudeSettings = AttitudeSettings()
    ) {
        settings.requireValid()
        self.name = name
        self.accelerometer = accelerometer
        self.gyroscope = gyroscope
        self.magnetometer = magnetometer
        streams = [gyroscope, accelerometer, magnetometer].compactMap { $0 }
        self.settings = settings
        axes = BodyAxes(settings.frame, forward: settings.forwardAxis, up: settings.upAxis)
        level = LevelAttitude(accelerometer: accelerometer, magnetometer: magnetometer, settings: settings)
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        filter = AttitudeFilter(degrees: settings.filterDegrees)
        heel = AngleLimit(.heelBegan, settings: settings)
        pitch = AngleLimit(.pitchBegan, settings: settings)
    }

    /// Starts with the next delivery, in the state of a new detector; does nothing while detecting.
    ///
    /// Without an accelerometer, or with one that is inactive, the delegate is told *device not available* and detection
    /// stays off.
    package func startDetection() {
        guard !isDetecting else { return }
        guard let accelerometer, accelerometer.sensor.isActive else {
            delegate?.collect(.detectorUnavailable, self, because: "no active accelerometer")
            return
        }
        fused = FusedAttitude(
            gyroscope, accelerometer: accelerometer, magnetometer: magnetometer, settings: settings)
        level = LevelAttitude(accelerometer: accelerometer, magnetometer: magnetometer, settings: settings)
        (isFailureTold, isReturning) = (false, false)
        (lastRateNanoseconds, lastFoundNanoseconds, missingNanoseconds, latest) = (nil, nil, nil, nil)
        filter.reset()
        heel?.reset()
        pitch?.reset()
        isDetecting = true
    }

    /// Stops at once and forgets what was under way.
    package func stopDetection() {
        isDetecting = false
        latest = nil
    }

    /// Tells the delegate when one of its streams is among those that failed: there is no attitude any more without the accelerometer, and
    /// less of one without another.
    package func didLose(_ streams: [SampleStream], because error: any Error) {
        func isLost(_ stream: SampleStream?) -> Bool { streams.contains { $0.id == stream?.id } }
        guard isDetecting, isLost(accelerometer) || isLost(gyroscope) || isLost(magnetometer) else { return }
        // A gyroscope that has never delivered takes nothing away.
        let takesAway = isLost(accelerometer) || isLost(magnetometer) || lastRateNanoseconds != nil
        if isLost(accelerometer) || isLost(gyroscope) { interrupt() }
        if isLost(accelerometer) {
            handleMissing()
            // The loss is told, and no silence beside it.
            isFailureTold = true
        }
        if takesAway { fail(error, delegate) }
    }

    /// Looks at the batches and tells the delegate what they mean.
    package func process(_ delivery: SampleDelivery) {
        rows?.removeAll()
        guard isDetecting, let accelerometer, let up = delivery.index(of: accelerometer.id) else { return }
        let north = magnetometer.flatMap { delivery.index(of: $0.id) }
        let turning = gyroscope.flatMap { delivery.index(of: $0.id) }
        // The fusion begins again where stamps do not tell how long nothing came.
        if delivery.hidesTime(of: gyroscope?.id) { interrupt() }
        let accelerations = delivery.batches[up].columns
        var samples = MergedSamples(
            accelerations, at: up, field: north.map { delivery.batches[$0].columns } ?? accelerations.slice(0..<0),
            at: north ?? 0,
            rates: turning.map { delivery.batches[$0].columns }, at: turning ?? 0)
        level.begin(accelerations.count)
        let delegate = self.delegate
        while let sample = samples.next() {
            switch sample {
            case .field(let index):
                let (time, field) = (samples.field.times[index], samples.field.vector(index))
                fused?.fused.update(field: field, at: time)
                level.update(field: field, iron: fused?.fused.iron, at: time)
            case .acceleration(let index):
                position = accelerations.position(of: index, at: up)
                take(acceleration: accelerations.vector(index), at: accelerations.times[index], delegate)
            case .rate(let index):
                guard let rates = samples.rates, let turning else { continue }
                position = rates.position(of: index, at: turning)
                take(rate: rates.vector(index), at: rates.times[index], delegate)
            }
        }
    }

    private func take(acceleration: SIMD3<Float>, at time: Int64, _ delegate: (any DetectorDelegate)?) {
        fused?.update(acceleration: acceleration, at: time)
        level.update(acceleration: acceleration, at: time)
        // With the first rate the fusion is waited for: an attitude without it would have another yaw.
        if let last = lastRateNanoseconds, fused?.fused.found.axes == nil, !isReturning {
            guard isGap(from: last, to: time, limit: Self.silenceNanoseconds) else { return }
            interrupt()
            tell(.gyroscopeSilent, delegate)
        }
        guard let found = level.find(at: time) else { return handleMissing() }
        handle(found, at: time, delegate)
    }

    private func take(rate: SIMD3<Float>, at time: Int64, _ delegate: (any DetectorDelegate)?) {
        let failure = fused?.fused.update(rate: rate, at: time)
        lastRateNanoseconds = time
        if let failure {
            // Its turns are not those of the compass: tilt and north are better without it.
            fail(failure, delegate)
        }
        guard fused?.fused.found.axes == nil else { return }
        let found = fused?.find(at: time)
        if isReturning {
            // North has to be found again with the turns; until then it is known without them, unless they have shown that it is wrong.
            guard
                Self.isNorth(found?.reference) || !Self.isNorth(latest?.reference)
                    || found?.fault == .magnetometerMisaligned
            else { return }
            isReturning = false
        }
        guard let found else {
            // The vertical of a fusion is lost with its accelerometer alone.
            let since = missingNanoseconds ?? time
            missingNanoseconds = since
            guard lastFoundNanoseconds != nil, isGap(from: since, to: time, limit: Self.silenceNanoseconds) else {
                return
            }
            handleMissing()
            return tell(.accelerometerSilent, delegate)
        }
        (missingNanoseconds, isFailureTold) = (nil, false)
        handle(found, at: time, delegate)
    }

    private static func isNorth(_ reference: HeadingReference?) -> Bool { reference != nil && reference != .relative }

    /// Begins again without the gyroscope's turns; what was learned of it stays.
    private func interrupt() {
        fused?.interrupt()
        (lastRateNanoseconds, isReturning) = (nil, magnetometer != nil)
    }

    private func tell(_ failure: AttitudeFailure, _ delegate: (any DetectorDelegate)?) {
        guard !isFailureTold else { return }
        isFailureTold = true
        fail(failure, delegate)
    }

    /// Reports a failure, behind which readers have no attitude until the next one is reported.
    private func fail(_ failure: any Error, _ delegate: (any DetectorDelegate)?) {
        filter.reset()
        delegate?.collect(.detectorFailed, self, because: failure)
    }

    private func handleMissing() {
        latest = nil
        filter.reset()
        heel?.interrupt()
        pitch?.interrupt()
    }

    /// Tells what an attitude means.
    private func handle(_ found: FoundAttitude, at time: Int64, _ delegate: (any DetectorDelegate)?) {
        if let last = lastFoundNanoseconds, isGap(from: last, to: time, limit: gapLimitNanoseconds) {
            heel?.interrupt()
            pitch?.interrupt()
        }
        lastFoundNanoseconds = time
        let motion = DeviceMotion(
            found, at: time, in: axes, declinationDegrees: settings.localField?.declinationDegrees)
        latest = motion
        rows?.append(
            time,
            SIMD4(
                Float(motion.rollDegrees ?? .nan), Float(motion.pitchDegrees),
                Float((magnetometer == nil ? motion.yawDegrees : motion.headingDegrees) ?? .nan),
                Float(motion.yawAccuracyDegrees ?? .nan)))
        readers.removeAll { take in !take(motion) }
        if filter.update(motion) { delegate?.collect(.attitudeChanged, self, motion) }
        if let limit = heel?.update(motion) { delegate?.collect(limit.kind, self, limit) }
        if let limit = pitch?.update(motion) { delegate?.collect(limit.kind, self, limit) }
    }

    /// What the body is beyond.
    var limitState: (isHeeled: Bool, isPitched: Bool) { (heel?.isBeyond ?? false, pitch?.isBeyond ?? false) }
}

/// Why an attitude is less than it could be.
package enum AttitudeFailure: SampleFailure, Equatable, CustomStringConvertible {
    case gyroscopeSilent
    case accelerometerSilent

    package var description: String {
        switch self {
        case .gyroscopeSilent: "no gyroscope sample for a second: the attitude is found without it until it is back"
        case .accelerometerSilent: "no new accelerometer sample for a second: there is no attitude until there is one"
        }
    }
}
