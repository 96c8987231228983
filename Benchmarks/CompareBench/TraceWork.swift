import Bench
import BenchSupport
import LinuxSystem

/// Work on recordings: from the opening of the file to the last event.
enum TraceWork {
    /// Plays a recording once, with `one` processor, whose time counts, or with `all`, where the time until the end counts; motion is
    /// found as `form` says, by `threshold` or `gravity`.
    static func play(_ path: String, form: String, processors: String) {
        guard let form = DetectionForm(rawValue: form) else { fail("there is no form \(form)") }
        guard ["one", "all"].contains(processors) else { fail("one processor or all, not \(processors)") }
        let isAlone = processors == "one"
        let clock = isAlone ? processorTime : monotonic
        let start = clock()
        do throws(BenchError) {
            let outcome = try playRecording(
                path, form, processorCount: isAlone ? 1 : Processors.availableCount)
            say("\(clock() - start) \(outcome.samples) \(outcome.events)")
        } catch {
            fail("\(error)")
        }
    }
}
