package import Binnacle
import Configuration
import Handlers
import LinuxSensors
package import LinuxSystem
import PlainText
package import Station
import Traces

/// Records sensors into a trace for later replays.
///
/// It owns its source, its file and its router. Sensor events are written as text, one line each.
package final class Recording {
    /// Messages for the user before the start.
    package let notices: [String]

    private let options: RecordOptions
    private let errors: LineWriter
    private let source: StationSource
    private let writer: TraceWriter
    private let pipeline: Pipeline
    /// Whether it is checked, if necessary, that `--scans` applies to any sensor.
    private var isScanNoticeDone: Bool
    private var hasReaderLeft = false

    /// Finds the sensors and creates the file; sensor events go to `errors`.
    package init(_ options: RecordOptions, errors: LineWriter) throws(StationError) {
        self.options = options
        self.errors = errors
        let finder = DeviceFinder(under: options.root)
        isScanNoticeDone = !options.keepsScans
        let selection = try Self.select(options, finder)
        notices = selection.notices
        let assembly = try Assembly(options.keepsScans ? selection.wanted.map(\.readSoon) : selection.wanted)
        source = try assembly.makeSource(finder: finder)
        let streams = source.streams
        var details = RecordingDetails()
        details.clock = "monotonic"
        details.wallAheadNanoseconds = SystemClock.realtime() - SystemClock.monotonic()
        details.boot = SmallFile.kernelText("/proc/sys/kernel/random/boot_id")
        details.devices = streams.map { stream in assembly.requests.first { $0.sensor === stream.sensor }?.id }
        details.keepsScans = options.keepsScans
        try StationError.refuse(writing: options.path, over: selection.inputs, option: "-o")
        writer = try mapError({ StationError($0) }) { [details] () throws(TraceError) in
            try TraceWriter(path: options.path, streams: streams, replacing: options.replaces, details: details)
        }
        let router = Router()
        router.add(TextHandler(writer: errors))
        pipeline = Pipeline(
            source: RecordingSource(source, writer: writer), detectors: [], router: router, capacity: 1024)
    }

    private static func select(_ options: RecordOptions, _ finder: DeviceFinder) throws(StationError) -> SensorSelection
    {
        if let model = options.simulation { return SensorSelection(simulating: model) }
        let devices = try finder.list()
        guard let path = options.configurationPath else {
            return try SensorSelection(devices, wanted: options.sensors)
        }
        let configuration = try Configuration.load(path)
        return try SensorSelection(configuration, path: path, wanted: options.sensors, devices: devices)
    }

    /// The descriptor to which a signal handler writes to end a wait.
    package var wakeDescriptor: Int32 { source.wakeDescriptor }

    /// Records until the time is over, the user ends it, no sensor is left, or writing fails.
    package func run(
        _ indicator: ProgressIndicator, interruption: Interruption
    ) -> (summary: [String], failure: StationError?) {
        let settings = SampleLoop.Settings(
            duration: options.duration, start: .settled, flushInterval: .seconds(1), interruption: interruption,
            errors: errors)
        let session = SampleLoop(pipeline, source: source, settings: settings, indicator: indicator)
        session.delegate = self
        session.run()
        finish(session)
        return (summary, session.failures.first ?? noSamplesError(session))
    }

    /// Closes the file first, because drivers may be slow to close.
    private func finish(_ session: SampleLoop) {
        do throws(TraceError) {
            try writer.finish()
        } catch {
            end(session, after: error)
        }
        source.stop()
        pipeline.router.finish()
        errors.flush()
    }

    /// Whether all sensors were refused for good; absent devices of a configuration may still appear.
    private func cannotDeliver(_ session: SampleLoop) -> Bool {
        guard session.refusals.all.count == Set(source.streams.map(\.sensor.name)).count else { return false }
        return options.configurationPath == nil || session.refusals.are([.permission, .description])
    }

    private func end(_ session: SampleLoop, after error: TraceError) {
        // A closed pipe is a normal end: its reader needs no more.
        if writer.isReaderGone { session.end() } else { session.end(StationError(error)) }
    }

    /// Why nothing was recorded; `nil` if the user ended it.
    private func noSamplesError(_ session: SampleLoop) -> StationError? {
        guard pipeline.sampleCount == 0, !session.isCancelled, !hasReaderLeft else { return nil }
        let refusals = session.refusals
        guard !refusals.all.isEmpty else { return StationError(.unavailable, "no sensor delivered a sample") }
        return refusals.failure(refusals.denied.isEmpty ? refusals.all : refusals.denied)
    }

    private var summary: [String] {
        let seconds = pipeline.timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
        let shown = Figure.Value.number(seconds, decimals: 1)
        let path = options.path == "-" ? "standard output" : options.path.printable
        let isWhole = writer.loss == nil
        let words = isWhole ? "recorded \(pipeline.sampleCount) samples" : "not all of \(pipeline.sampleCount) samples"
        return ["\(words) in \(shown) s \(isWhole ? "to" : "are in") \(path)"]
            + zip(source.streams, writer.sampleCounts).map {
                "  \($1) × \($0.kind.rawValue) of \($0.sensor.name.printable)"
            }
    }
}

extension Recording: SampleLoopDelegate {
    package func session(_ session: SampleLoop, didTurn answer: SampleAnswer) {
        if let error = writer.failure {
            hasReaderLeft = writer.isReaderGone
            end(session, after: error)
        }
        guard !isScanNoticeDone, source.isSettled else { return }
        isScanNoticeDone = true
        if !source.hasScans {
            errors.write("binnacle: --scans: no sensor is read from scans, so the column 'scan' has none")
        }
    }

    /// Ends the session if no sensor can ever deliver.
    package func sessionDidBegin(_ session: SampleLoop) {
        if cannotDeliver(session), let error = noSamplesError(session) { session.end(error) }
    }

    package func sessionShouldFlush(_ session: SampleLoop) {
        do throws(TraceError) {
            try writer.flush()
        } catch {
            end(session, after: error)
        }
    }

    package func sessionWillWait(_ session: SampleLoop) {
        session.flush(errors)
        guard let begin = session.beginNanoseconds else { return }
        let elapsed = SystemClock.monotonic() - begin
        session.showProgress(
            options.duration.map { Double(elapsed) / Double(max(1, Units.nanoseconds($0))) },
            detail: "\(elapsed / 1_000_000_000) s, \(pipeline.sampleCount) samples")
    }

    /// A progress display is updated each second; without it the session waits for samples only.
    package func sessionNextDeadline(_ session: SampleLoop) -> Int64? {
        guard session.showsProgress, session.beginNanoseconds != nil else { return nil }
        return SystemClock.monotonic() + 1_000_000_000
    }
}

/// The options of `binnacle record`.
package struct RecordOptions {
    /// The configuration whose sensors are recorded; `nil` for all sensors of the machine.
    package var configurationPath: String?
    /// Sensors by name, label, node or identity; empty for all.
    package var sensors: [String] = []
    /// A model that is played in place of sensors; `nil` for none.
    package var simulation: SimulationSettings.Model?
    /// `nil` records until the user ends it.
    package var duration: Duration?
    /// The file; `-` is standard output.
    package var path = ""
    /// Whether an existing file is overwritten.
    package var replaces = false
    /// Whether raw scans are recorded beside the samples.
    package var keepsScans = false
    /// The parent of `sys` and `dev`; `nil` for this machine.
    package var root: String?

    package init() {}
}
