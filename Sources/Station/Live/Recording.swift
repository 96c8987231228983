package import Binnacle
package import Handlers
import LinuxSensors
import LinuxSystem
import Traces

/// Records sensors into a trace that a replay accepts.
///
/// The recording owns its source, its file and its router; it is the delegate of its progress indicator, whose
/// cancellation ends it. What happens to the sensors meanwhile is said as text, one line an event.
package final class Recording {
    /// What a person should know before it begins.
    package let notices: [String]

    private let options: RecordOptions
    private let errors: LineWriter
    private let source: LiveSource
    private let writer: TraceWriter
    private let pipeline: Pipeline
    private var isCancelled = false
    private var failure: StationError?
    /// The failures of sensors before the first sample, by the sensor's name.
    private var refusals: [(sensor: String, reason: SensorFailure)] = []
    private var beginNanoseconds: Int64?
    /// Whether it was looked at if any sensor gives scans, or nobody wants them.
    private var isScanNoticeDone: Bool
    private var flushedNanoseconds: Int64 = 0
    private var unflushedCount = 0

    private static let flushIntervalNanoseconds: Int64 = 1_000_000_000

    /// Finds the sensors and opens the file.
    ///
    /// - Parameters:
    ///   - options: What to record.
    ///   - errors: Where to say what happens to the sensors.
    /// - Throws: ``StationError`` when there is nothing to record, or nowhere to.
    package init(_ options: RecordOptions, errors: LineWriter) throws(StationError) {
        self.options = options
        self.errors = errors
        let finder = options.root.map { DeviceFinder(root: $0) } ?? DeviceFinder()
        isScanNoticeDone = !options.keepsScans
        let selection = try Self.select(options, finder)
        notices = selection.notices
        do throws(SystemError) {
            source = try LiveSource(selection.requests, finder: finder)
        } catch {
            throw StationError(error)
        }
        do throws(TraceError) {
            var details = RecordingDetails()
            details.clock = "monotonic"
            details.devices = source.streams.map { stream in
                selection.requests.first { $0.sensor === stream.sensor }?.id
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
        let devices: [SensorDevice]
        do throws(SystemError) {
            devices = try finder.devices()
        } catch {
            throw StationError(error)
        }
        guard let path = options.configurationPath else {
            return try SensorSelection(devices, wanted: options.sensors)
        }
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try Configuration.read(path: path)
        } catch {
            throw StationError(error)
        }
        return try SensorSelection(configuration, path: path, wanted: options.sensors, devices: devices)
    }

    /// What a signal handler writes to, to end a wait.
    package var wakeDescriptor: Int32 { source.wakeDescriptor }

    /// Records until the time is over, somebody ends it, nothing can be recorded, or the file takes no more.
    ///
    /// - Parameter indicator: Shows how much of the time has passed.
    /// - Returns: What it came to, and what went wrong.
    package func run(_ indicator: ProgressIndicator) -> (summary: [String], failure: StationError?) {
        indicator.delegate = self
        indicator.show()
        LiveLoop(source: source, pipeline: pipeline).run(
            longestWaitMilliseconds: { self.longestWait },
            while: { self.goesOn(indicator) },
            afterTurn: { self.didTurn($0) },
            beforeWait: { self.willWait(indicator) })
        // Closing devices may take its time, and what was recorded shall not wait for it.
        finish()
        source.stop()
        pipeline.router.finish()
        errors.flush()
        indicator.hide()
        return (summary, failure ?? emptiness)
    }

    private func goesOn(_ indicator: ProgressIndicator) -> Bool {
        if Interruption.isRequested { indicator.cancel() }
        return !isCancelled && failure == nil && !isOver
    }

    private var isOver: Bool {
        guard let duration = options.duration, let begin = beginNanoseconds else { return false }
        return SystemClock.monotonic() - begin >= Units.nanoseconds(duration)
    }

    private func didTurn(_ answer: SampleAnswer) {
        if let error = writer.failure {
            // Whoever read the pipe has had enough: that is an end like any other.
            if writer.isReaderGone { isCancelled = true } else { failure = StationError(error) }
        }
        switch answer {
        case .samples: unflushedCount += 1
        case .failed(let streams, let reason):
            if let reason = reason as? SensorFailure, pipeline.sampleCount == 0, let sensor = streams.first?.sensor {
                refusals.append((sensor.name, reason))
            }
        case .pending, .ended: break
        }
        let now = SystemClock.monotonic()
        // The second begins with the first sample that waits.
        if unflushedCount == 1, case .samples = answer { flushedNanoseconds = now }
        if unflushedCount > 0, now - flushedNanoseconds >= Self.flushIntervalNanoseconds { flush() }
        // The time counts from when the devices are open.
        if beginNanoseconds == nil, source.isSettled || pipeline.sampleCount > 0 {
            beginNanoseconds = now
            if isHopeless { failure = emptiness }
        }
        if !isScanNoticeDone, source.isSettled {
            isScanNoticeDone = true
            if !source.hasScans {
                errors.write("binnacle: --scans: no sensor is read from scans, so the column 'scan' has none")
            }
        }
        for notice in source.takeNotices() { errors.write("binnacle: \(notice.printable)") }
    }

    /// Whether no sensor can be recorded and waiting would only hide it; a configuration waits for absent devices.
    private var isHopeless: Bool {
        guard refusals.count == Set(source.streams.map(\.sensor.name)).count else { return false }
        return options.configurationPath == nil
            || refusals.allSatisfy { $0.reason.category == .permission || $0.reason.category == .description }
    }

    private func willWait(_ indicator: ProgressIndicator) {
        if !errors.isEmpty {
            // Words and the picture of progress share a terminal.
            indicator.hide()
            errors.flush()
            indicator.show()
        }
        guard let begin = beginNanoseconds else { return }
        indicator.update(
            fraction: options.duration.map {
                Double(SystemClock.monotonic() - begin) / Double(max(1, Units.nanoseconds($0)))
            })
    }

    /// Until the next flush, the next picture of the progress, or the end.
    private var longestWait: Int32 {
        guard beginNanoseconds != nil else { return -1 }
        var wait: Int32 = options.duration != nil ? 1000 : -1
        if unflushedCount > 0 {
            wait = SystemClock.milliseconds(
                until: flushedNanoseconds + Self.flushIntervalNanoseconds, atMost: 1000)
        }
        if let duration = options.duration, let begin = beginNanoseconds {
            let left = SystemClock.milliseconds(until: Units.later(begin, by: Units.nanoseconds(duration)))
            wait = min(wait < 0 ? .max : wait, left)
        }
        return wait
    }

    private func flush() {
        unflushedCount = 0
        flushedNanoseconds = SystemClock.monotonic()
        do throws(TraceError) {
            try writer.flush()
        } catch {
            if !writer.isReaderGone { failure = StationError(error) }
        }
    }

    private func finish() {
        do throws(TraceError) {
            try writer.finish()
        } catch {
            if !writer.isReaderGone { failure = StationError(error) }
        }
    }

    /// Why nothing was recorded; whoever ended it himself knows.
    private var emptiness: StationError? {
        guard pipeline.sampleCount == 0, !isCancelled else { return nil }
        let denied = refusals.filter { $0.reason.category == .permission }
        let shown = (denied.isEmpty ? refusals : denied).map { "\($0.sensor.printable): \($0.reason.description)" }
        let text = shown.isEmpty ? "no sensor delivered a sample" : shown.joined(separator: "\n")
        return StationError(denied.isEmpty ? .unavailable : .noPermission, text)
    }

    private var summary: [String] {
        let seconds = pipeline.timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
        let shown = Figure.Value.number(seconds, decimals: 1)
        let path = options.path == "-" ? "standard output" : options.path.printable
        return ["recorded \(pipeline.sampleCount) samples in \(shown) s to \(path)"]
            + source.streams.map {
                "  \(writer.sampleCounts[$0.index]) × \($0.kind.rawValue) of \($0.sensor.name.printable)"
            }
    }
}

extension Recording: ProgressIndicatorDelegate {
    /// Ends the recording; what was recorded is kept.
    package func progressIndicatorDidCancel(_ indicator: ProgressIndicator) {
        isCancelled = true
    }
}
