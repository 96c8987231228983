package import Binnacle
package import Configuration
import Handlers
package import LinuxSystem
package import Pictures
import PlainText
package import Traces

/// Plays recorded traces through the daemon's pipeline; owns source, detectors, router and handlers.
package final class Replay {
    /// Assumptions about the files, for the user.
    package var notices: [String] {
        guard options.printsEvents else { return assembly.notices }
        let skipped = assembly.configuration.handlers.filter { type(of: $0.action).actsOnTheWorld }.map(\.name)
        guard !options.runsHandlers, !skipped.isEmpty else { return assembly.notices }
        let names = Spelling.list(skipped.map(Spelling.quoted))
        return assembly.notices + ["not run, because they act on the world: \(names); --handlers runs them"]
    }

    /// Maximum number of samples in a delivery over all streams: about 10 MB with their windows.
    private static let mostSamples = 262_144
    /// Maximum number of samples of one stream in a delivery that borrows the file's memory.
    private static let mostMapped = 65_536

    private let options: ReplayOptions
    private let assembly: Assembly
    private let pipeline: Pipeline
    private let source: StationSource
    private let stretch: ReplayStretch?
    private let interruption: Interruption
    private let output: LineWriter
    private let errors: LineWriter
    /// Which handlers have not got all events, and how many.
    private var losses: [String] = []
    /// By ``EventKind/index``.
    private var eventCounts = [Int](repeating: 0, count: EventKind.allCases.count)
    private let recorder: PictureRecorder?

    /// Opens the traces and builds the pipeline; lines of log handlers go to `errors`.
    package init(
        _ options: ReplayOptions, output: LineWriter, errors: LineWriter, interruption: Interruption
    ) throws(StationError) {
        self.interruption = interruption
        self.options = options
        self.output = output
        self.errors = errors
        assembly = try Assembly(
            replaying: options.traces, configuration: options.configurationPath, settings: options.settings,
            interruption: interruption)
        for (path, option) in options.outputs {
            try StationError.refuse(writing: path, over: assembly.inputs, option: option)
        }
        if options.runsHandlers {
            try StationError.refuse(outputsOf: assembly.configuration, over: assembly.inputs)
        }
        let router = Router()
        recorder =
            options.draws ? PictureRecorder(streams: assembly.streams, detectors: assembly.detectors) : nil
        if let recorder {
            router.add(recorder)
        } else if let sink = options.sink {
            router.add(ClosureHandler { sink($0) })
        } else {
            var style = TextHandler.Style()
            style.columns = options.columns
            if let table = options.table {
                router.add(ClosureHandler { [recording = options.recording] in table.add($0, of: recording) })
            } else if options.writesJSON {
                router.add(JSONLinesHandler(writer: output, recording: options.recording))
            } else {
                router.add(TextHandler(writer: output, style: style))
            }
        }
        assembly.report(to: router)
        // With a speed each sample is delivered at its own time; otherwise deliveries are large, unless commands run
        // for each event.
        let most = max(1, Self.mostSamples / max(1, assembly.streams.count))
        // Detectors of several streams look at one sample after the other: the events of a large delivery would only leave the caches.
        let isByColumn = assembly.detectors.allSatisfy { $0.streams.count == 1 }
        let usual = isByColumn && assembly.traces?.isMapped ?? false ? Self.mostMapped : 4096
        var capacity = min(options.batch ?? (options.runsHandlers ? 1 : usual), most)
        let hasStretch = options.from != nil || options.to != nil
        stretch =
            hasStretch ? assembly.traces.map { ReplayStretch($0, from: options.from, to: options.to) } : nil
        var played: (any SampleSource)? = stretch ?? assembly.traces
        if let speed = options.speed {
            capacity = min(options.batch ?? 1, most)
            played = played.map { PacedSource($0, speed: speed, capacity: capacity) }
        }
        source = try assembly.makeSource(playing: played)
        // The recorder runs after the detectors, whose results it draws. One by one: a cast of the array looks up protocols at run time.
        pipeline = Pipeline(
            source: source, detectors: assembly.detectors.map { $0 } + [recorder?.observer].compactMap { $0 },
            router: router, capacity: capacity)
        router.add(ClosureHandler { [unowned self] in eventCounts[$0.kind.index] += 1 })
        if options.printsEvents { addHandlers(to: router) }
    }

    /// The eventfd to which a signal handler writes to end a wait.
    package var wakeDescriptor: Int32 { source.wakeDescriptor }

    /// Plays to the end, or until it is cancelled or the output is closed.
    package func run(_ indicator: ProgressIndicator) -> (summary: ReplaySummary, failures: [StationError]) {
        let settings = SampleLoop.Settings(interruption: interruption)
        let session = SampleLoop(pipeline, source: source, settings: settings, indicator: indicator)
        session.delegate = self
        let clock = ContinuousClock()
        let start = clock.now
        for detector in assembly.detectors { detector.startDetection() }
        session.run()
        if let failure = stretch?.failure { session.add(failure) }
        pipeline.router.finish()
        for loss in losses { session.add(StationError(.inputOutput, loss)) }
        output.flush()
        errors.flush()
        return (summary(session, elapsed: clock.now - start), session.failures)
    }

    /// The picture of a finished replay; `nil` unless the options ask for one.
    package func picture(_ summary: ReplaySummary) -> Picture? {
        guard let recorder else { return nil }
        var paths = options.traces.files.map { $0.printable }
        if paths.isEmpty { paths = assembly.configuration.sensors.map(\.name.printable) }
        var picture = recorder.picture(Spelling.list(paths))
        picture.configuration = assembly.configuration.detectorText
        picture.facts.append(("made by", "binnacle \(Version.current)"))
        if let path = options.configurationPath { picture.facts.append(("configuration", path.printable)) }
        if let range = summary.timeRange {
            picture.facts.append(("first stamp", "\(range.lowerBound) ns"))
            if range.lowerBound >= ReplayBound.leastWallClock {
                picture.facts.append(("which is", WallTime.text(range.lowerBound)))
            }
        }
        for stream in pipeline.statistics where stream.sampleCount > 0 {
            var text = "\(stream.sampleCount) samples"
            if let rate = recorder.rateHz(of: stream.stream) {
                text += ", \(Figure.Value.number(rate, decimals: 1)) a second on average"
            }
            if stream.gapCount > 0 { text += ", \(stream.gapCount) gaps" }
            if stream.lossCount > 0 { text += ", \(stream.lossCount) losses" }
            picture.facts.append(("\(stream.stream.kind.rawValue) of \(stream.stream.sensor.name)", text))
        }
        picture.notes += summary.repairs + summary.assumptions.map { "assumed: " + $0 } + summary.notices
        if summary.isCancelled { picture.notes.append("cancelled: the rest of the recording is missing") }
        return picture
    }

    /// Adds the configured handlers with their decorators; output is flushed before a command runs.
    private func addHandlers(to router: Router) {
        let context = DecoratorSettings.Context(router)
        for section in assembly.configuration.handlers
        where options.runsHandlers || !type(of: section.action).actsOnTheWorld {
            let place = HandlerContext(
                name: section.name, log: errors, willRun: { [output] in output.flush() },
                isCancelled: { [interruption] in interruption.isRequested },
                fail: { [unowned self] in losses.append($0) })
            guard let handler = section.action.work(for: section.name).replayed(place) else { continue }
            let chain = HandlerChain(
                handler: handler, kinds: Set(section.kinds), detectors: section.detectors.map { Set($0) })
            for decorator in section.decorators { chain.append(decorator.makeDecorator(in: context)) }
            router.add(chain)
        }
    }

    private func summary(_ session: SampleLoop, elapsed: Duration) -> ReplaySummary {
        var summary = ReplaySummary()
        summary.sampleCount = pipeline.sampleCount
        summary.timeRange = pipeline.timeRange
        summary.stretchStart = stretch?.firstNanoseconds
        summary.wallAheadNanoseconds = assembly.traces?.wallAheadNanoseconds
        for kind in EventKind.allCases where eventCounts[kind.index] > 0 {
            summary.eventCounts[kind] = eventCounts[kind.index]
        }
        let word = stretch == nil ? "trace" : "stretch"
        summary.detectors = assembly.detectors.flatMap { detector in
            let state = detector.isActive ? detector.state : nil
            return (state.map { ["\(detector.name): still \($0) when the \(word) ended"] } ?? []) + detector.summary
        }
        let repairs = assembly.repairs
        summary.repairs = repairs.counted
        summary.skippedCounts = repairs.skippedCounts
        summary.notices = repairs.notices.map(\.description) + [stretch?.notice].compactMap { $0 }
        summary.assumptions = assembly.assumptions + assembly.detectorAssumptions.map(\.text)
        summary.elapsedSeconds = elapsed / .seconds(1)
        summary.isCancelled = session.isCancelled
        return summary
    }
}

