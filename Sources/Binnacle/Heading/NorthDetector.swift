import Kernels

/// Finds the heading from an accelerometer and a magnetometer, and tells its delegate where the device faces.
///
/// A heading is decided at every accelerometer sample, paired with the latest magnetometer sample that came before
/// it. The bearing waited for is north unless ``NorthSettings/bearingDegrees`` says otherwise; the delegate methods
/// keep *north* in their names as a compass keeps it on its card. Like ``MotionManager`` the detector knows no
/// clock but the samples' stamps, and works without a delegate, which it holds weakly.
public final class NorthDetector: Detector {
    /// The name that events carry.
    public let name: String
    /// The accelerometer's stream; `nil` when there is none.
    public private(set) var accelerometer: SampleStream?
    /// The magnetometer's stream; `nil` when there is none.
    public private(set) var magnetometer: SampleStream?
    /// How the heading is found, and which bearing is waited for.
    public let settings: NorthSettings
    /// Told what is found.
    ///
    /// It is held weakly, so somebody else has to own it. It is loaded once a delivery: a change counts from the next.
    public weak var delegate: (any NorthDetectorDelegate)?
    /// Whether samples are looked at.
    public private(set) var isDetecting = false
    /// The sample that the delegate is being told about.
    public private(set) var position = SamplePosition(timeNanoseconds: 0, streamIndex: 0, sampleIndex: 0)
    /// The number of accelerometer samples since the start that had a heading, counted to the end of a delivery.
    public private(set) var validCount = 0
    /// The number of accelerometer samples since the start without a heading, by cause.
    public private(set) var faultCounts: [HeadingFault: Int] = [:]

    /// How often "device is facing north" is repeated at most.
    public var updateInterval: Duration { settings.updateInterval }
    /// The accelerometer's and the magnetometer's stream, as far as they are there.
    public var streams: [SampleStream] { [accelerometer, magnetometer].compactMap { $0 } }
    /// Whether the device faces the bearing, at the sample that the delegate is being told about.
    public private(set) var isFacing = false

    private enum Kind { case heading, faced, facing, left }
    private typealias Found = (kind: Kind, event: HeadingEvent)

    private let gapLimitNanoseconds: Int64
    private let maximumAgeNanoseconds: Int64
    private let warmUpNanoseconds: Int64
    private var finder: HeadingFinder
    private var acceleration: OnePoleFilter
    private var field: OnePoleFilter
    private var fieldHistory = FieldHistory()
    private var facing: DebouncedTrigger
    private var repetition: RepeatTimer
    private var warmAtNanoseconds: Int64 = 0
    /// How often detection was started: what was found before a start is not told after it.
    private var startCount = 0
    private var headingFilter: HeadingFilter
    /// Where the heading axis faces the bearing, and where the upright axis does.
    private let headingSector: Sector
    private let uprightSector: Sector
    private var found = ReportList<Found>()
    /// The axis that has a heading at each accelerometer sample of the delivery, where there is one; kept to reuse its
    /// room.
    private var axes: [DeviceAxis?] = []
    /// Smoothed acceleration and field at each accelerometer sample of the delivery that has a heading.
    private let accelerations = ScratchVectors()
    private let fields = ScratchVectors()

    /// Creates a detector that does not detect yet.
    ///
    /// - Parameters:
    ///   - name: The name that events carry.
    ///   - accelerometer: The stream that says what is up; without one, a start tells *device not available*.
    ///   - magnetometer: The stream that says where north is; the same holds for it.
    ///   - settings: How to find the heading, and which bearing to wait for.
    /// - Precondition: ``NorthSettings/problems()`` finds none.
    public init(
        name: String = "north", accelerometer: SampleStream?, magnetometer: SampleStream?,
        settings: NorthSettings = NorthSettings()
    ) {
        let problems = settings.problems()
        precondition(problems.isEmpty, "\(problems)")
        self.name = name
        self.accelerometer = accelerometer
        self.magnetometer = magnetometer
        self.settings = settings
        gapLimitNanoseconds = Units.nanoseconds(settings.gapLimit)
        maximumAgeNanoseconds = Units.nanoseconds(settings.maximumMagnetometerAge)
        warmUpNanoseconds = Units.nanoseconds(settings.smoothing * 3)
        finder = HeadingFinder(settings: settings)
        let timeConstant = Float(settings.smoothing / .seconds(1))
        acceleration = OnePoleFilter(timeConstantSeconds: timeConstant)
        field = OnePoleFilter(timeConstantSeconds: timeConstant)
        let dwell = Units.nanoseconds(settings.dwell)
        facing = DebouncedTrigger(activeSide: .inside, onDelayNanoseconds: dwell, offDelayNanoseconds: dwell)
        repetition = RepeatTimer(interval: settings.updateInterval)
        headingFilter = HeadingFilter(degrees: settings.headingFilterDegrees)
        headingSector = Self.sector(settings.headingAxis, settings)
        uprightSector = Self.sector(settings.uprightAxis ?? settings.headingAxis, settings)
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
        isFacing = false
        delegate?.northDetectorDidStopDetection(self)
    }

