import Kernels

/// Finds motion, shakes, free falls and shocks in the samples of one accelerometer, and tells its delegate.
///
/// With a gyroscope it also finds rotations, and motion that a turn is no part of, as far as the settings ask for them.
///
/// The manager works without a delegate as well; it holds the delegate weakly, and the session keeps it. It looks at
/// every sample, and the sample's stamp is the only clock it knows: the same samples give the same calls, however they
/// are cut into deliveries.
public final class MotionManager: EventDetector {
    package static let kind = "motion"
    /// The name that events carry.
    public let name: String
    /// The accelerometer's stream; `nil` when there is none.
    package let accelerometer: SampleStream?
    /// The gyroscope's stream, which may never have a sample; `nil` when there is none.
    package let gyroscope: SampleStream?
    /// What is looked for.
    package let settings: MotionSettings
    /// Told what is found.
    ///
    /// It is held weakly: who sets it has to keep it, as the session does. It is loaded once a delivery: a change counts from the next.
    package weak var delegate: (any MotionManagerDelegate)?
    /// Whether samples are looked at.
    public private(set) var isDetecting = false
    package private(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)

    /// The streams of the gyroscope and the accelerometer, as far as they are there.
    public let streams: [SampleStream]
    /// What is known of the gyroscope, as of the end of the last delivery; `nil` while none is used.
    package var gyroscopeState: GyroscopeState? { turns?.state }
    /// Whether motion has begun and not ended, at the sample that the delegate is being told about; refused or not.
    package private(set) var isMoving = false
    /// Whether a rotation has begun and not ended, at the sample that the delegate is being told about; refused or not.
    package private(set) var isRotating = false

    private enum Found {
        case event(MotionEvent)
        case moving(Sample)
        case failed(TurnFailure)
    }

    private let gapLimitNanoseconds: Int64
    private let warmUpNanoseconds: Int64
    private var gravity: GravityFilter
    private var motion: DebouncedTrigger
    private var freeFall: DebouncedTrigger
    private var shake: RefractoryTrigger
    private var shock: ShockTrigger
    private var repetition: RepeatTimer
    private var lastTimeNanoseconds: Int64?
    /// The last sample of the last delivery.
    private var lastSample: Sample?
    private var warmAtNanoseconds: Int64 = 0
    /// When movement ended a rest, by the device's own event; told at the first sample after it.
    private var wakingNanoseconds: Int64?
    /// When the device fell, by its own event during the rest; told likewise.
    private var fallingNanoseconds: Int64?
    private var isMotionTold = false
    private var turns: TurnCompensation?
    /// Whether there are ``turns``, which are large to look at for each delivery.
    private var usesTurns = false
    private var rotation: DebouncedTrigger
    private let rotationThreshold: Threshold
    private var isRotationTold = false
    /// The last sample of the gyroscope.
    private var lastRateNanoseconds: Int64?
    /// At samples of the gyroscope, while ``found`` is at those of the accelerometer.
    private var foundRotations = ReportList<RotationEvent>()
    /// The squares of the acceleration without gravity, below 0 where the gyroscope does not tell.
    private let linearSquared = ScratchColumn()
    private let rateSquared = ScratchColumn()
    /// How often detection was started: what was found before a start is not told after it.
    private var startCount = 0
    private var found = ReportList<Found>()
    private let userSquared = ScratchColumn()
    private let totalSquared = ScratchColumn()
    private let motionThreshold: Threshold
    private let freeFallThreshold: Threshold
    /// The features as flags: a set would be asked, and hash, several times a delivery.
    private struct Looks {
        let motion: Bool
        let shake: Bool
        let freeFall: Bool
        let shock: Bool
        let rotation: Bool

        init(_ features: Set<MotionSettings.Feature>) {
            motion = features.contains(.motion)
            shake = features.contains(.shake)
            freeFall = features.contains(.freeFall)
            shock = features.contains(.shock)
            rotation = features.contains(.rotation)
        }
    }

