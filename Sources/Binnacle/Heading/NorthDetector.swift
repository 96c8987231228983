import Kernels
import SensorGeometry

/// Finds the heading from an accelerometer and a magnetometer, and tells its delegate where the device faces.
///
/// A heading is decided at every accelerometer sample, paired with the latest magnetometer sample that came before
/// it. It is valid when both gates are open, the field is that of the Earth and no iron is nearby; else the last valid
/// one is held for a while and marked as stale, and then it is lost. What is faced is decided at valid samples alone.
///
/// With a gyroscope a heading is decided at each of its samples, from all three sensors, and is valid in motion and beside iron
/// as well. While there is none, or it is of no use, the heading is that of the other two.
///
/// The bearing waited for is north unless ``NorthSettings/bearingDegrees`` says otherwise; the delegate methods
/// keep *north* in their names as a compass keeps it on its card. Like ``MotionManager`` the detector knows no
/// clock but the samples' stamps, and works without a delegate, which it holds weakly.
public final class NorthDetector: EventDetector, GyroscopeUser {
    /// The name that events carry.
    public let name: String
    /// The accelerometer's stream; `nil` when there is none.
    package let accelerometer: SampleStream?
    /// The magnetometer's stream; `nil` when there is none.
    package let magnetometer: SampleStream?
    /// The gyroscope's stream, which may never have a sample; `nil` when there is none.
    package let gyroscope: SampleStream?
    /// How the heading is found, and which bearing is waited for.
    package let settings: NorthSettings
    /// Told what is found.
    ///
    /// It is held weakly, so its creator has to keep it. It is loaded once a delivery: a change counts from the next.
    public weak var delegate: (any NorthDetectorDelegate)?
    /// Told what was found at each sample that decides a heading; `nil` costs nothing.
    package var observer: (any HeadingObserver)?
    /// Whether samples are looked at.
    public private(set) var isDetecting = false
    /// The sample that the delegate is being told about.
    package internal(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// The number of accelerometer samples since the start that had a heading, counted to the end of a delivery.
    package private(set) var validCount = 0
    /// The number of accelerometer samples since the start without a heading, by cause.
    package private(set) var faultCounts: [HeadingFault: Int] = [:]

    /// How often "device is facing north" is repeated at most.
    package var updateInterval: Duration { settings.updateInterval }
    /// The streams of the gyroscope, the accelerometer and the magnetometer, as far as they are there.
    public var streams: [SampleStream] { [gyroscope, accelerometer, magnetometer].compactMap { $0 } }
    /// Whether the device faces the bearing, at the sample that the delegate is being told about.
    public var isFacing: Bool { watches[0].isFaced }
    /// The last heading, valid or held, as of the end of the last delivery; `nil` when it is lost, or there was none yet.
    public var heading: HeadingEvent? {
        hold.last.map { event(of: $0, at: max(lastTimeNanoseconds, $0.timeNanoseconds)) }
    }
    /// How far off ``heading`` may be, in degrees; negative when there is none.
    package var headingAccuracyDegrees: Double { hold.last?.accuracyDegrees ?? -1 }
    /// What is known of the gyroscope, as of the end of the last delivery; `nil` while there is none.
    package var gyroscopeState: GyroscopeState? { fused?.state }
    /// Whether the field's strength is off, as of the end of the last delivery: iron is nearby, or the calibration is wrong.
    package var isDisturbed: Bool { interference?.isOn ?? false }

    private let gapLimitNanoseconds: Int64
    private let maximumAgeNanoseconds: Int64
    private let warmUpNanoseconds: Int64
    private var finder: HeadingFinder
    private var gate: HeadingGate
    private var interference: InterferenceMonitor?
    private let accuracy: HeadingAccuracy
    private var hold: HeadingHold
    private var acceleration: SmoothedVector
    private var field: SmoothedVector
    private var fieldHistory = FieldHistory()
    /// The bearing, and then the sectors.
    private let watches: [SectorWatch]
    private var repetition: RepeatTimer
    private var warmAtNanoseconds: Int64 = 0
    private var lastTimeNanoseconds: Int64 = 0
    /// The place of the accelerometer in the last delivery.
    private var lastStreamIndex = 0
    private var headingFilter: HeadingFilter
    private var fused: FusedHeading?
    /// Chooses the axis by the fusion's attitude, which is steadier than the compass'.
    private var fusedFinder: HeadingFinder
    /// What was found at each accelerometer sample of the delivery, or at each one of the gyroscope's.
    private let columns = HeadingColumns()

    // What telling needs.

    /// Whether the delegate was told that a calibration is needed.
    var isCalibrationNeeded = false
    /// How often detection was started: what was found before a start is not told after it.
    private(set) var startCount = 0
    private(set) var found = ReportList<HeadingFinding>()

    /// Creates a detector that does not detect yet.
    ///
    /// - Parameters:
    ///   - name: The name that events carry.
    ///   - accelerometer: The stream that says what is up; without one, a start tells *device not available*.
    ///   - magnetometer: The stream that says where north is; the same holds for it.
    ///   - gyroscope: The stream that says how the device turns; `nil` when it is not used.
    ///   - settings: How to find the heading, and which bearing to wait for.
    /// - Precondition: ``NorthSettings/problems()`` finds none.
    public init(
        name: String = "north", accelerometer: SampleStream?, magnetometer: SampleStream?,
        gyroscope: SampleStream? = nil, settings: NorthSettings = NorthSettings()
    ) {
        let problems = settings.problems()
        precondition(problems.isEmpty, "\(problems)")
        self.name = name
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        self.gyroscope = gyroscope
        self.settings = settings
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        maximumAgeNanoseconds = Units.nanoseconds(settings.maximumMagnetometerAge)
        warmUpNanoseconds = Units.nanoseconds(settings.smoothing * 3)
        finder = HeadingFinder(settings: settings)
        fusedFinder = HeadingFinder(settings: settings)
        gate = HeadingGate(settings: settings)
        interference = Self.monitor(settings, magnetometer)
        accuracy = HeadingAccuracy(settings: settings, calibration: magnetometer?.sensor.calibration?.magnetometer)
        hold = HeadingHold(settings: settings)
        acceleration = SmoothedVector(settings: settings)
        field = SmoothedVector(settings: settings)
        repetition = RepeatTimer(interval: settings.updateInterval)
        headingFilter = HeadingFilter(degrees: settings.headingFilterDegrees)
        fused = FusedHeading(gyroscope, settings: settings, magnetometer: magnetometer)
        watches = [SectorWatch(nil, settings: settings)] + settings.sectors.map { SectorWatch($0, settings: settings) }
    }

    /// What the field's strength is compared with: the calibration's, else the place's, else what it was before.
    private static func monitor(_ settings: NorthSettings, _ magnetometer: SampleStream?) -> InterferenceMonitor? {
        InterferenceMonitor(
            settings: settings,
            expected: magnetometer?.sensor.calibration?.magnetometer?.fieldMicrotesla
                // A source that does not measure in microtesla cannot be compared with the place.
                ?? (settings.plausibleFieldMicrotesla == nil ? nil : settings.localField?.fieldMicrotesla))
    }

    /// Starts with the next delivery, in the state of a new detector; does nothing while detecting.
    ///
    /// Without both streams, or with an inactive sensor, the delegate is told *device not available* and detection
    /// stays off.
    public func startDetection() {
        guard !isDetecting else { return }
        guard let accelerometer, let magnetometer, accelerometer.sensor.isActive, magnetometer.sensor.isActive else {
            delegate?.northDetectorDeviceNotAvailable(self)
            return
        }
        restart()
        isDetecting = true
        delegate?.northDetectorWillStartDetection(self)
    }

    /// Stops at once and forgets what was under way; does nothing while not detecting.
    public func stopDetection() {
        guard isDetecting else { return }
        isDetecting = false
        for watch in watches { watch.isFaced = false }
        hold = HeadingHold(settings: settings)
        interference = Self.monitor(settings, magnetometer)
        delegate?.northDetectorDidStopDetection(self)
    }

    /// Tells the delegate when one of its streams is among those that failed: there is no heading any more, or it is found
    /// without the gyroscope.
    public func didLose(_ streams: [SampleStream], because error: any Error) {
        let own = [accelerometer?.id, magnetometer?.id]
        guard isDetecting else { return }
        let isFed = fused?.isFed ?? false
        let losesGyroscope = isFed && streams.contains(where: { $0.id == gyroscope?.id })
        let lost = streams.first(where: { own.contains($0.id) })
        // Without its magnetometer alone the fusion goes on, and states what that costs.
        let goesOn =
            !losesGyroscope && fused?.isDeciding ?? false
            && !streams.contains(where: { $0.id == accelerometer?.id })
        if losesGyroscope || isFed && !goesOn { fused?.interrupt() }
        if lost != nil || losesGyroscope { delegate?.northDetector(self, didFailWithError: error) }
        guard isDetecting, !goesOn, let lost, hold.last != nil else { return }
        for watch in watches { watch.interrupt() }
        position = SamplePosition(timeNanoseconds: lastTimeNanoseconds, streamIndex: lastStreamIndex, sampleIndex: 0)
        let loss = loss(.sensorFailed, sensor: lost.sensor.name, hold.lose(), at: lastTimeNanoseconds)
        delegate?.northDetector(self, didLoseHeading: loss)
    }

    /// Looks at the batches and tells the delegate what they mean.
    public func process(_ delivery: SampleDelivery) {
        guard isDetecting, let accelerometer, let magnetometer, let up = delivery.index(of: accelerometer.id),
            let north = delivery.index(of: magnetometer.id)
        else { return }
        let turning = gyroscope.flatMap { delivery.index(of: $0.id) }
        noteLosses(delivery)
        var samples = MergedSamples(
            delivery.batches[up].columns, at: up, field: delivery.batches[north].columns, at: north,
            rates: turning.map { delivery.batches[$0].columns }, at: turning ?? 0)
        let start = startCount
        repeat {
            let isFused = fused?.isDeciding ?? false
            let rows = isFused ? samples.rates ?? samples.acceleration : samples.acceleration
            lastStreamIndex = isFused ? turning ?? up : up
            find(&samples, rows, first: isFused ? samples.nextRate : samples.nextAcceleration, isFused: isFused)
            found.sort()
            tell(streamIndex: lastStreamIndex)
            // Where the gyroscope begins or ceases to decide, the next stretch has other samples as its rows.
        } while !samples.isDone && isDetecting && startCount == start
    }

    /// Finds what there is up to the end of the delivery, or to where the gyroscope begins or ceases to decide.
    ///
    /// - Parameters:
    ///   - samples: Those of all streams; what was looked at is removed.
    ///   - rows: The samples at which a heading is decided.
    ///   - first: The first of them that is left.
    ///   - isFused: Whether they are the gyroscope's.
    private func find(_ samples: inout MergedSamples, _ rows: SampleColumns, first: Int, isFused: Bool) {
        columns.begin(rows.count)
        found.removeAll()
        for _ in 0..<first { columns.appendNone() }
        var validFrom = first
        var index = first
        while isFused == fused?.isDeciding ?? false, let sample = samples.next() {
            switch sample {
            case .field(let place):
                takeField(samples.field, place, rows, &validFrom, index, isFused: isFused)
            case .acceleration(let place):
                let time = samples.acceleration.times[place]
                let vector = samples.acceleration.vector(place)
                if take(vector, at: time, into: &acceleration), !isFused {
                    interruptFacing(rows, &validFrom, index, startNanoseconds: time)
                }
                fused?.take(acceleration: vector, at: time)
                // Beside the fusion it keeps the gates and the watch over interference, and is ready when the gyroscope vanishes.
                let source = find(at: time, index, isRow: !isFused)
                if !isFused {
                    decide(source, at: time, rows, &validFrom, &index)
                } else {
                    noteSilence(at: time, index)
                }
            case .rate(let place):
                guard let rates = samples.rates else { continue }
                let time = rates.times[place]
                if let failure = fused?.take(rate: rates.vector(place), at: time) {
                    found.append(.gyroscope(failure, timeNanoseconds: time), at: index)
                }
                if isFused { decide(findFused(at: time), at: time, rows, &validFrom, &index) }
            }
        }
        lookForFacing(rows, range: validFrom..<index)
        if index > first { lastTimeNanoseconds = rows.times[index - 1] }
    }

    /// Takes what was found at a row.
    private func decide(
        _ source: Result<HeadingHold.Source, HeadingFault>, at time: Int64, _ rows: SampleColumns,
        _ validFrom: inout Int,
        _ index: inout Int
    ) {
        if let observer { tell(observer, source, at: time) }
        switch source {
        case .success(let source):
            noteHeading(source, index)
            index += 1
        case .failure(let fault):
            columns.appendNone()
            faultCounts[fault, default: 0] += 1
            let isLost = noteNone(fault, at: time, index)
            if isLost || !fault.isPassing {
                interruptFacing(rows, &validFrom, index)
                validFrom = index + 1
            }
            index += 1
        }
    }

    private func tell(
        _ observer: any HeadingObserver, _ source: Result<HeadingHold.Source, HeadingFault>, at time: Int64
    ) {
        switch source {
        case .success(let source): observer.detector(self, didFind: event(of: source, at: time))
        case .failure(let fault): observer.detector(self, didFindNoneBecauseOf: fault, at: time)
        }
    }

    /// Begins the fusion again where stamps do not tell how long nothing came.
    private func noteLosses(_ delivery: SampleDelivery) {
        guard let gyroscope, !delivery.losses.isEmpty else { return }
        if delivery.losses.contains(where: { $0.stream == gyroscope.id && ($0.cause == .suspend || $0.cause == .clock) }
        ) {
            fused?.interrupt()
        }
    }

    private func noteSilence(at time: Int64, _ index: Int) {
        guard let failure = fused?.missRate(at: time) else { return }
        found.append(.gyroscope(failure, timeNanoseconds: time), at: index)
    }

    // MARK: - Finding

    private func restart() {
        finder = HeadingFinder(settings: settings)
        gate = HeadingGate(settings: settings)
        interference = Self.monitor(settings, magnetometer)
        fused = FusedHeading(gyroscope, settings: settings, magnetometer: magnetometer)
        fusedFinder = HeadingFinder(settings: settings)
        hold = HeadingHold(settings: settings)
        acceleration.reset()
        field.reset()
        fieldHistory.removeAll()
        for watch in watches { watch.reset() }
        startCount += 1
        headingFilter.reset()
        validCount = 0
        faultCounts = [:]
        lastTimeNanoseconds = 0
        isCalibrationNeeded = false
    }

    /// Takes a sample of the magnetometer, which lies before the row of an index.
    private func takeField(
        _ m: SampleColumns, _ place: Int, _ a: SampleColumns, _ validFrom: inout Int, _ index: Int, isFused: Bool
    ) {
        let time = m.times[place]
        let vector = m.vector(place)
        let startsAnew = take(vector, at: time, into: &field)
        if startsAnew, !isFused { interruptFacing(a, &validFrom, index, startNanoseconds: time) }
        fieldHistory.append(
            FieldHistory.Field(vector: field.value, recent: field.recent, strength: field.length),
            at: field.lastTimeNanoseconds)
        fused?.take(field: vector, at: time)
        guard !isFused else {
            noteSilence(at: time, index)
            return
        }
        // While the accelerometer is silent, nobody else would notice. It may also come in blocks, behind the magnetometer's;
        // so nothing is said of a heading that is only held.
        if let last = acceleration.lastTimeNanoseconds, isGap(from: last, to: time, limit: gapLimitNanoseconds),
            hold.isOverdue(at: time), noteNone(.accelerometerMissing, at: time, index)
        {
            lastTimeNanoseconds = time
            interruptFacing(a, &validFrom, index)
        }
    }

    /// Smooths one sample; a sample that is not finite is left out.
    ///
    /// - Returns: Whether the filter started anew; what depends on it has to warm up then.
    private func take(_ vector: SIMD3<Float>, at time: Int64, into filter: inout SmoothedVector) -> Bool {
        guard squaredLength(vector) < .infinity else { return false }
        let last = filter.lastTimeNanoseconds
        let startsAnew = last.map { time < $0 || isGap(from: $0, to: time, limit: gapLimitNanoseconds) } ?? true
        if startsAnew { filter.reset() }
        filter.step(vector, timeNanoseconds: time)
        return startsAnew
    }

    /// Finds the axis that has a heading at a sample; keeps what it is found from when the sample is a row.
    private func find(at time: Int64, _ index: Int, isRow: Bool) -> Result<HeadingHold.Source, HeadingFault> {
        guard let field = fieldHistory.latest(notAfter: time, maximumAge: maximumAgeNanoseconds) else {
            return .failure(.magnetometerMissing)
        }
        // A sample that was not finite left the filter where it was: its stamp would not fit the value.
        guard acceleration.lastTimeNanoseconds == time else { return .failure(.accelerationWeak) }
        guard settings.localField?.zone != .blackout else { return .failure(.blackout) }
        let strength = Double(field.strength)
        watchField(strength, at: time, index)
        let expected = interference?.expected ?? strength
        let isDisturbed = interference.map { $0.isOn || $0.isOff } ?? false
        let found = finder.find(acceleration: acceleration.value, field: field)
        var fault: HeadingFault?
        if case .success(let pointing) = found {
            fault = gate.take(
                pointing.attitude, strength: (strength, expected > 0 ? strength / expected : 1),
                accelerationLength: Double(acceleration.length), isDisturbed: isDisturbed, at: time)
        }
        // Unconfirmed, it is no reason to tell anybody, but no field to find north with either.
        if isDisturbed { return .failure(.interference) }
        let pointing: HeadingFinder.Pointing
        switch found {
        case .success(let found): pointing = found
        case .failure(let fault): return .failure(fault)
        }
        if let fault { return .failure(fault) }
        let degrees = accuracy.degrees(
            pointing, acceleration: acceleration.recent, field: field.recent, strength: strength,
            expectedStrength: expected, gate: gate)
        // Written so that NaN fails as well.
        guard degrees <= settings.accuracyLimitDegrees ?? 180 else { return .failure(.inaccurate) }
        if isRow {
            validCount += 1
            columns.append(
                pointing.axis, acceleration: acceleration.value, field: field.vector, accuracyDegrees: Float(degrees))
        }
        return .success(
            HeadingHold.Source(pointing: pointing, accuracyDegrees: degrees, timeNanoseconds: time))
    }

    /// Finds the axis that has a heading at a sample of the gyroscope.
    private func findFused(at time: Int64) -> Result<HeadingHold.Source, HeadingFault> {
        guard let fusion = fused?.found, settings.localField?.zone != .blackout else { return .failure(.blackout) }
        if let fault = fusion.fault { return .failure(fault.headingFault) }
        let attitude = fusion.attitude
        let pointing: HeadingFinder.Pointing
        switch fusedFinder.find(attitude) {
        case .success(let found): pointing = found
        case .failure(let fault): return .failure(fault)
        }
        let degrees = accuracy.degrees(pointing, magnetic: fusion.accuracyDegrees)
        // Written so that NaN fails as well.
        guard degrees <= settings.accuracyLimitDegrees ?? 180 else { return .failure(.inaccurate) }
        validCount += 1
        columns.append(
            pointing.axis, acceleration: SIMD3<Float>(attitude.up * Gravity.standard),
            field: SIMD3<Float>(attitude.north * attitude.horizontalField + attitude.up * attitude.verticalField),
            accuracyDegrees: Float(degrees))
        columns.appendTurnRate(fusion.turnRateDegrees)
        return .success(
            HeadingHold.Source(
                pointing: pointing, accuracyDegrees: degrees, timeNanoseconds: time,
                turnRateDegrees: fusion.turnRateDegrees))
    }

    private func watchField(_ strength: Double, at time: Int64, _ index: Int) {
        guard let change = interference?.take(strength, at: time), let expected = interference?.expected else { return }
        let event = FieldEvent(timeNanoseconds: time, fieldMicrotesla: strength, expectedMicrotesla: expected)
        found.append(.field(change, event), at: index)
    }

    private func noteHeading(_ source: HeadingHold.Source, _ index: Int) {
        if hold.take(source) {
            headingFilter.reset()
            found.append(.regained(event(of: source, at: source.timeNanoseconds)), at: index)
        }
        guard headingFilter.take(source) else { return }
        found.append(.heading(event(of: source, at: source.timeNanoseconds)), at: index)
    }

    /// Takes note that there is no heading at a moment; returns whether it is lost by that.
    private func noteNone(_ fault: HeadingFault, at time: Int64, _ index: Int) -> Bool {
        if fault == .gravityReversed, gate.isReversed, !hold.isLost {
            // No heading is to be expected, so there is nothing to hold.
            found.append(.lost(loss(fault, sensor: accelerometer?.sensor.name, hold.lose(), at: time)), at: index)
            return true
        }
        switch hold.takeNone(at: time) {
        case nil: return false
        case .held(let source):
            // The next one that is found is told, wherever it points.
            headingFilter.reset()
            found.append(.heading(event(of: source, at: time)), at: index)
            return false
        case .lost(let source):
            let sensor = fault.isOfAccelerometer.flatMap { $0 ? accelerometer : magnetometer }?.sensor.name
            found.append(.lost(loss(fault, sensor: sensor, source, at: time)), at: index)
            return true
        }
    }

    private func loss(
        _ fault: HeadingFault, sensor: String?, _ held: HeadingHold.Source?, at time: Int64
    ) -> HeadingLoss {
        HeadingLoss(
            timeNanoseconds: time, fault: fault, sensor: sensor,
            held: held.map { Units.duration(from: $0.timeNanoseconds, to: time) })
    }

    /// Decides about the samples up to an invalid one, or up to a fresh start of a filter, and forgets what is
    /// unconfirmed.
    private func interruptFacing(
        _ a: SampleColumns, _ validFrom: inout Int, _ index: Int, startNanoseconds: Int64? = nil
    ) {
        lookForFacing(a, range: validFrom..<index)
        validFrom = index
        for watch in watches { watch.interrupt() }
        // Only after the decision: the samples before the start were warm by their own.
        if let startNanoseconds { warmAtNanoseconds = Units.later(startNanoseconds, by: warmUpNanoseconds) }
    }

    private func lookForFacing(_ a: SampleColumns, range: Range<Int>) {
        let warm = firstIndex(in: a.times, range: range, notBefore: warmAtNanoseconds)..<range.upperBound
        guard !warm.isEmpty else { return }
        var start = warm.lowerBound
        while start < warm.upperBound {
            let axis = columns.axes[start]
            var end = start + 1
            while end < warm.upperBound, columns.axes[end] == axis { end += 1 }
            if let axis { lookForFacing(of: axis, a, range: start..<end) }
            start = end
        }
    }

    /// Decides about samples that have the heading of one axis.
    private func lookForFacing(of axis: DeviceAxis, _ a: SampleColumns, range: Range<Int>) {
        for watch in watches.dropFirst() {
            process(watch, of: axis, a, range) { index, isFaced, event in
                found.append(isFaced ? .faced(watch, event) : .left(watch, event), at: index)
            }
        }
        // Last, because it is repeated, which comes behind everything else at a sample.
        let bearing = watches[0]
        var facingFrom = bearing.isOn ? range.lowerBound : nil
        process(bearing, of: axis, a, range) { index, isFaced, event in
            if let start = facingFrom { repeatFacing(a, start..<index) }
            facingFrom = isFaced ? index : nil
            found.append(isFaced ? .faced(bearing, event) : .left(bearing, event), at: index)
            if isFaced { repetition.restart() }
        }
        if let start = facingFrom { repeatFacing(a, start..<range.upperBound) }
    }

    private func process(
        _ watch: SectorWatch, of axis: DeviceAxis, _ a: SampleColumns, _ range: Range<Int>,
        told: (_ index: Int, _ isFaced: Bool, _ event: HeadingEvent) -> Void
    ) {
        watch.process(
            a.times, range: range, axis: axis, acceleration: columns.accelerations, field: columns.fields
        ) { index, isFaced in
            guard let event = event(at: index, a) else { return }
            told(index, isFaced, event)
        }
    }

    private func repeatFacing(_ a: SampleColumns, _ range: Range<Int>) {
        repetition.fire(times: a.times, range: range) { index in
            if let event = event(at: index, a) { found.append(.facing(event), at: index) }
        }
    }

    /// What there is to tell about a sample that has a heading.
    private func event(at index: Int, _ a: SampleColumns) -> HeadingEvent? {
        columns.source(at: index, timeNanoseconds: a.times[index]).map { event(of: $0, at: a.times[index]) }
    }

    /// What there is to tell about a heading at a moment, then or later.
    private func event(of source: HeadingHold.Source, at time: Int64) -> HeadingEvent {
        let (axis, attitude) = (source.pointing.axis, source.pointing.attitude)
        let declination = settings.localField?.declinationDegrees
        // An axis is chosen because it has a heading.
        let magnetic = attitude.headingDegrees(of: axis) ?? 0
        let heading = declination.map { Angle.normalizedDegrees(magnetic + $0) } ?? magnetic
        let toReference = Quaternion(aboutVertical: -(declination ?? 0) * .pi / 180)
        return HeadingEvent(
            timeNanoseconds: time, headingDegrees: heading, declinationDegrees: declination,
            accuracyDegrees: source.accuracyDegrees,
            age: Units.duration(from: source.timeNanoseconds, to: time), axis: axis,
            offDegrees: Angle.differenceDegrees(from: heading, to: settings.bearingDegrees),
            fieldMicrotesla: attitude.field, dipDegrees: attitude.dipDegrees,
            orientation: toReference * attitude.rotation,
            turnRateDegreesPerSecond: time == source.timeNanoseconds ? source.turnRateDegrees : nil)
    }
}
