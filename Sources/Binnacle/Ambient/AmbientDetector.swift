/// A detector of single readings, which has no stream of samples.
///
/// What reads a sensor once a second calls ``process(_:)-(AmbientReading.Outcome)`` on the thread of the other detectors.
package protocol AmbientDetector: AmbientReader, ReportingDetector {
    /// Forgets what was read.
    func reset()
}

extension AmbientDetector {
    package var eventSensor: String? { name }
    package var lacksReadings: Bool { hasFailed }

    /// Starts with the next reading, which is told; does nothing while detecting.
    package func startDetection() {
        guard !isDetecting else { return }
        reset()
        hasFailed = false
        isDetecting = true
    }

    package func stopDetection() { isDetecting = false }
    package func process(_ delivery: SampleDelivery) {}
    package func didLose(_ streams: [SampleStream], because error: any Error) {}

    /// Tells the delegate what was read.
    func tell(_ kind: EventKind, _ result: some DetectorResult) {
        position = SamplePosition(timeNanoseconds: result.timeNanoseconds, streamIndex: .max, sampleIndex: .max)
        delegate?.collect(kind, self, result)
    }

    /// Tells the delegate, once until the next reading, that there is none.
    package func didFail(because error: any Error) {
        guard isDetecting, !hasFailed else { return }
        hasFailed = true
        reset()
        delegate?.collect(.detectorFailed, self, because: error)
    }
}

/// What every detector of single readings has.
package class AmbientReader {
    package let name: String
    package weak var delegate: (any DetectorDelegate)?
    package internal(set) var isDetecting = false
    package internal(set) var position = SamplePosition(
        timeNanoseconds: 0, streamIndex: .max, sampleIndex: .max)
    /// None: readings are no samples.
    package let streams: [SampleStream] = []
    var hasFailed = false

    init(name: String) { self.name = name }
}