    private let looksFor: Looks
    /// Whether anything that is looked for is about acceleration without gravity.
    let needsGravity: Bool

    /// How many samples are passed over at once when nothing in them can matter: short enough to be in the fastest cache
    /// when something does.
    private static let blockLength = 512
    /// How long acceleration may fall below its limits before a motion has begun.
    ///
    /// The size of a vibration falls to zero twice a period. One that just reaches a limit needs two thirds of half a period from half the
    /// limit to its next peak: 20 ms at 17 Hz. At 50 samples a second and fewer no sample comes in less time.
    private static let dipNanoseconds: Int64 = 20_000_000

    package init(
        name: String = "motion", accelerometer: SampleStream?, gyroscope: SampleStream? = nil,
        settings: MotionSettings = MotionSettings()
    ) {
        settings.requireValid()
        self.name = name
        self.accelerometer = accelerometer
        self.gyroscope = gyroscope
        streams = [gyroscope, accelerometer].compactMap { $0 }
        self.settings = settings
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        warmUpNanoseconds = Units.nanoseconds(settings.gravityTimeConstant * 3)
        gravity = GravityFilter(timeConstantSeconds: Float(settings.gravityTimeConstant / .seconds(1)))
        // Linear acceleration needs it while there is no gyroscope.
        let isMotionUser = settings.features.contains(.motion) && settings.measure != .magnitude
        looksFor = Looks(settings.features)
        needsGravity = isMotionUser || looksFor.shake
        motionThreshold = Self.motionThreshold(settings)
        motion = DebouncedTrigger(
            activeSide: .inside, onDelayNanoseconds: Units.nanoseconds(settings.minimumDuration),
            offDelayNanoseconds: Units.nanoseconds(settings.quiet), dipNanoseconds: Self.dipNanoseconds)
        freeFallThreshold = Self.squared(high: settings.freeFallG, low: settings.freeFallG)
        freeFall = DebouncedTrigger(
            activeSide: .outside, onDelayNanoseconds: Units.nanoseconds(settings.freeFallDuration),
            // Rotation, noise and a bounce do not end a fall.
            offDelayNanoseconds: Units.nanoseconds(settings.freeFallDuration))
        shake = RefractoryTrigger(
            threshold: Self.squared(high: settings.shakeG, low: settings.shakeG / 2),
            refractoryNanoseconds: Units.nanoseconds(settings.shakeRefractory))
        shock = ShockTrigger(
            threshold: Self.squared(high: settings.shockG, low: settings.shockG),
            refractoryNanoseconds: Units.nanoseconds(settings.shockRefractory),
            windowNanoseconds: Units.nanoseconds(settings.shockWindow))
        repetition = RepeatTimer(interval: settings.updateInterval)
        rotationThreshold = Self.rotationThreshold(settings)
        rotation = DebouncedTrigger(
            activeSide: .inside, onDelayNanoseconds: Units.nanoseconds(settings.minimumDuration),
            offDelayNanoseconds: Units.nanoseconds(settings.quiet))
    }

    /// Starts with the next delivery, in the state of a new manager; does nothing while detecting.
    ///
    /// Without an accelerometer, or with one that is inactive, the delegate is told *device not available* and
    /// detection stays off.
    public func startDetection() {
        guard !isDetecting else { return }
        guard let accelerometer, accelerometer.sensor.isActive else {
            delegate?.motionManagerDeviceNotAvailable(self)
            return
        }
        restart()
        isDetecting = true
        delegate?.motionManagerWillStartDetection(self)
        guard isDetecting, settings.usesGyroscope, gyroscope == nil else { return }
        delegate?.motionManager(self, didFailWithError: TurnFailure(.missing, settings, isAtSample: false))
    }

