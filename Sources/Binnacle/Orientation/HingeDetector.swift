import Kernels

/// Finds the angle between a laptop's screen and its base, and how it is set up, in the samples of an accelerometer in
/// each part.
///
/// It looks whenever the screen has a sample, with the latest one of the base. While either part is shaken, and while the
/// hinge is nearly upright, the last values hold. A switch of the hardware may decide instead, or in addition.
package final class HingeDetector: DetectorCore<HingeSettings>, ReportingDetector {
    package static let kind = "hinge"
    /// The stream of the accelerometer in the screen, and of the one in the base; `nil` where there is none.
    package let screen: SampleStream?
    package let base: SampleStream?
    /// Whether a switch says the posture.
    package let hasSwitch: Bool
    /// How the laptop is set up, as the delegate was told; `nil` while that is unknown.
    package private(set) var posture: Posture?

    /// The angle between keyboard and screen, as the delegate was told, in degrees; `nil` while that is unknown.
    package var angleDegrees: Double? { toldDegrees }

    /// The posture before this delivery, and its changes in it.
    private var history: (before: Posture?, changes: [(position: SamplePosition, posture: Posture)]) = (nil, [])
    private let gate: ClosedRange<Float>
    private let gapLimitNanoseconds: Int64
    private var angle = HingeAngle()
    private var isFolded: Bool?
    /// Whether the switch cannot be read, where it alone says the posture.
    package private(set) var lacksReadings = false
    private var due: Dwell<Posture?>
    private var turned: Dwell<Bool>
    private var toldDegrees: Double?
    private var lastBase: Sample?
    private var lastTimeNanoseconds: Int64?

    /// Creates a detector that does not detect yet.
    ///
    /// With `hasSwitch` ``switchDidChange(isFolded:at:)`` will be called; without it and one of the accelerometers, a start tells
    /// *device not available*.
    ///
    /// - Precondition: ``HingeSettings/problems()`` finds none.
    package init(
        name: String = "hinge", screen: SampleStream?, base: SampleStream?, hasSwitch: Bool = false,
        settings: HingeSettings = HingeSettings()
    ) {
        self.screen = screen
        self.base = base
        self.hasSwitch = hasSwitch
        gate = Units.squares(near: settings.gateG)
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        let dwell = Units.nanoseconds(settings.dwell)
        due = Dwell(nil, delayNanoseconds: dwell)
        turned = Dwell(false, delayNanoseconds: dwell)
        super.init(name: name, streams: [screen, base], settings: settings)
    }

    /// Starts with the next delivery, in the state of a new detector; does nothing while detecting.
    ///
    /// Without two active accelerometers and without a switch the delegate is told *device not available*, and detection
    /// stays off.
    package func startDetection() {
        guard !isDetecting else { return }
        let active = streams.count { $0.sensor.isActive }
        guard hasSwitch || active == 2 else {
            delegate?.collect(
                .detectorUnavailable, self, because: "no two active accelerometers and no switch")
            return
        }
        posture = nil
        lacksReadings = false
        history = (nil, [])
        angle.forget()
        due.accept(nil)
        turned.accept(false)
        (toldDegrees, lastBase, lastTimeNanoseconds) = (nil, nil, nil)
        isDetecting = true
    }

    package func stopDetection() { isDetecting = false }

    /// Tells the delegate when one of the accelerometers' streams is among those that failed; the last values hold.
    package func didLose(_ streams: [SampleStream], because error: any Error) {
        guard isDetecting, streams.contains(where: { lost in self.streams.contains { $0.id == lost.id } }) else {
            return
        }
        interrupt()
        lastBase = nil
        delegate?.collect(.detectorFailed, self, because: error)
    }

    /// How the laptop was set up at a sample of the delivery that was processed last; `nil` while that is unknown.
    package func posture(at position: SamplePosition) -> Posture? {
        history.changes.last { $0.position <= position }?.posture ?? history.before
    }

    /// Takes the state of a switch that the hardware has.
    ///
    /// - Parameters:
    ///   - isFolded: Whether the keyboard is out of use.
    ///   - timeNanoseconds: When that was, in the samples' clock.
    package func switchDidChange(isFolded: Bool, at timeNanoseconds: Int64) {
        self.isFolded = isFolded
        lacksReadings = false
        guard isDetecting, screen == nil || base == nil else { return }
        position = SamplePosition(timeNanoseconds: timeNanoseconds, streamIndex: .max, sampleIndex: .max)
        let found: Posture = isFolded ? .tablet : .laptop
        guard found != posture else { return }
        report(found, degrees: nil, at: timeNanoseconds, delegate)
    }

    /// Tells the delegate that the switch cannot be read, where it alone says the posture; the last one holds.
    private func switchDidFail(because error: any Error) {
        guard isDetecting, screen == nil || base == nil else { return }
        lacksReadings = true
        delegate?.collect(.detectorFailed, self, because: error)
    }

    /// Looks at the batches of both accelerometers and tells the delegate what they mean.
    package func process(_ delivery: SampleDelivery) {
        history = (posture, [])
        rows?.removeAll()
        guard isDetecting, let screen, let base, let upper = delivery.index(of: screen.id),
            let lower = delivery.index(of: base.id)
        else { return }
        let delegate = self.delegate
        var samples = MergedSamples(
            delivery.batches[upper].columns, at: upper, field: delivery.batches[lower].columns, at: lower, rates: nil,
            at: 0)
        while let next = samples.next() {
            switch next {
            case .field(let index): lastBase = samples.field.sample(index)
            case .acceleration(let index):
                let sample = samples.acceleration.sample(index)
                position = samples.acceleration.position(of: index, at: upper)
                let degrees = process(at: sample, delegate)
                rows?.append(
                    sample.timeNanoseconds, SIMD4(degrees.map { Float($0) } ?? .nan, bit(of: posture), .nan, .nan))
            case .rate: break
            }
        }
    }

    /// Reports what a sample changes; returns its angle, `nil` where that is unknown.
    private func process(at sample: Sample, _ delegate: (any DetectorDelegate)?) -> Double? {
        let time = sample.timeNanoseconds
        if let last = lastTimeNanoseconds, isGap(from: last, to: time, limit: gapLimitNanoseconds) { interrupt() }
        lastTimeNanoseconds = time
        guard let lower = lastBase, !isGap(from: lower.timeNanoseconds, to: time, limit: gapLimitNanoseconds),
            let degrees = degrees(sample, lower)
        else {
            interrupt()
            return nil
        }
        let found = Posture.of(degrees, after: posture)
        let isFirst = posture == nil
        let isOther = due.isDue(found, at: time)
        let hasTurned = turned.isDue(toldDegrees.map { abs($0 - degrees) >= settings.filterDegrees } ?? true, at: time)
        guard isFirst || isOther || hasTurned else { return degrees }
        // What has not lasted yet is not told with the angle.
        let told = isFirst || isOther ? found : posture ?? found
        report(told, degrees: degrees, at: time, delegate)
        return degrees
    }

    private func degrees(_ screen: Sample, _ base: Sample) -> Double? {
        let (upper, lower) = (SIMD3(screen.x, screen.y, screen.z), SIMD3(base.x, base.y, base.z))
        guard gate.contains((upper * upper).sum()), gate.contains((lower * lower).sum()) else { return nil }
        return angle.degrees(
            screen: upper, base: lower, in: settings.frame, isFolded: isFolded, at: screen.timeNanoseconds)
    }

    private func interrupt() {
        angle.interrupt()
        due.interrupt()
        turned.interrupt()
    }

    private func report(_ found: Posture, degrees: Double?, at time: Int64, _ delegate: (any DetectorDelegate)?) {
        if found != posture { history.changes.append((position, found)) }
        posture = found
        // One of the angle alone does not interrupt a posture that is to last.
        if due.value != found { due.accept(found) }
        turned.accept(false)
        toldDegrees = degrees
        let finding = Finding(.hingeChanged, at: time, [.posture: .word(found)], numbers: [.angle: degrees])
        delegate?.collect(.hingeChanged, self, finding)
    }
}

