extension Router: MotionManagerDelegate {
    /// Makes an event of it.
    public func motionManagerDeviceNotAvailable(_ manager: MotionManager) {
        collect(.detectorUnavailable, manager, reason("no active accelerometer"))
    }

    /// Makes an event of it.
    public func motionManager(_ manager: MotionManager, didFailWithError error: any Error) {
        collect(.detectorFailed, manager, reason(error))
    }

    /// Makes an event of it.
    public func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        collect(.motionBegan, manager, event, [Figure(.peak, event.magnitude), Figure(.onset, event.onset)])
    }

    /// Makes an event of it, when a handler asks for that kind.
    public func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        guard isAsked(for: .motionMoving) else { return }
        collect(
            .motionMoving, manager, manager.accelerometer?.sensor.name, sample.timeNanoseconds,
            [
                Figure(.x, .number(Double(sample.x), decimals: 3)),
                Figure(.y, .number(Double(sample.y), decimals: 3)),
                Figure(.z, .number(Double(sample.z), decimals: 3)),
            ])
    }

    /// Makes an event of it.
    public func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        collect(
            .motionEnded, manager, event,
            [Figure(.peak, event.magnitude), Figure(.duration, event.duration), Figure(.onset, event.onset)])
    }

    /// Makes an event of it.
    public func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        collect(.shake, manager, event, [Figure(.userAcceleration, event.magnitude)])
    }

    /// Makes an event of it.
    public func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        collect(
            .freeFall, manager, event,
            [Figure(.smallest, event.magnitude), Figure(.duration, event.duration), Figure(.onset, event.onset)])
    }

    /// Makes an event of it.
    public func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        collect(.shock, manager, event, [Figure(.magnitude, event.magnitude)])
    }

    private func collect(_ kind: EventKind, _ manager: MotionManager, _ event: MotionEvent, _ figures: [Figure]) {
        collect(kind, manager, manager.accelerometer?.sensor.name, event.timeNanoseconds, figures)
    }
}

extension Router: NorthDetectorDelegate {
    /// Makes an event of it.
    public func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        collect(.detectorUnavailable, detector, reason("no active accelerometer and magnetometer"))
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, reason(error))
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        collect(.heading, detector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        collect(.headingFound, detector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        var figures = [Figure(.reason, .text(loss.fault.rawValue))]
        if let age = loss.heldSeconds { figures.append(Figure(.age, .number(age, decimals: 3))) }
        collect(.headingLost, detector, loss.sensor, loss.timeNanoseconds, figures)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorEntered, detector, sector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorLeft, detector, sector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        collect(.interferenceBegan, detector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        collect(.interferenceEnded, detector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        collect(.calibrationNeeded, detector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        collect(.calibrationRestored, detector, event)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        collect(.northFaced, detector, event.timeNanoseconds, event.facing)
    }

    /// Makes an event of it, when a handler asks for that kind.
    public func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        guard isAsked(for: .northFacing) else { return }
        collect(.northFacing, detector, event.timeNanoseconds, event.facing)
    }

    /// Makes an event of it.
    public func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        collect(.northLeft, detector, event.timeNanoseconds, event.facing)
    }
}

extension Router {
    /// The detector's position orders the event; its time is its own, also when a decorator has held it back.
    private func collect(
        _ kind: EventKind, _ detector: any Detector, _ sensor: String?, _ timeNanoseconds: Int64, _ figures: [Figure]
    ) {
        var event = Event(
            kind: kind, detector: detector.name, sensor: sensor, timeNanoseconds: timeNanoseconds,
            figures: figures)
        event.isSimulated = detector.isSimulated
        collect(event, at: detector.position)
    }

    /// What is found of a heading is about the magnetometer.
    private func collect(
        _ kind: EventKind, _ detector: NorthDetector, _ timeNanoseconds: Int64, _ figures: [Figure]
    ) {
        collect(kind, detector, detector.magnetometer?.sensor.name, timeNanoseconds, figures)
    }

    private func collect(_ kind: EventKind, _ detector: NorthDetector, _ event: HeadingEvent) {
        var figures = event.direction
        if let declination = event.declinationDegrees {
            figures.append(Figure(.declination, .number(declination, decimals: 2)))
        }
        figures.append(Figure(.accuracy, .number(event.accuracyDegrees, decimals: 1)))
        if event.isStale { figures.append(Figure(.age, .number(event.ageSeconds, decimals: 3))) }
        figures += [
            Figure(.axis, .text(event.axis.rawValue)), Figure(.field, .number(event.fieldMicrotesla, decimals: 2)),
            Figure(.dip, .number(event.dipDegrees, decimals: 1)),
        ]
        collect(kind, detector, event.timeNanoseconds, figures)
    }

    private func collect(
        _ kind: EventKind, _ detector: NorthDetector, _ sector: HeadingSector, _ event: HeadingEvent
    ) {
        collect(
            kind, detector, event.timeNanoseconds,
            [Figure(.sector, .text(sector.name))] + event.direction + [
                Figure(.accuracy, .number(event.accuracyDegrees, decimals: 1)),
                Figure(.axis, .text(event.axis.rawValue)),
            ])
    }

    private func collect(_ kind: EventKind, _ detector: NorthDetector, _ event: FieldEvent) {
        collect(
            kind, detector, event.timeNanoseconds,
            [
                Figure(.field, .number(event.fieldMicrotesla, decimals: 2)),
                Figure(.expected, .number(event.expectedMicrotesla, decimals: 2)),
            ])
    }

    /// What happens to a detector belongs to no sample.
    private func collect(_ kind: EventKind, _ detector: any Detector, _ figures: [Figure]) {
        var event = Event(kind: kind, detector: detector.name, timeNanoseconds: 0, figures: figures)
        event.isSimulated = detector.isSimulated
        report(event)
    }

    private func reason(_ reason: Any) -> [Figure] {
        [Figure(.reason, .text("\(reason)"))]
    }
}

extension Detector {
    /// Whether one of its streams is made up.
    fileprivate var isSimulated: Bool { streams.contains { $0.sensor.isSimulated } }
}

extension MotionEvent {
    fileprivate var magnitude: Figure.Value { .number(Double(magnitudeG), decimals: 4) }
    fileprivate var duration: Figure.Value { .number(durationSeconds, decimals: 3) }
    fileprivate var onset: Figure.Value { .integer(onsetNanoseconds) }
}

extension HeadingEvent {
    /// Rounded first and normalised then: 359.996° is 0.00°, not 360.00°.
    fileprivate var heading: Figure.Value {
        .number(Angle.normalizedDegrees((headingDegrees * 100).rounded() / 100), decimals: 2)
    }
    /// Where it points, and from which north when that is not the sensors' own.
    fileprivate var direction: [Figure] {
        [Figure(.heading, heading)] + (reference == .true ? [Figure(.reference, .text(reference.rawValue))] : [])
    }
    fileprivate var facing: [Figure] {
        direction + [
            Figure(.off, .number(offDegrees, decimals: 2)),
            Figure(.accuracy, .number(accuracyDegrees, decimals: 1)),
            Figure(.axis, .text(axis.rawValue)),
        ]
    }
}
