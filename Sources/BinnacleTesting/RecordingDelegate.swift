public import Binnacle
public import BinnacleHeading
import Synchronization

/// A delegate that records its calls, on any thread, and returns the answers that were set.
public final class RecordingDelegate: MotionManagerDelegate, NorthDetectorDelegate, Sendable {
    /// One call.
    public struct Call: Sendable, Equatable {
        /// The method's part of its name, such as `didBeginMotion`.
        public let name: String
        /// The stamp of the reported event, in nanoseconds; `nil` when it has none.
        public let timeNanoseconds: Int64?
    }

    private let recorder: Recorder

    /// Creates a delegate that was told nothing.
    ///
    /// - Parameter shouldReport: The answer to `motionManager(_:shouldReport:)`; the question is no call of its own.
    public init(shouldReport: @escaping @Sendable (MotionEvent) -> Bool = { _ in true }) {
        recorder = Recorder(shouldReport: shouldReport)
    }

    /// All calls in their order.
    public var calls: [Call] { recorder.state.withLock { $0.calls } }
    /// What detectors reported, of one type such as `MotionEvent`, in its order; of headings the updates.
    ///
    /// - Parameter type: The type of the results.
    /// - Returns: The results.
    public func results<Result: Sendable>(of type: Result.Type = Result.self) -> [Result] {
        recorder.state.withLock { $0.results.compactMap { $0 as? Result } }
    }

    package var motions: [MotionEvent] { results() }
    package var rotations: [RotationEvent] { results() }
    package var headings: [HeadingEvent] { results() }

    /// The recorder, which is told every call.
    public var decoratedMotionDelegate: (any MotionManagerDelegate)? { recorder }
    /// The recorder, which is told every call.
    public var decoratedNorthDelegate: (any NorthDetectorDelegate)? { recorder }
}

/// Writes down what a ``RecordingDelegate`` passes on: the methods of the delegates' protocols are no members of that one.
private final class Recorder: Sendable {
    struct State {
        var calls: [RecordingDelegate.Call] = []
        var results: [any Sendable] = []
    }
    let state = Mutex(State())
    private let shouldReport: @Sendable (MotionEvent) -> Bool

    init(shouldReport: @escaping @Sendable (MotionEvent) -> Bool) { self.shouldReport = shouldReport }

    /// Writes a call down, by the method's part of its name; of a result that is not kept, the stamp alone.
    func record(
        _ result: (any DetectorResult)? = nil, of told: (any DetectorResult)? = nil, as name: String? = nil,
        function: String = #function
    ) {
        let name = name ?? String(function.split(separator: ":")[1])
        let time = (result ?? told)?.timeNanoseconds
        state.withLock { state in
            state.calls.append(RecordingDelegate.Call(name: name, timeNanoseconds: time))
            if let result { state.results.append(result) }
        }
    }
}

extension Recorder: MotionManagerDelegate {
    func motionManagerWillStartDetection(_ manager: MotionManager) { record(as: "willStartDetection") }
    func motionManagerDidStopDetection(_ manager: MotionManager) { record(as: "didStopDetection") }
    func motionManagerDeviceNotAvailable(_ manager: MotionManager) { record(as: "deviceNotAvailable") }
    func motionManager(_ manager: MotionManager, didFailWithError error: any Error) { record() }
    func motionManager(_ manager: MotionManager, shouldReport event: MotionEvent) -> Bool { shouldReport(event) }
    func motionManager(_ manager: MotionManager, didBeginMotion event: MotionEvent) { record(event) }
    func motionManager(_ manager: MotionManager, deviceIsMoving sample: Sample) { record(of: sample) }
    func motionManager(_ manager: MotionManager, didEndMotion event: MotionEvent) { record(event) }
    func motionManager(_ manager: MotionManager, didDetectShake event: MotionEvent) { record(event) }
    func motionManager(_ manager: MotionManager, didDetectFreeFall event: MotionEvent) { record(event) }
    func motionManager(_ manager: MotionManager, didDetectShock event: MotionEvent) { record(event) }
    func motionManager(_ manager: MotionManager, didBeginRotation event: RotationEvent) { record(event) }
    func motionManager(_ manager: MotionManager, didEndRotation event: RotationEvent) { record(event) }
}

extension Recorder: NorthDetectorDelegate {
    func northDetectorWillStartDetection(_ detector: NorthDetector) { record(as: "willStartDetection") }
    func northDetectorDidStopDetection(_ detector: NorthDetector) { record(as: "didStopDetection") }
    func northDetectorDeviceNotAvailable(_ detector: NorthDetector) { record(as: "deviceNotAvailable") }
    func northDetector(_ detector: NorthDetector, didFailWithError error: any Error) { record() }
    func northDetector(_ detector: NorthDetector, didUpdateHeading event: HeadingEvent) { record(event) }
    func northDetector(_ detector: NorthDetector, didFaceNorth event: HeadingEvent) { record(of: event) }
    func northDetector(_ detector: NorthDetector, deviceIsFacingNorth event: HeadingEvent) { record(of: event) }
    func northDetector(_ detector: NorthDetector, didLeaveNorth event: HeadingEvent) { record(of: event) }
    func northDetector(_ detector: NorthDetector, didLoseHeading loss: HeadingLoss) { record(loss) }
    func northDetector(_ detector: NorthDetector, didFindHeading event: HeadingEvent) { record(of: event) }
    func northDetector(
        _ detector: NorthDetector, didEnter sector: HeadingSector, with event: HeadingEvent
    ) { record(of: event, as: "didEnter \(sector.name)") }
    func northDetector(
        _ detector: NorthDetector, didLeave sector: HeadingSector, with event: HeadingEvent
    ) { record(of: event, as: "didLeave \(sector.name)") }
    func northDetector(_ detector: NorthDetector, didBeginInterference event: FieldEvent) { record(event) }
    func northDetector(_ detector: NorthDetector, didEndInterference event: FieldEvent) { record(event) }
    func northDetector(_ detector: NorthDetector, didBeginNeedingCalibration event: FieldEvent) { record(event) }
    func northDetector(_ detector: NorthDetector, didEndNeedingCalibration event: FieldEvent) { record(event) }
}

// Of the other detectors the kinds of events are the calls' names.
extension RecordingDelegate: DetectorDelegate {
    package func collect(_ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult) {
        recorder.record(result, as: kind.rawValue)
    }
    package func collect(_ kind: EventKind, _ detector: any EventDetector, because error: any Error) {
        recorder.record(as: kind.rawValue)
    }
    package func collect(_ kind: EventKind, _ detector: any Detector, because reason: String) {
        recorder.record(as: kind.rawValue)
    }
}