extension Replay: SampleLoopDelegate {
    package func sessionShouldFlush(_ session: SampleLoop) {
        output.flush()
        errors.flush()
        session.showProgress(assembly.fraction)
        if output.failure != nil || options.table?.failure != nil { session.end() }
    }
}

package struct ReplayOptions {
    /// The recordings; if empty, those of the configuration.
    package var traces = TraceSet()
    package var configurationPath: String?
    /// The files that results are written to, `-` for standard output, and the options that name them.
    package var outputs = [(path: "-", option: "")]
    package var settings: [CommandLineSetting] = []
    /// The ends of the stretch to play; `nil` for the recording's first and last sample.
    package var from: ReplayBound?
    package var to: ReplayBound?
    /// The speed of recorded time, as a multiple of real time; `nil` for as fast as possible.
    package var speed: Double?
    /// The width of the terminal that prints the events; `nil` without a terminal.
    package var columns: Int?
    /// The maximum number of samples of one stream in a delivery; `nil` chooses by the speed.
    package var batch: Int?
    /// Whether handlers run that act on the outside world.
    package var runsHandlers = false
    package var writesJSON = false
    /// Receives the events as a table instead of standard output; `nil` prints lines.
    package var table: EventTable?
    /// Whether a picture is drawn instead of printing events.
    package var draws = false
    /// Receives the events in place of standard output and handlers; `nil` for these.
    package var sink: ((Event) -> Void)?
    /// The recording named in each line of JSON; `nil` for none.
    package var recording: String?

    package init() {}

    /// Whether a calibration of the configuration is another one for each device.
    package func namesDevice() throws(StationError) -> Bool {
        guard let path = configurationPath else { return false }
        return try Configuration.load(path, settings: settings, device: .later).sensors.contains(where: \.namesDevice)
    }

    /// Whether events go to standard output and handlers.
    var printsEvents: Bool { !draws && sink == nil }
}