    /// Stops at once and forgets what was under way; does nothing while not detecting.
    public func stopDetection() {
        guard isDetecting else { return }
        isDetecting = false
        isMoving = false
        isMotionTold = false
        isRotating = false
        isRotationTold = false
        delegate?.motionManagerDidStopDetection(self)
    }

    /// Tells the delegate when a stream that it uses is among those that failed; without its gyroscope it goes on.
    package func didLose(_ streams: [SampleStream], because error: any Error) {
        guard isDetecting else { return }
        let isFed = turns?.isFed ?? false
        let losesGyroscope = isFed && streams.contains(where: { $0.id == gyroscope?.id })
        if losesGyroscope {
            turns?.interrupt(isTold: true)
            rotation.interrupt()
        }
        let losesAccelerometer = streams.contains(where: { $0.id == accelerometer?.id })
        if losesAccelerometer { sourceDidEnd() }
        guard isDetecting, losesAccelerometer || losesGyroscope else { return }
        delegate?.motionManager(self, didFailWithError: error)
    }

    /// Tells the shock whose peak is still searched for.
    package func sourceDidEnd() {
        guard isDetecting, let lastSample, let report = shock.finish() else { return }
        position = SamplePosition(
            timeNanoseconds: lastSample.timeNanoseconds, streamIndex: position.streamIndex, sampleIndex: .max)
        self.report(Self.event(of: report, lastSample), delegate)
    }

    /// Looks at the batches and tells the delegate what they mean.
    package func process(_ delivery: SampleDelivery) {
        guard isDetecting, let accelerometer, let stream = delivery.index(of: accelerometer.id) else { return }
        let columns = delivery.batches[stream].columns
        let turning = usesTurns ? gyroscope.flatMap { delivery.index(of: $0.id) } : nil
        let rates = turning.map { delivery.batches[$0].columns }
        if !delivery.rests.isEmpty { takeRests(of: delivery, accelerometer.id) }
        if !found.reports.isEmpty { found.removeAll() }
        if !foundRotations.reports.isEmpty { foundRotations.removeAll() }
        if let turning, let rates {
            recordLosses(delivery)
            followTurns(columns, at: stream, rates, at: turning)
        }
        if columns.count > 0 { process(at: columns) }
        if let rates, looksFor.rotation { findRotation(rates) }
        guard !found.reports.isEmpty || !foundRotations.reports.isEmpty else { return }
        found.sort()
        report(columns, at: stream, rates, at: turning ?? 0)
    }

    // MARK: - Finding

    private func process(at columns: SampleColumns) {
        userSquared.reserve(columns.count)
        totalSquared.reserve(columns.count)
        var start = 0
        while start < columns.count {
            let time = columns.times[start]
            if lastTimeNanoseconds.map({ isGap(from: $0, to: time, limit: gapLimitNanoseconds) }) ?? true {
                interrupt(at: time)
                if start == 0 { beginAfterRest(columns) }
            }
            let end = firstGap(in: columns.times, range: start + 1..<columns.count, longerThan: gapLimitNanoseconds)
            process(at: columns, range: start..<end)
            lastTimeNanoseconds = columns.times[end - 1]
            start = end
        }
        lastSample = columns.sample(columns.count - 1)
    }

    /// Ends a motion when a rest begins, because no sample could end it; notes when movement ended the rest.
    private func takeRests(of delivery: SampleDelivery, _ stream: StreamID) {
        for rest in delivery.rests where rest.stream == stream {
            switch rest.phase {
            case .began:
                guard let lastSample, let end = motion.switchOff(at: lastSample.timeNanoseconds) else { continue }
                position = SamplePosition(
                    timeNanoseconds: lastSample.timeNanoseconds, streamIndex: position.streamIndex, sampleIndex: .max)
                let squared = end.extremes.greatest >= 0 ? peakSquared(end.extremes) : 0
                report(
                    event(
                        .ended, lastSample, onset: end.onsetNanoseconds, until: end.changedNanoseconds, squared: squared
                    ),
                    delegate)
            case .ended(let onset, let freeFall):
                wakingNanoseconds = onset
                fallingNanoseconds = freeFall
                // The time of the rest is a gap to the filters.
                lastTimeNanoseconds = nil
            case .reported: break
            }
        }
    }