extension HingeDetector {
    package var eventSensor: String? { screen?.sensor.name }

    package var state: String? { posture?.rawValue }
    package var figures: [Figure] { angleDegrees.map { [Figure(.angle, Figure.Name.angle.number($0))] } ?? [] }

    package var sampledValues: [SampledValue] {
        [
            SampledValue(name: Figure.Name.angle.rawValue, place: .row(0)),
            SampledValue(name: Lane.States.state, place: .row(1), form: .bits),
        ]
    }

    package var lanes: [Lane] {
        var lane = Lane("angle of \(name)", "°", ["angle": Figure.Name.angle.rawValue])
        lane.states = [
            Lane.States(name: Lane.States.state, prefix: "posture: ", words: Posture.allCases.map(\.rawValue))
        ]
        return [lane]
    }

    /// The angles beyond which a laptop is set up otherwise.
    package var limits: [LiveValues.Limit] {
        zip(Posture.limits, Posture.order.dropFirst()).map { degrees, posture in
            LiveValues.Limit(
                posture.rawValue, of: Figure.Name.angle.rawValue, begin: Float(degrees + Posture.halfHysteresis),
                end: Float(degrees - Posture.halfHysteresis))
        }
    }

    package var ambientKinds: Set<AmbientReading.Kind> { hasSwitch ? [.tabletMode] : [] }

    package func process(_ outcome: AmbientReading.Outcome) {
        switch outcome {
        case .read(.tabletMode(let isFolded), let time): switchDidChange(isFolded: isFolded, at: time)
        case .failed(.tabletMode, let failure): switchDidFail(because: failure)
        case .read, .failed: break
        }
    }
}

extension SensorSession.Setup {
    /// Looks for the angle of a hinge in the samples of two accelerometers.
    ///
    /// - Parameters:
    ///   - name: The name that events carry, which no other detector of the session has.
    ///   - screen: The name of the sensor in the screen.
    ///   - base: The name of the sensor in the base, which is another one.
    ///   - settings: When a laptop is taken for set up otherwise.
    /// - Returns: The detector, which the session starts.
    /// - Throws: The first of the settings' problems, that the source has no such sensor, or that both parts have the same one.
    @discardableResult
    public func detectHinge(
        name: String = "hinge", screen: String, base: String, settings: HingeSettings = HingeSettings()
    ) throws -> any Detector {
        try settings.check()
        let detector = HingeDetector(
            name: name, screen: try stream(of: .accelerometer, named: screen),
            base: try stream(of: .accelerometer, named: base), settings: settings)
        guard screen != base else {
            throw SetupProblem(
                "base names the same sensor as screen ('\(screen)'): each part of a hinge has an accelerometer of its own"
            )
        }
        return try add(detector)
    }
}