/// The result of a replay, for the user.
package struct ReplaySummary {
    package var sampleCount = 0
    /// The first and last stamp, in nanoseconds.
    package var timeRange: ClosedRange<Int64>?
    /// The recording's first stamp, in nanoseconds, when only a stretch was played.
    package var stretchStart: Int64?
    /// How far the wall clock was ahead of the stamps when the recording began, in nanoseconds; `nil` where it is not known.
    package var wallAheadNanoseconds: Int64?
    package var eventCounts: [EventKind: Int] = [:]
    /// Final results of the detectors, one line each.
    package var detectors: [String] = []
    /// Skipped samples, one line for each cause.
    package var repairs: [String] = []
    /// The number of places with skipped samples, by the machine-readable cause.
    package var skippedCounts: [String: Int] = [:]
    package var assumptions: [String] = []
    /// The first skipped places, and other messages for the end.
    package var notices: [String] = []
    package var elapsedSeconds = 0.0
    package var isCancelled = false

    package var lines: [String] {
        var lines = [headline]
        if let stretchStart, let timeRange {
            let ends = [timeRange.lowerBound, timeRange.upperBound].map {
                ReplayStretch.seconds(PacedSource.distance(from: stretchStart, to: $0))
            }
            lines.append("  the stretch from \(ends[0]) s to \(ends[1]) s after the recording's first sample")
        }
        for kind in EventKind.allCases {
            if let count = eventCounts[kind] { lines.append("  \(count) × \(kind.rawValue)") }
        }
        if eventCounts.isEmpty { lines.append("  no event") }
        lines += detectors.map { "  " + $0 }
        lines += repairs.map { "  " + $0 }
        lines += assumptions.map { "  assumed: " + $0 }
        return lines
    }

    private var headline: String {
        let recorded = timeRange.map { Units.seconds(from: $0.lowerBound, to: $0.upperBound) } ?? 0
        var line = "\(isCancelled ? "cancelled after" : "replayed") \(sampleCount) samples, "
        line += "\(recorded.text(1)) s recorded, in \(elapsedSeconds.text(3)) s"
        if elapsedSeconds > 0 {
            line += " (\((recorded / elapsedSeconds).text(recorded > 10 * elapsedSeconds ? 0 : 1)) × real time)"
        }
        return line
    }
}
