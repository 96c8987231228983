package import Binnacle
import Configuration
import Handlers
import LinuxSensors
package import LinuxSystem
import PlainText
package import Station
import TableReading
import Traces

/// Records sensors into a trace that a replay accepts.
///
/// The recording owns its source, its file and its router. What happens to the sensors meanwhile is written as text,
/// one line for each event.
package final class Recording {
    /// What a person should know before it begins.
    package let notices: [String]

    private let options: RecordOptions
    private let errors: LineWriter
    private let source: StationSource
    private let writer: TraceWriter
    private let pipeline: Pipeline
    /// Whether `--scans` was checked against the sensors, or is not set.
    private var isScanNoticeDone: Bool
    private var hasReaderLeft = false

    /// Finds the sensors and opens the file.
    ///
    /// - Parameters:
    ///   - options: What to record.
    ///   - errors: Where to say what happens to the sensors.
    /// - Throws: ``StationError`` when there is nothing to record, or nowhere to.
    package init(_ options: RecordOptions, errors: LineWriter) throws(StationError) {
        self.options = options
        self.errors = errors
        let finder = DeviceFinder(under: options.root)
        isScanNoticeDone = !options.keepsScans
        let selection = try Self.select(options, finder)
        notices = selection.notices
        let assembly = try Assembly(selection.wanted)
        source = try assembly.makeSource(finder: finder)
        do throws(TraceError) {
            var details = RecordingDetails()
            details.clock = "monotonic"
            details.devices = source.streams.map { stream in
                assembly.requests.first { $0.sensor === stream.sensor }?.id
            }
            details.keepsScans = options.keepsScans
            writer = try TraceWriter(
                path: options.path, streams: source.streams, replacing: options.replaces, details: details)
        } catch {
            throw StationError(error)
        }
        let router = Router()
        router.add(TextHandler(writer: errors))
        pipeline = Pipeline(
            source: RecordingSource(source, writer: writer), detectors: [], router: router, capacity: 1024)
    }

    private static func select(_ options: RecordOptions, _ finder: DeviceFinder) throws(StationError) -> SensorSelection
    {
        let devices = try finder.list()
        guard let path = options.configurationPath else {
            return try SensorSelection(devices, wanted: options.sensors)
        }
        let configuration = try Configuration.load(path)
        return try SensorSelection(configuration, path: path, wanted: options.sensors, devices: devices)
    }

    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { source.wakeDescriptor }

    /// Records until the time is over, somebody ends it, nothing can be recorded, or the file takes no more.
    ///
    /// - Parameters:
    ///   - indicator: Shows how much of the time has passed.
    ///   - interruption: Says when a signal has come.
    /// - Returns: What was recorded, and what went wrong.
    package func run(
        _ indicator: ProgressIndicator, interruption: Interruption
    ) -> (summary: [String], failure: StationError?) {
        var settings = Session.Settings()
        settings.duration = options.duration
        settings.start = .settled
        settings.flushInterval = .seconds(1)
        settings.interruption = interruption
        let session = Session(pipeline, source: source, settings: settings, indicator: indicator)
        session.delegate = self
        session.run()
        finish(session)
        return (summary, session.failures.first ?? noSamplesError(session))
    }

    /// Finishes the file, and then closes the devices, which may take its time.
    private func finish(_ session: Session) {
        do throws(TraceError) {
            try writer.finish()
        } catch {
            end(session, after: error)
        }
        source.stop()
        pipeline.router.finish()
        errors.flush()
    }

    /// Whether no sensor can be recorded and waiting would only hide it; a configuration waits for absent devices.
    private func isHopeless(_ session: Session) -> Bool {
        guard session.refusals.all.count == Set(source.streams.map(\.sensor.name)).count else { return false }
        return options.configurationPath == nil || session.refusals.are([.permission, .description])
    }

    private func end(_ session: Session, after error: TraceError) {
        // The reader of a pipe that closes it has what it wanted.
        if writer.isReaderGone { session.end() } else { session.end(StationError(error)) }
    }

    /// Why nothing was recorded; `nil` when a person ended it before.
    private func noSamplesError(_ session: Session) -> StationError? {
        guard pipeline.sampleCount == 0, !session.isCancelled, !hasReaderLeft else { return nil }
        let refusals = session.refusals
        guard !refusals.all.isEmpty else { return StationError(.unavailable, "no sensor delivered a sample") }
        return refusals.failure(refusals.denied.isEmpty ? refusals.all : refusals.denied)
    }

    private var summary: [String] {
        let seconds = pipeline.timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
        let shown = Figure.Value.number(seconds, decimals: 1)
        let path = options.path == "-" ? "standard output" : options.path.printable
        return ["recorded \(pipeline.sampleCount) samples in \(shown) s to \(path)"]
            + zip(source.streams, writer.sampleCounts).map {
                "  \($1) × \($0.kind.rawValue) of \($0.sensor.name.printable)"
            }
    }
}

extension Recording: SessionDelegate {
    /// Ends the session when the file takes no more.
    package func session(_ session: Session, didTurn answer: SampleAnswer) {
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

    /// Ends the session when no sensor can ever deliver.
    package func sessionDidBegin(_ session: Session) {
        if isHopeless(session), let error = noSamplesError(session) { session.end(error) }
    }

    package func sessionShouldFlush(_ session: Session) {
        do throws(TraceError) {
            try writer.flush()
        } catch {
            end(session, after: error)
        }
    }

    package func session(_ session: Session, didNotice notice: String) {
        errors.write("binnacle: \(notice.printable)")
    }

    package func sessionWillWait(_ session: Session) {
        session.flush(errors)
        guard let begin = session.beginNanoseconds else { return }
        session.showProgress(
            options.duration.map {
                Double(SystemClock.monotonic() - begin) / Double(max(1, Units.nanoseconds($0)))
            })
    }

    /// Shows the progress each second.
    package func sessionNextDeadline(_ session: Session) -> Int64? {
        guard session.beginNanoseconds != nil, options.duration != nil else { return nil }
        return SystemClock.monotonic() + 1_000_000_000
    }
}

/// What a person asks of a recording.
package struct RecordOptions {
    /// The configuration whose sensors are recorded; without one, all that are found.
    package var configurationPath: String?
    /// The sensors that are wanted, by name, label, node or identity; all without any.
    package var sensors: [String] = []
    /// How long to record; `nil` records until a person ends it.
    package var duration: Duration?
    /// The file; `-` is standard output.
    package var path = ""
    /// Whether a file that is there is written over.
    package var replaces = false
    /// Whether the raw scans are kept beside the samples.
    package var keepsScans = false
    /// The folder under which `/sys` and `/dev` lie; the machine's own without one.
    package var root: String?

    package init() {}
}
