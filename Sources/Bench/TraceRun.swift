package import Binnacle
import Traces

/// A recording played from the opening of its file to its last event, as a replay does.
package struct TraceRun {
    private let path: String
    private let settings: MotionSettings

    /// What came of it.
    package struct Outcome: Equatable, Sendable {
        /// The samples that were looked at.
        package let sampleCount: Int
        /// The events that the delegate was told.
        package let eventCount: Int
    }

    /// Names a recording.
    ///
    /// - Parameters:
    ///   - path: A trace with an accelerometer.
    ///   - settings: What is looked for.
    package init(path: String, settings: MotionSettings) {
        self.path = path
        self.settings = settings
    }

    /// Plays it once.
    ///
    /// - Returns: What came of it.
    /// - Throws: ``BenchError`` when it cannot be read to its end.
    package func play() throws(BenchError) -> Outcome {
        let source: TraceSource
        do throws(TraceError) {
            source = try TraceSource(paths: [path])
        } catch {
            throw .unavailable(error.description)
        }
        let manager = MotionManager(accelerometer: source.firstStream(of: .accelerometer), settings: settings)
        let listener = EventListener()
        manager.delegate = listener
        manager.startDetection()
        // As many samples in a delivery as a replay asks for.
        let pipeline = Pipeline(source: source, detectors: [manager], capacity: source.isMapped ? 65_536 : 4096)
        var failure: String?
        pipeline.run(afterTurn: {
            if case .failed(_, let reason) = $0 { failure = "\(reason)" }
        })
        if let failure { throw .unavailable(failure) }
        return Outcome(sampleCount: pipeline.sampleCount, eventCount: listener.count)
    }
}