    /// Takes note of the new places of both.
    public func move(to streams: [SampleStream]) {
        accelerometer = accelerometer?.moved(to: streams)
        magnetometer = magnetometer?.moved(to: streams)
    }

    /// Tells the delegate when one of its two streams is among those that failed.
    public func didLose(_ streams: [SampleStream], because error: any Error) {
        let own = self.streams.map(\.index)
        guard isDetecting, streams.contains(where: { own.contains($0.index) }) else { return }
        delegate?.northDetector(self, didFailWithError: error)
    }

    /// Looks at the two batches and tells the delegate what they mean.
    public func process(_ delivery: SampleDelivery) {
        guard isDetecting, let accelerometer, let magnetometer else { return }
        let a = delivery.batches[accelerometer.index].columns
        let m = delivery.batches[magnetometer.index].columns
        let isMagnetometerFirst = magnetometer.index < accelerometer.index
        axes.removeAll(keepingCapacity: true)
        accelerations.reserve(a.count)
        fields.reserve(a.count)
        found.removeAll()
        var next = 0
        var validFrom = 0
        for index in 0..<a.count {
            let time = a.times[index]
            while next < m.count, m.times[next] < time || (m.times[next] == time && isMagnetometerFirst) {
                if takeField(m, next) { interruptFacing(a, &validFrom, index, startNanoseconds: m.times[next]) }
                next += 1
            }
            if take(a.vector(index), at: time, into: &acceleration) {
                interruptFacing(a, &validFrom, index, startNanoseconds: time)
            }
            let pointing = findPointing(at: time, index)
            axes.append(pointing?.axis)
            if let pointing {
                noteHeading(pointing, a, index)
            } else {
                interruptFacing(a, &validFrom, index)
                validFrom = index + 1
            }
        }
        while next < m.count {
            if takeField(m, next) { interruptFacing(a, &validFrom, a.count, startNanoseconds: m.times[next]) }
            next += 1
        }
        lookForFacing(a, range: validFrom..<a.count)
        found.sort()
        tell(streamIndex: accelerometer.index)
    }

    // MARK: - Finding

    private func restart() {
        finder = HeadingFinder(settings: settings)
        acceleration.reset()
        field.reset()
        fieldHistory.removeAll()
        facing.reset()
        startCount += 1
        headingFilter.reset()
        validCount = 0
        faultCounts = [:]
    }

    private func takeField(_ m: SampleColumns, _ index: Int) -> Bool {
        let startsAnew = take(m.vector(index), at: m.times[index], into: &field)
        fieldHistory.append(field.value, at: field.lastTimeNanoseconds)
        return startsAnew
    }

    /// Smooths one sample; a sample that is not finite is left out.
    ///
    /// - Returns: Whether the filter started anew; what depends on it has to warm up then.
    private func take(_ vector: SIMD3<Float>, at time: Int64, into filter: inout OnePoleFilter) -> Bool {
        guard squaredLength(vector) < .infinity else { return false }
        let last = filter.lastTimeNanoseconds
        let startsAnew = last.map { isGap(from: $0, to: time, limit: gapLimitNanoseconds) } ?? true
        if startsAnew { filter.reset() }
        filter.step(vector, timeNanoseconds: time)
        return startsAnew
    }

    /// Finds the axis that has a heading at a sample, and keeps what it is found from.
    private func findPointing(at time: Int64, _ index: Int) -> HeadingFinder.Pointing? {
        guard let field = fieldHistory.latest(notAfter: time, maximumAge: maximumAgeNanoseconds) else {
            faultCounts[.magnetometerMissing, default: 0] += 1
            return nil
        }
        // A sample that was not finite left the filter where it was: its stamp would not fit the value.
        guard acceleration.lastTimeNanoseconds == time else {
            faultCounts[.accelerationWeak, default: 0] += 1
            return nil
        }
        switch finder.find(acceleration: acceleration.value, field: field) {
        case .success(let pointing):
            validCount += 1
            accelerations[index] = acceleration.value
            fields[index] = field
            return pointing
        case .failure(let fault):
            faultCounts[fault, default: 0] += 1
            return nil
        }
    }

