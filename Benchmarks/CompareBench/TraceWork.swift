import Bench
import BenchSupport

/// Work on recordings: from the opening of the file to the last event.
enum TraceWork {
    /// Plays a recording once.
    ///
    /// - Parameters:
    ///   - path: The recording.
    ///   - form: How motion is found: `threshold` or `gravity`.
    static func play(_ path: String, form: String) {
        guard let form = DetectionForm(rawValue: form) else { fail("there is no form \(form)") }
        let start = processorTime()
        do throws(BenchError) {
            let outcome = try playRecording(path, form)
            say("\(processorTime() - start) \(outcome.samples) \(outcome.events)")
        } catch {
            fail("\(error)")
        }
    }
}