    /// Begins motion, and free fall, at the first sample after a rest that they have ended.
    private func beginAfterRest(_ columns: SampleColumns) {
        if let onset = fallingNanoseconds.take(), looksFor.freeFall, !freeFall.isOn {
            // On until a sample says otherwise: a fall that goes on is one event.
            freeFall.switchOn(onsetNanoseconds: onset)
            let force = columns.vector(0)
            append(
                .freeFall, columns, 0, onset: min(onset, columns.times[0]), squared: (force * force).sum(),
                source: .chip)
        }
        guard let onset = wakingNanoseconds.take(), looksFor.motion, !motion.isOn else { return }
        motion.switchOn(onsetNanoseconds: onset)
        let sample = columns.sample(0)
        // Gravity is what the device measured at rest.
        let rest = lastSample ?? sample
        let (x, y, z) = (sample.x - rest.x, sample.y - rest.y, sample.z - rest.z)
        append(
            .began, columns, 0, onset: min(onset, sample.timeNanoseconds), squared: x * x + y * y + z * z, source: .chip
        )
        repetition.restart()
    }

    private func restart() {
        wakingNanoseconds = nil
        fallingNanoseconds = nil
        turns = settings.usesGyroscope ? gyroscope.map { TurnCompensation($0, settings: settings) } : nil
        usesTurns = turns != nil
        rotation.reset()
        lastRateNanoseconds = nil
        motion.reset()
        freeFall.reset()
        shake.reset()
        shock.reset()
        lastTimeNanoseconds = nil
        lastSample = nil
        startCount += 1
    }

    /// Restarts the filter and every unconfirmed change; a motion that has begun continues until quiet ends it.
    private func interrupt(at timeNanoseconds: Int64) {
        gravity.reset()
        interruptMotion(at: timeNanoseconds)
        freeFall.interrupt()
        shake.interrupt()
        shock.interrupt()
        warmAtNanoseconds = Units.later(timeNanoseconds, by: warmUpNanoseconds)
    }

    /// Interrupts motion for the time in which it is not decided: the gap, and the filter's start after it.
    private func interruptMotion(at timeNanoseconds: Int64) {
        let warmUp = settings.measure == .magnitude ? 0 : warmUpNanoseconds
        guard let last = lastTimeNanoseconds, warmUp == 0 || last >= warmAtNanoseconds else {
            return motion.interrupt()
        }
        motion.interrupt(from: last, to: Units.later(timeNanoseconds, by: warmUp))
    }

