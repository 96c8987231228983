// What each method is told, and when, stands with the delegates' protocols; the row of a kind says what its event has.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: MotionManagerDelegate {
    package func motionManagerDeviceNotAvailable(_ manager: MotionManager) {
        collect(.detectorUnavailable, manager, because: "no active accelerometer")
    }

    package func motionManager(_ manager: MotionManager, didFailWithError error: any Error) {
        collect(.detectorFailed, manager, because: "\(error)")
    }

    package func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        collect(.motionBegan, manager, event)
    }

    package func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        collect(.motionMoving, manager, sample)
    }

    package func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        collect(.motionEnded, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        collect(.shake, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        collect(.freeFall, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        collect(.shock, manager, event)
    }

    package func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) {
        collect(.rotationBegan, manager, event, sensor: manager.gyroscope?.sensor.name)
    }

    package func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) {
        collect(.rotationEnded, manager, event, sensor: manager.gyroscope?.sensor.name)
    }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: NorthDetectorDelegate {
    package func northDetectorDeviceNotAvailable(_ detector: NorthDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer and magnetometer")
    }

    package func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        collect(.heading, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        collect(.headingFound, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        collect(.headingLost, detector, loss, sensor: loss.sensor)
    }

    package func northDetector(_ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorEntered, detector, SectorEvent(sector: sector, heading: event))
    }

    package func northDetector(_ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent) {
        collect(.sectorLeft, detector, SectorEvent(sector: sector, heading: event))
    }

    package func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        collect(.interferenceBegan, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        collect(.interferenceEnded, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        collect(.calibrationNeeded, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        collect(.calibrationRestored, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        collect(.northFaced, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        collect(.northFacing, detector, event)
    }

    package func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        collect(.northLeft, detector, event)
    }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: OrientationDetectorDelegate {
    package func orientationDetectorDeviceNotAvailable(_ detector: OrientationDetector) {
        collect(.detectorUnavailable, detector, because: "no active accelerometer")
    }

    package func orientationDetector(_ detector: OrientationDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func orientationDetector(_ detector: OrientationDetector, didChangeOrientation event: OrientationEvent) {
        collect(.orientationChanged, detector, event, sensor: detector.accelerometer?.sensor.name)
    }

    package func orientationDetector(_ detector: OrientationDetector, didChangeTilt event: OrientationEvent) {
        collect(.tiltChanged, detector, event, sensor: detector.accelerometer?.sensor.name)
    }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: HingeDetectorDelegate {
    package func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector) {
        collect(.detectorUnavailable, detector, because: "no two active accelerometers and no switch")
    }

    package func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent) {
        collect(.hingeChanged, detector, event, sensor: detector.screen?.sensor.name)
    }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: AmbientLightDetectorDelegate {
    package func ambientLightDetector(_ detector: AmbientLightDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func ambientLightDetector(_ detector: AmbientLightDetector, didChange event: LightEvent) {
        collect(.lightChanged, detector, event, sensor: detector.name)
    }
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension Router: ProximityDetectorDelegate {
    package func proximityDetector(_ detector: ProximityDetector, didFailWithError error: any Error) {
        collect(.detectorFailed, detector, because: "\(error)")
    }

    package func proximityDetector(_ detector: ProximityDetector, didChange event: ProximityEvent) {
        collect(.proximityChanged, detector, event, sensor: detector.name)
    }
}

extension Router {
    /// What is found about motion is about the accelerometer.
    private func collect(_ kind: EventKind, _ manager: MotionManager, _ result: some DetectorResult) {
        collect(kind, manager, result, sensor: manager.accelerometer?.sensor.name)
    }

    /// What is found about a heading is about the magnetometer.
    private func collect(_ kind: EventKind, _ detector: NorthDetector, _ result: some DetectorResult) {
        collect(kind, detector, result, sensor: detector.magnetometer?.sensor.name)
    }

    /// Makes an event of what a detector found.
    ///
    /// The position of the detector orders the event; its time is that of the result, which a decorator may have held back.
    func collect(
        _ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult, sensor: String?
    ) {
        guard kind.role != .repeated || isAsked(for: kind) else { return }
        var event = Event(
            kind: kind, detector: detector.name, sensor: sensor, timeNanoseconds: result.timeNanoseconds, of: result)
        event.isSimulated = detector.isSimulated
        collect(event, at: detector.position)
    }

    /// What happens to a detector belongs to no sample.
    func collect(_ kind: EventKind, _ detector: any Detector, because reason: String) {
        var event = Event(
            kind: kind, detector: detector.name, timeNanoseconds: 0, figures: [Figure(.reason, .text(reason))])
        event.isSimulated = detector.isSimulated
        report(event)
    }
}

extension Detector {
    /// Whether one of its streams is made up.
    fileprivate var isSimulated: Bool { streams.contains { $0.sensor.isSimulated } }
}
