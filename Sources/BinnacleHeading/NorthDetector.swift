public import Binnacle
import Kernels

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
/// keep *north* in their names as a compass keeps it on its card. Like `MotionManager` the detector knows no
/// clock but the samples' stamps, and works without a delegate, which it holds weakly and the session keeps.
public final class NorthDetector: EventDetector {
    package static let kind = "north"
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
    /// It is held weakly: who sets it has to keep it, as the session does. It is loaded once a delivery: a change counts from the next.
    package weak var delegate: (any NorthDetectorDelegate)?
    /// The heading and its accuracy at each sample that decides a heading, or why there is none.
    package let rows: MeasuredRows? = MeasuredRows()
    /// Why there was no heading at the last sample that could have had one; `nil` when there was.
    private(set) var lastFault: HeadingFault?
    /// Whether samples are looked at.
    public private(set) var isDetecting = false
    package internal(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// The number of samples that decide a heading since the start that had a heading, counted to the end of a delivery.
    package private(set) var validCount = 0
    /// The number of those samples since the start that had none, by cause.
    package private(set) var faultCounts: [HeadingFault: Int] = [:]

    /// The streams of the gyroscope, the accelerometer and the magnetometer, as far as they are there.
    public let streams: [SampleStream]
    /// Whether the device faces the bearing, at the sample that the delegate is being told about.
    package var isFacing: Bool { watches[0].isFaced }
    /// The last heading, valid or held, as of the end of the last delivery; `nil` when it is lost, or there was none yet.
    package var heading: HeadingEvent? {
        hold.last.map { event(of: $0, at: max(lastTimeNanoseconds, $0.timeNanoseconds)) }
    }
    /// What is known of the gyroscope, or of the iron without one, as of the end of the last delivery; `nil` while that is nothing.
    package var gyroscopeState: GyroscopeState? {
        // A gyroscope that is only silent at the moment has shown the iron better than the compass.
        fused?.state ?? (fused?.isOfDevice ?? false ? nil : compass.state)
    }
    /// Whether the field's strength is off, as of the end of the last delivery: iron is nearby, or the calibration is wrong.
    package var isDisturbed: Bool { compass.isDisturbed }

    private let gapLimitNanoseconds: Int64
    private let warmUpNanoseconds: Int64
    private var compass: CompassHeading
    private var hold: HeadingHold
    /// The bearing, and then the sectors.
    private let watches: [SectorWatch]
    private var repetition: RepeatTimer
    private var warmAtNanoseconds: Int64 = 0
    private var lastTimeNanoseconds: Int64 = 0
    /// The place of the accelerometer in the last delivery.
    private var lastStreamIndex = 0
    private var headingFilter: HeadingFilter
    private var fused: FusedHeading?
    /// Since when there is no heading because the iron is not known, and whether a calibration was asked for.
    private var ironUnknownNanoseconds: Int64?
    private var hasAskedForCalibration = false
    /// Whether turns show another iron than was known before.
    private var isIronOther = false
    /// What was found at each accelerometer sample of the delivery, or at each one of the gyroscope's.
    private var columns = HeadingColumns()

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
    package init(
        name: String = "north", accelerometer: SampleStream?, magnetometer: SampleStream?,
        gyroscope: SampleStream? = nil, settings: NorthSettings = NorthSettings()
    ) {
        settings.requireValid()
        self.name = name
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        self.gyroscope = gyroscope
        streams = [gyroscope, accelerometer, magnetometer].compactMap { $0 }
        self.settings = settings
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        warmUpNanoseconds = Units.nanoseconds(settings.smoothing * 3)
        compass = CompassHeading(settings: settings, accelerometer: accelerometer, magnetometer: magnetometer)
        hold = HeadingHold(settings: settings)
        repetition = RepeatTimer(interval: settings.updateInterval)
        headingFilter = HeadingFilter(degrees: settings.headingFilterDegrees)
        watches = [SectorWatch(nil, settings: settings)] + settings.sectors.map { SectorWatch($0, settings: settings) }
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
        compass = CompassHeading(settings: settings, accelerometer: accelerometer, magnetometer: magnetometer)
        delegate?.northDetectorDidStopDetection(self)
    }

    /// Tells the delegate when one of its streams is among those that failed: there is no heading any more, or it is found
    /// without the gyroscope.
    package func didLose(_ streams: [SampleStream], because error: any Error) {
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
    package func process(_ delivery: SampleDelivery) {
        rows?.removeAll()
        guard isDetecting, let accelerometer, let magnetometer, let up = delivery.index(of: accelerometer.id),
            let north = delivery.index(of: magnetometer.id)
        else { return }
        let turning = gyroscope.flatMap { delivery.index(of: $0.id) }
        // The fusion begins again where stamps do not tell how long nothing came.
        if delivery.hidesTime(of: gyroscope?.id) { fused?.interrupt() }
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
            report(streamIndex: lastStreamIndex)
            // Where the gyroscope begins or ceases to decide, the next stretch has other samples as its rows.
        } while !samples.isDone && isDetecting && startCount == start
    }

    /// Finds what there is up to the end of the delivery, or to where the gyroscope begins or ceases to decide.
    ///
    /// What was looked at is removed from `samples`. A heading is decided at each of `rows` from `first` on: the gyroscope's
    /// samples when `isFused`, else the accelerometer's.
    private func find(_ samples: inout MergedSamples, _ rows: SampleColumns, first: Int, isFused: Bool) {
        // Loaded once: a property of an object is checked at every access.
        let fused = fused
        columns.begin(rows.count)
        found.removeAll()
        for _ in 0..<first { columns.appendMissing() }
        var validFrom = first
        var index = first
        while isFused == fused?.isDeciding ?? false, let sample = samples.next() {
            switch sample {
            case .field(let place):
                processField(samples.field, place, rows, &validFrom, index, fused, isFused: isFused)
            case .acceleration(let place):
                let time = samples.acceleration.times[place]
                let vector = samples.acceleration.vector(place)
                if compass.update(acceleration: vector, at: time), !isFused {
                    interruptFacing(rows, &validFrom, index, startNanoseconds: time)
                }
                fused?.update(acceleration: vector, at: time)
                guard !isFused else {
                    // The compass's gates and its watch over the field are then ready when the gyroscope vanishes.
                    compass.watch(at: time) { found.append(.field($0, $1), at: index) }
                    handleSilence(of: fused, at: time, index)
                    continue
                }
                do {
                    handleHeading(
                        try compass.find(at: time, into: &columns) { found.append(.field($0, $1), at: index) }, index)
                } catch {
                    handleFault(error, at: time, rows, &validFrom, index)
                }
                index += 1
            case .rate(let place):
                guard let rates = samples.rates else { continue }
                let time = rates.times[place]
                if let failure = fused?.update(rate: rates.vector(place), at: time) {
                    found.append(.gyroscope(failure, timeNanoseconds: time), at: index)
                }
                guard isFused, let fused else { continue }
                if fused.found.isIronOther != isIronOther { handleOtherIron(at: time, index) }
                do {
                    handleHeading(try fused.find(at: time, into: &columns), index)
                } catch {
                    handleFault(error, at: time, rows, &validFrom, index)
                }
                index += 1
            }
        }
        findFacing(rows, range: validFrom..<index)
        if index > first { lastTimeNanoseconds = rows.times[index - 1] }
    }

    private func handleSilence(of fused: FusedHeading?, at time: Int64, _ index: Int) {
        guard let failure = fused?.missRate(at: time) else { return }
        found.append(.gyroscope(failure, timeNanoseconds: time), at: index)
    }

    // MARK: - Finding

    private func restart() {
        compass = CompassHeading(settings: settings, accelerometer: accelerometer, magnetometer: magnetometer)
        fused = FusedHeading(
            gyroscope, settings: settings, accelerometer: accelerometer, magnetometer: magnetometer)
        hold = HeadingHold(settings: settings)
        for watch in watches { watch.reset() }
        startCount += 1
        headingFilter.reset()
        validCount = 0
        faultCounts = [:]
        lastFault = nil
        lastTimeNanoseconds = 0
        isCalibrationNeeded = false
        (ironUnknownNanoseconds, hasAskedForCalibration, isIronOther) = (nil, false, false)
    }

    /// Takes a sample of the magnetometer, which lies before the row of an index.
    private func processField(
        _ m: SampleColumns, _ place: Int, _ a: SampleColumns, _ validFrom: inout Int, _ index: Int,
        _ fused: FusedHeading?, isFused: Bool
    ) {
        let time = m.times[place]
        let vector = m.vector(place)
        if compass.update(field: vector, at: time), !isFused {
            interruptFacing(a, &validFrom, index, startNanoseconds: time)
        }
        fused?.update(field: vector, at: time)
        if let fused { compass.update(iron: fused.iron) }
        guard !isFused else {
            handleSilence(of: fused, at: time, index)
            return
        }
        // While the accelerometer is silent, no other code would notice. It may also come in blocks, behind the magnetometer's;
        // so nothing is said of a heading that is only held.
        if let last = compass.lastAccelerationNanoseconds, isGap(from: last, to: time, limit: gapLimitNanoseconds),
            hold.isOverdue(at: time), handleMissingHeading(.accelerometerMissing, at: time, index)
        {
            lastTimeNanoseconds = time
            interruptFacing(a, &validFrom, index)
        }
    }

    /// Takes the heading of a row.
    private func handleHeading(_ source: HeadingHold.Source, _ index: Int) {
        lastFault = nil
        ironUnknownNanoseconds = nil
        if hasAskedForCalibration {
            hasAskedForCalibration = false
            found.append(.field(.calibrated, fieldEvent(at: source.timeNanoseconds)), at: index)
        }
        rows?.append(
            source.timeNanoseconds,
            SIMD4(
                Float(event(of: source, at: source.timeNanoseconds).headingDegrees), Float(source.accuracyDegrees),
                .nan, .nan))
        validCount += 1
        if hold.update(source) {
            headingFilter.reset()
            found.append(.regained(event(of: source, at: source.timeNanoseconds)), at: index)
        }
        guard headingFilter.update(source) else { return }
        found.append(.heading(event(of: source, at: source.timeNanoseconds)), at: index)
    }

    private func handleFault(
        _ fault: HeadingFault, at time: Int64, _ rows: SampleColumns, _ validFrom: inout Int, _ index: Int
    ) {
        lastFault = fault
        if fault == .ironUnknown { handleUnknownIron(at: time, index) }
        self.rows?.append(time, SIMD4(.nan, .nan, bit(of: fault), .nan))
        columns.appendMissing()
        faultCounts[fault, default: 0] += 1
        let isLost = handleMissingHeading(fault, at: time, index)
        guard isLost || !fault.isPassing else { return }
        interruptFacing(rows, &validFrom, index)
        validFrom = index + 1
    }

    /// Asks for a calibration when the device was not turned for a time.
    private func handleUnknownIron(at time: Int64, _ index: Int) {
        let since = ironUnknownNanoseconds ?? time
        ironUnknownNanoseconds = since
        guard !hasAskedForCalibration, Units.later(since, by: Units.nanoseconds(settings.calibrationDelay)) <= time
        else { return }
        hasAskedForCalibration = true
        found.append(.field(.needsCalibration, fieldEvent(at: time)), at: index)
    }

    /// Asks for a calibration when the iron has become another one, until that is known as well.
    private func handleOtherIron(at time: Int64, _ index: Int) {
        isIronOther.toggle()
        found.append(.field(isIronOther ? .needsCalibration : .calibrated, fieldEvent(at: time)), at: index)
    }

    private func fieldEvent(at time: Int64) -> FieldEvent {
        let strength = fused.flatMap { $0.isFed ? $0.fieldStrength : nil } ?? compass.fieldStrength
        return FieldEvent(
            timeNanoseconds: time, fieldMicrotesla: strength, expectedMicrotesla: compass.expectedStrength ?? strength)
    }

    /// Takes note that there is no heading at a moment; returns whether it is lost by that.
    private func handleMissingHeading(_ fault: HeadingFault, at time: Int64, _ index: Int) -> Bool {
        if fault == .gravityReversed, compass.isReversed, !hold.isLost {
            // No heading is to be expected, so there is nothing to hold.
            found.append(.lost(loss(fault, sensor: accelerometer?.sensor.name, hold.lose(), at: time)), at: index)
            return true
        }
        switch hold.updateMissing(at: time) {
        case nil: return false
        case .held(let source):
            // The next one that is found is reported, whatever its direction.
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
        findFacing(a, range: validFrom..<index)
        validFrom = index
        for watch in watches { watch.interrupt() }
        // Only after the decision: the samples before the start were warm by their own.
        if let startNanoseconds { warmAtNanoseconds = Units.later(startNanoseconds, by: warmUpNanoseconds) }
    }

    private func findFacing(_ a: SampleColumns, range: Range<Int>) {
        let warm = firstIndex(in: a.times, range: range, notBefore: warmAtNanoseconds)..<range.upperBound
        guard !warm.isEmpty else { return }
        var start = warm.lowerBound
        while start < warm.upperBound {
            let axis = columns.axes[start]
            var end = start + 1
            while end < warm.upperBound, columns.axes[end] == axis { end += 1 }
            if let axis { findFacing(of: axis, a, range: start..<end) }
            start = end
        }
    }

    /// Decides about samples that have the heading of one axis.
    private func findFacing(of axis: DeviceAxis, _ a: SampleColumns, range: Range<Int>) {
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
        let orientation = declination.map { Quaternion(aboutVertical: -$0 * .pi / 180) * attitude.rotation }
        return HeadingEvent(
            timeNanoseconds: time, headingDegrees: heading, declinationDegrees: declination,
            accuracyDegrees: source.accuracyDegrees,
            age: Units.duration(from: source.timeNanoseconds, to: time), axis: axis,
            offDegrees: Angle.differenceDegrees(from: heading, to: settings.bearingDegrees),
            fieldMicrotesla: attitude.field, dipDegrees: attitude.dipDegrees,
            orientation: orientation ?? attitude.rotation,
            turnRateDegreesPerSecond: time == source.timeNanoseconds ? source.turnRateDegrees : nil)
    }
}