    private func process(at columns: SampleColumns, range: Range<Int>) {
        if needsGravity {
            separateGravity(
                times: columns.times, x: columns.x, y: columns.y, z: columns.z, range: range, gravity: &gravity,
                userSquared: userSquared.values, totalSquared: totalSquared.values)
        }
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.blockLength) {
            let block = start..<min(start + Self.blockLength, range.upperBound)
            guard !isIdle(columns, block) else { continue }
            if !needsGravity {
                squareLengths(x: columns.x, y: columns.y, z: columns.z, range: block, result: totalSquared.values)
            }
            decide(columns, range: block)
        }
    }

    /// Whether nothing that is looked for is under way, and nothing begins in a range.
    private func isIdle(_ columns: SampleColumns, _ range: Range<Int>) -> Bool {
        let user = needsGravity ? extremes(of: userSquared.values, range: range) : Extremes()
        let total =
            needsGravity
            ? extremes(of: totalSquared.values, range: range)
            : extremes(x: columns.x, y: columns.y, z: columns.z, range: range)
        let compared =
            switch settings.measure {
            case .linearAcceleration where looksFor.motion: extremes(of: linearValues(range), range: range)
            case .linearAcceleration, .userAcceleration: user
            case .magnitude: total
            }
        return (!looksFor.motion || motion.isIdle(through: compared, threshold: motionThreshold))
            && (!looksFor.shake || shake.isIdle(through: user))
            && (!looksFor.freeFall || freeFall.isIdle(through: total, threshold: freeFallThreshold))
            && (!looksFor.shock || shock.isIdle(through: total))
    }

    /// Looks for everything in a range whose squares are known.
    private func decide(_ columns: SampleColumns, range: Range<Int>) {
        let times = columns.times
        let warm = firstIndex(in: times, range: range, notBefore: warmAtNanoseconds)..<range.upperBound
        if looksFor.motion {
            switch settings.measure {
            case .userAcceleration: findMotion(columns, values: userSquared.values, range: warm)
            case .linearAcceleration:
                findMotion(columns, values: linearValues(warm), range: warm)
            case .magnitude: findMotion(columns, values: totalSquared.values, range: range)
            }
        }
        if looksFor.shake {
            shake.process(values: userSquared.values, times: times, range: warm)
            for index in shake.reported { append(.shake, columns, index, squared: userSquared.values[index]) }
        }
        if looksFor.freeFall {
            freeFall.process(values: totalSquared.values, times: times, range: range, threshold: freeFallThreshold)
            for transition in freeFall.transitions where transition.isOn {
                append(
                    .freeFall, columns, transition.index, onset: transition.onsetNanoseconds,
                    squared: transition.extremes.least)
            }
        }
        if looksFor.shock {
            shock.process(values: totalSquared.values, times: times, range: range)
            for report in shock.reported {
                found.append(.event(Self.event(of: report, columns.sample(report.index))), at: report.index)
            }
        }
    }

    private func findMotion(_ columns: SampleColumns, values: UnsafePointer<Float>, range: Range<Int>) {
        var movingFrom = motion.isOn ? range.lowerBound : nil
        motion.process(values: values, times: columns.times, range: range, threshold: motionThreshold)
        for transition in motion.transitions {
            if let start = movingFrom { repeatMoving(columns, start..<transition.index) }
            movingFrom = transition.isOn ? transition.index : nil
            append(
                transition.isOn ? .began : .ended, columns, transition.index, onset: transition.onsetNanoseconds,
                until: transition.isOn ? nil : transition.changedNanoseconds,
                squared: peakSquared(transition.extremes))
            if transition.isOn { repetition.restart() }
        }
        if let start = movingFrom { repeatMoving(columns, start..<range.upperBound) }
    }

    /// The square of the greatest measured acceleration, from the extremes of the squares that were compared.
    private func peakSquared(_ extremes: Extremes) -> Float {
        guard settings.measure == .magnitude else { return extremes.greatest }
        let above = extremes.greatest.squareRoot() - Units.standardGravity
        let below = Units.standardGravity - extremes.least.squareRoot()
        let peak = max(above, below)
        return peak * peak
    }

    private func repeatMoving(_ columns: SampleColumns, _ range: Range<Int>) {
        repetition.fire(times: columns.times, range: range) { index in
            found.append(.moving(columns.sample(index)), at: index)
        }
    }

    // MARK: - With the gyroscope

    /// Begins the orientation again where stamps do not tell how long nothing came.
    private func recordLosses(_ delivery: SampleDelivery) {
        guard delivery.hidesTime(of: gyroscope?.id) else { return }
        turns?.interrupt(isTold: false)
        rotation.interrupt()
    }

    /// Follows the device's turns through a delivery.
    private func followTurns(_ a: SampleColumns, at order: Int, _ rates: SampleColumns, at rateOrder: Int) {
        linearSquared.reserve(a.count)
        rateSquared.reserve(rates.count)
        var samples = MergedSamples(
            a, at: order, field: a.slice(0..<0), at: order, rates: rates, at: rateOrder)
        while let next = samples.next() {
            switch next {
            case .rate(let index):
                rateSquared.values[index] = turns?.update(rate: rates.vector(index), at: rates.times[index]) ?? 0
            case .acceleration(let index):
                if let failure = turns?.missRate(at: a.times[index]) { found.append(.failed(failure), at: index) }
                linearSquared.values[index] = turns?.update(acceleration: a.vector(index), at: a.times[index]) ?? -1
            case .field: break
            }
        }
    }

    /// User acceleration, and what motion by linear acceleration is decided on.
    package func squares(_ place: Int, count: Int) -> UnsafePointer<Float>? {
        place == 0 ? UnsafePointer(userSquared.values) : linearValues(0..<count)
    }

    /// What motion by linear acceleration is decided on: where the gyroscope does not tell, user acceleration.
    private func linearValues(_ range: Range<Int>) -> UnsafePointer<Float> {
        guard turns != nil else { return UnsafePointer(userSquared.values) }
        for index in range where linearSquared.values[index] < 0 {
            linearSquared.values[index] = userSquared.values[index]
        }
        return UnsafePointer(linearSquared.values)
    }

    private func findRotation(_ rates: SampleColumns) {
        var start = 0
        while start < rates.count {
            let time = rates.times[start]
            if let last = lastRateNanoseconds, isGap(from: last, to: time, limit: gapLimitNanoseconds) {
                rotation.interrupt(from: last, to: time)
            }
            let end = firstGap(in: rates.times, range: start + 1..<rates.count, longerThan: gapLimitNanoseconds)
            rotation.process(
                values: rateSquared.values, times: rates.times, range: start..<end, threshold: rotationThreshold)
            for transition in rotation.transitions { append(transition, rates) }
            lastRateNanoseconds = rates.times[end - 1]
            start = end
        }
    }

    private func append(_ transition: DebouncedTrigger.Transition, _ rates: SampleColumns) {
        let time = rates.times[transition.index]
        let onset = transition.onsetNanoseconds
        foundRotations.append(
            RotationEvent(
                isEnd: !transition.isOn, timeNanoseconds: time, onsetNanoseconds: onset,
                duration: Units.duration(from: onset, to: transition.isOn ? time : transition.changedNanoseconds),
                peakDegreesPerSecond: Double(transition.extremes.greatest.squareRoot()) * 180 / .pi),
            at: transition.index)
    }

    private func append(
        _ kind: MotionEvent.Kind, _ columns: SampleColumns, _ index: Int, onset: Int64? = nil, until: Int64? = nil,
        squared: Float, source: EventSource? = nil
    ) {
        let event = event(
            kind, columns.sample(index), onset: onset, until: until, squared: squared, source: source)
        found.append(.event(event), at: index)
    }

    private func event(
        _ kind: MotionEvent.Kind, _ sample: Sample, onset: Int64?, until: Int64?, squared: Float,
        source: EventSource? = nil
    ) -> MotionEvent {
        let onset = onset ?? sample.timeNanoseconds
        let magnitudeG = Double(squared.squareRoot() / Units.standardGravity)
        return MotionEvent(
            kind: kind, sample: sample, onsetNanoseconds: onset,
            duration: Units.duration(from: onset, to: until ?? sample.timeNanoseconds), magnitudeG: magnitudeG,
            onsetMagnitudeG: magnitudeG, source: source)
    }

    private static func event(of shock: ShockTrigger.Report, _ sample: Sample) -> MotionEvent {
        let onset = shock.onsetNanoseconds
        return MotionEvent(
            kind: .shock, sample: sample, onsetNanoseconds: onset,
            duration: Units.duration(from: onset, to: Units.later(onset, by: shock.aboveNanoseconds)),
            magnitudeG: Double(shock.greatest.squareRoot() / Units.standardGravity),
            onsetMagnitudeG: Double(shock.first.squareRoot() / Units.standardGravity), source: nil)
    }

    // MARK: - Telling

    /// Tells what was found at the samples of both streams, in their common order.
    private func report(_ columns: SampleColumns, at order: Int, _ rates: SampleColumns?, at rateOrder: Int) {
        var findings = found.reports[...]
        var rotations = foundRotations.reports[...]
        let delegate = self.delegate
        let start = startCount
        while isDetecting, startCount == start {
            let next = findings.first.map { columns.position(of: $0.index, at: order) }
            let turn = rotations.first.flatMap { rates?.position(of: $0.index, at: rateOrder) }
            if let next, turn.map({ next < $0 }) ?? true {
                position = next
                report(findings.removeFirst().payload, delegate)
            } else if let turn {
                position = turn
                report(rotations.removeFirst().payload, delegate)
            } else {
                return
            }
        }
    }

    private func report(_ found: Found, _ delegate: (any MotionManagerDelegate)?) {
        switch found {
        case .event(let event): report(event, delegate)
        case .moving(let sample):
            if isMotionTold { delegate?.motionManager(self, deviceIsMoving: sample) }
        case .failed(let failure): delegate?.motionManager(self, didFailWithError: failure)
        }
    }

    private func report(_ event: RotationEvent, _ delegate: (any MotionManagerDelegate)?) {
        isRotating = !event.isEnd
        if event.isEnd {
            if isRotationTold { delegate?.motionManager(self, didEndRotation: event) }
            isRotationTold = false
            return
        }
        isRotationTold = delegate?.motionManager(self, shouldReport: event) ?? true
        guard isRotationTold, isDetecting else { return }
        delegate?.motionManager(self, didBeginRotation: event)
    }

    private func report(_ event: MotionEvent, _ delegate: (any MotionManagerDelegate)?) {
        if event.kind == .began { isMoving = true }
        if event.kind == .ended {
            isMoving = false
            if isMotionTold { delegate?.motionManager(self, didEndMotion: event) }
            isMotionTold = false
            return
        }
        let isAgreed = delegate?.motionManager(self, shouldReport: event) ?? true
        if event.kind == .began { isMotionTold = isAgreed }
        guard isAgreed, isDetecting else { return }
        switch event.kind {
        case .began: delegate?.motionManager(self, didBeginMotion: event)
        case .shake: delegate?.motionManager(self, didDetectShake: event)
        case .freeFall: delegate?.motionManager(self, didDetectFreeFall: event)
        case .shock: delegate?.motionManager(self, didDetectShock: event)
        case .ended: break
        }
    }

    /// The limits of motion, in the square of m/s².
    private static func motionThreshold(_ settings: MotionSettings) -> Threshold {
        guard settings.measure == .magnitude else {
            return squared(high: settings.thresholdG, low: settings.effectiveReleaseG)
        }
        // How far from 1 g: the squares of what is that far above and below are compared, so no root is needed.
        let above = squared(high: 1 + settings.thresholdG, low: 1 + settings.effectiveReleaseG)
        let under = square(1 - settings.thresholdG)
        let floor = square(1 - settings.effectiveReleaseG)
        return Threshold(high: above.high, low: above.low, under: under, floor: floor)
    }

    /// The limits of a rotation, in the square of rad/s.
    private static func rotationThreshold(_ settings: MotionSettings) -> Threshold {
        let high = settings.rotationDegreesPerSecond * .pi / 180
        let low = settings.effectiveRotationRelease * .pi / 180
        return Threshold(high: high * high, low: low * low)
    }

    private static func squared(high: Float, low: Float) -> Threshold {
        let high = high * Units.standardGravity
        let low = low * Units.standardGravity
        return Threshold(high: high * high, low: low * low)
    }

    /// The square of a length in g that squares lie below, in m/s²; nothing lies below one that is negative.
    private static func square(_ lengthG: Float) -> Float {
        guard lengthG >= 0 else { return -.infinity }
        let length = lengthG * Units.standardGravity
        return length * length
    }
}
