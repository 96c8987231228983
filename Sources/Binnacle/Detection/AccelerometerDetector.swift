/// A detector of one accelerometer's samples, which starts, stops and fails as that accelerometer does.
package protocol AccelerometerDetector: ReportingDetector {
    associatedtype Settings: CheckedSettings

    /// Creates a detector that does not detect yet; without an accelerometer, a start tells *device not available*.
    init(name: String, accelerometer: SampleStream?, settings: Settings)
    var isDetecting: Bool { get set }
    /// Returns to the state in which a start begins; what was learned or counted stays.
    func reset()
    /// Forgets what was under way, because samples are missing.
    func interrupt()
}

extension AccelerometerDetector {
    package func reset() { interrupt() }

    /// Starts with the next delivery, or reports that there is no active accelerometer; does nothing while detecting.
    package func startDetection() {
        guard !isDetecting else { return }
        guard streams.contains(where: \.sensor.isActive) else {
            delegate?.collect(.detectorUnavailable, self, because: "no active accelerometer")
            return
        }
        reset()
        isDetecting = true
    }

    package func stopDetection() { isDetecting = false }

    /// Reports a failure when the accelerometer's stream is among those that failed.
    package func didLose(_ lost: [SampleStream], because error: any Error) {
        guard isDetecting, lost.contains(where: { $0.id == streams.first?.id }) else { return }
        interrupt()
        delegate?.collect(.detectorFailed, self, because: error)
    }
}