    private func noteHeading(_ pointing: HeadingFinder.Pointing, _ a: SampleColumns, _ index: Int) {
        guard headingFilter.take(pointing), let event = event(at: index, a) else { return }
        found.append((.heading, event), at: index)
    }

    /// Decides about the samples up to an invalid one, or up to a fresh start of a filter, and forgets what is
    /// unconfirmed.
    private func interruptFacing(
        _ a: SampleColumns, _ validFrom: inout Int, _ index: Int, startNanoseconds: Int64? = nil
    ) {
        lookForFacing(a, range: validFrom..<index)
        validFrom = index
        facing.interrupt()
        // Only after the decision: the samples before the start were warm by their own.
        if let startNanoseconds { warmAtNanoseconds = Units.later(startNanoseconds, by: warmUpNanoseconds) }
    }

    private func lookForFacing(_ a: SampleColumns, range: Range<Int>) {
        let warm = firstIndex(in: a.times, range: range, notBefore: warmAtNanoseconds)..<range.upperBound
        guard !warm.isEmpty else { return }
        var start = warm.lowerBound
        while start < warm.upperBound {
            let axis = axes[start]
            var end = start + 1
            while end < warm.upperBound, axes[end] == axis { end += 1 }
            if let axis { lookForFacing(of: axis, a, range: start..<end) }
            start = end
        }
    }

    /// Decides about samples that have the heading of one axis.
    private func lookForFacing(of axis: DeviceAxis, _ a: SampleColumns, range: Range<Int>) {
        var facingFrom = facing.isOn ? range.lowerBound : nil
        let sector = axis == settings.headingAxis ? headingSector : uprightSector
        facing.process(times: a.times, range: range) { isFacing, crossings in
            findFacing(
                acceleration: accelerations.columns, field: fields.columns, range: range, sector: sector,
                isFacing: &isFacing, crossings: &crossings)
        }
        for transition in facing.transitions {
            if let start = facingFrom { repeatFacing(a, start..<transition.index) }
            facingFrom = transition.isOn ? transition.index : nil
            guard let event = event(at: transition.index, a) else { continue }
            found.append((transition.isOn ? .faced : .left, event), at: transition.index)
            if transition.isOn { repetition.restart() }
        }
        if let start = facingFrom { repeatFacing(a, start..<range.upperBound) }
    }

    private func repeatFacing(_ a: SampleColumns, _ range: Range<Int>) {
        repetition.fire(times: a.times, range: range) { index in
            if let event = event(at: index, a) { found.append((.facing, event), at: index) }
        }
    }

    /// What there is to tell about a sample that has a heading.
    private func event(at index: Int, _ a: SampleColumns) -> HeadingEvent? {
        axes[index].flatMap { axis in
            HeadingFinder.reading(of: axis, acceleration: accelerations[index], field: fields[index])
        }.map { reading in
            HeadingEvent(
                timeNanoseconds: a.times[index], headingDegrees: reading.headingDegrees, axis: reading.axis,
                offDegrees: Angle.differenceDegrees(from: reading.headingDegrees, to: settings.bearingDegrees),
                fieldMicrotesla: reading.fieldMicrotesla, dipDegrees: reading.dipDegrees)
        }
    }

    private static func sector(_ axis: DeviceAxis, _ settings: NorthSettings) -> Sector {
        Sector(
            axis: axis.column, isReversed: axis.isReversed, bearingDegrees: settings.bearingDegrees,
            toleranceDegrees: settings.toleranceDegrees,
            exitDegrees: max(settings.effectiveExitDegrees, settings.toleranceDegrees))
    }

    // MARK: - Telling

    private func tell(streamIndex: Int) {
        guard !found.reports.isEmpty else { return }
        let delegate = self.delegate
        let start = startCount
        for report in found.reports {
            guard isDetecting, startCount == start else { return }
            let event = report.payload.event
            position = SamplePosition(
                timeNanoseconds: event.timeNanoseconds, streamIndex: streamIndex, sampleIndex: report.index)
            switch report.payload.kind {
            case .heading: delegate?.northDetector(self, didUpdateHeading: event)
            case .faced:
                isFacing = true
                delegate?.northDetector(self, didFaceNorth: event)
            case .facing: delegate?.northDetector(self, deviceIsFacingNorth: event)
            case .left:
                isFacing = false
                delegate?.northDetector(self, didLeaveNorth: event)
            }
        }
    }
}
