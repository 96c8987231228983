public import Binnacle
import Synchronization

/// A delegate that records its calls, on any thread, and returns configured answers.
public final class RecordingDelegate: Sendable {
    /// One call.
    public struct Call: Sendable, Equatable {
        /// The method's part of its name, such as `didBeginMotion`.
        public let name: String
        /// The stamp of the reported event, in nanoseconds; `nil` when it has none.
        public let timeNanoseconds: Int64?
    }

    private struct State {
        var calls: [Call] = []
        var motions: [MotionEvent] = []
        var rotations: [RotationEvent] = []
        var headings: [HeadingEvent] = []
        var losses: [HeadingLoss] = []
        var fields: [FieldEvent] = []
        var orientations: [OrientationEvent] = []
        var hinges: [HingeEvent] = []
    }
    private let state = Mutex(State())
    private let shouldReport: @Sendable (MotionEvent) -> Bool

    /// Creates a delegate without calls.
    ///
    /// - Parameter shouldReport: The answer to `motionManager(_:shouldReport:)`; this method is not recorded as a call.
    public init(shouldReport: @escaping @Sendable (MotionEvent) -> Bool = { _ in true }) {
        self.shouldReport = shouldReport
    }

    /// All calls, in order.
    public var calls: [Call] { state.withLock { $0.calls } }
    /// The events of a motion manager, in order.
    public var motions: [MotionEvent] { state.withLock { $0.motions } }
    /// The rotations of a motion manager, in order.
    public var rotations: [RotationEvent] { state.withLock { $0.rotations } }
    /// The headings that a north detector reported as updates, in order.
    public var headings: [HeadingEvent] { state.withLock { $0.headings } }
    /// The headings that were lost.
    public var losses: [HeadingLoss] { state.withLock { $0.losses } }
    /// A north detector's events about the field.
    public var fields: [FieldEvent] { state.withLock { $0.fields } }

    /// The events of an orientation detector, in order.
    public var orientations: [OrientationEvent] { state.withLock { $0.orientations } }
    /// The events of a hinge detector, in order.
    public var hinges: [HingeEvent] { state.withLock { $0.hinges } }

    private func record(_ name: String, _ time: Int64? = nil, _ change: @Sendable (inout State) -> Void = { _ in }) {
        state.withLock { state in
            state.calls.append(Call(name: name, timeNanoseconds: time))
            change(&state)
        }
    }
    private func record(_ name: String, _ event: MotionEvent) {
        record(name, event.timeNanoseconds) { $0.motions.append(event) }
    }
    private func record(_ name: String, _ event: HeadingEvent) { record(name, event.timeNanoseconds) }
    private func record(_ name: String, _ event: FieldEvent) {
        record(name, event.timeNanoseconds) { $0.fields.append(event) }
    }
}

// Each method records its call.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RecordingDelegate: MotionManagerDelegate {
    public func motionManagerWillStartDetection(_ manager: MotionManager) { record("willStartDetection") }
    public func motionManagerDidStopDetection(_ manager: MotionManager) { record("didStopDetection") }
    public func motionManagerDeviceNotAvailable(_ manager: MotionManager) { record("deviceNotAvailable") }
    public func motionManager(_ manager: MotionManager, didFailWithError error: any Error) {
        record("didFailWithError")
    }
    public func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool { shouldReport(event) }
    public func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) {
        record("didBeginMotion", event)
    }
    public func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) {
        record("deviceIsMoving", sample.timeNanoseconds)
    }
    public func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) {
        record("didEndMotion", event)
    }
    public func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) {
        record("didDetectShake", event)
    }
    public func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) {
        record("didDetectFreeFall", event)
    }
    public func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) {
        record("didDetectShock", event)
    }
    public func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) {
        record("didBeginRotation", event.timeNanoseconds) { $0.rotations.append(event) }
    }
    public func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) {
        record("didEndRotation", event.timeNanoseconds) { $0.rotations.append(event) }
    }
}

// Each method records its call.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RecordingDelegate: NorthDetectorDelegate {
    public func northDetectorWillStartDetection(_ detector: NorthDetector) { record("willStartDetection") }
    public func northDetectorDidStopDetection(_ detector: NorthDetector) { record("didStopDetection") }
    public func northDetectorDeviceNotAvailable(_ detector: NorthDetector) { record("deviceNotAvailable") }
    public func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) {
        record("didFailWithError")
    }
    public func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) {
        record("didUpdateHeading", event.timeNanoseconds) { $0.headings.append(event) }
    }
    public func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) {
        record("didFaceNorth", event)
    }
    public func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) {
        record("deviceIsFacingNorth", event)
    }
    public func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) {
        record("didLeaveNorth", event)
    }
    public func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) {
        record("didLoseHeading", loss.timeNanoseconds) { $0.losses.append(loss) }
    }
    public func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) {
        record("didFindHeading", event)
    }
    public func northDetector(
        _ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent
    ) { record("didEnter \(sector.name)", event) }
    public func northDetector(
        _ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent
    ) { record("didLeave \(sector.name)", event) }
    public func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) {
        record("didBeginInterference", event)
    }
    public func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) {
        record("didEndInterference", event)
    }
    public func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) {
        record("didBeginNeedingCalibration", event)
    }
    public func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) {
        record("didEndNeedingCalibration", event)
    }
}

// Each method records its call; questions are answered with yes and not recorded.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RecordingDelegate: OrientationDetectorDelegate {
    public func orientationDetectorWillStartDetection(_ detector: OrientationDetector) { record("willStartDetection") }
    public func orientationDetectorDidStopDetection(_ detector: OrientationDetector) { record("didStopDetection") }
    public func orientationDetectorDeviceNotAvailable(_ detector: OrientationDetector) { record("deviceNotAvailable") }
    public func orientationDetector(_ detector: OrientationDetector, didFailWithError error: any Error) {
        record("didFailWithError")
    }
    public func orientationDetector(_ detector: OrientationDetector, didChangeOrientation event: OrientationEvent) {
        record("didChangeOrientation", event.timeNanoseconds) { $0.orientations.append(event) }
    }
    public func orientationDetector(_ detector: OrientationDetector, didChangeTilt event: OrientationEvent) {
        record("didChangeTilt", event.timeNanoseconds) { $0.orientations.append(event) }
    }
}

// Each method records its call; the question is answered with yes and not recorded.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension RecordingDelegate: HingeDetectorDelegate {
    public func hingeDetectorWillStartDetection(_ detector: HingeDetector) { record("willStartDetection") }
    public func hingeDetectorDidStopDetection(_ detector: HingeDetector) { record("didStopDetection") }
    public func hingeDetectorDeviceNotAvailable(_ detector: HingeDetector) { record("deviceNotAvailable") }
    public func hingeDetector(_ detector: HingeDetector, didFailWithError error: any Error) {
        record("didFailWithError")
    }
    public func hingeDetector(_ detector: HingeDetector, didChange event: HingeEvent) {
        record("didChange", event.timeNanoseconds) { $0.hinges.append(event) }
    }
}
