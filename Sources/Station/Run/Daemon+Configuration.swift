import Binnacle
import Configuration
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import TableReading

/// Applying a configuration: the first one, and each one that is read again.
extension Daemon {
    /// The time for a handler that a reload removed to finish its queue.
    private static let retirement: Duration = .seconds(60)

    /// A configuration's objects, made but not yet in force.
    struct Preparation {
        let assembly: Assembly
        let lines: [HandlerLine]
        let live: LiveSource?
    }

    /// Reads the configuration of the options, or makes one.
    static func configuration(
        _ options: inout RunOptions, _ finder: DeviceFinder
    ) throws(StationError) -> Configuration {
        if options.embedded == nil {
            let path = options.configurationPath ?? Configuration.standardPath
            do throws(ConfigurationError) {
                let configuration = try Configuration.read(path: path)
                options.configurationPath = path
                return configuration
            } catch {
                guard case .file(_, .missing) = error, options.configurationPath == nil else {
                    throw StationError(error)
                }
                // At a reload there may be one.
                options.configurationPath = path
            }
        }
        let embedded = options.embedded ?? .devices
        options.embedded = embedded
        var configuration = try embedded.configuration(finder)
        if options.writesJSON { configuration.handlers = [] }
        return configuration
    }

    /// Makes what a configuration says, as far as it is not there already.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - traces: The recordings that it plays, unless they are those that are played.
    /// - Returns: The objects, which ``apply(_:)`` puts into force.
    /// - Throws: ``StationError`` when it cannot be applied.
    func prepare(
        _ configuration: Configuration, _ traces: PlayedTraces?
    ) throws(StationError) -> Preparation {
        var configuration = configuration
        if options.writesJSON {
            configuration.handlers.append(EmbeddedConfiguration.handler("--json", OutputAction()))
        }
        try configuration.requireDetector(options.configurationPath ?? "")
        let assembly = Assembly(configuration, after: assembly, now: SystemClock.monotonic(), traces: traces)
        do throws(SystemError) {
            let isFirst = !assembly.requests.isEmpty && source.live == nil
            let live = isFirst ? try LiveSource(assembly.requests, finder: finder, waker: mailbox.waker) : source.live
            return Preparation(assembly: assembly, lines: try makeLines(configuration), live: live)
        } catch {
            throw StationError(error)
        }
    }

    private func makeLines(_ configuration: Configuration) throws(SystemError) -> [HandlerLine] {
        let context = DecoratorSettings.Context(router)
        let mailbox = mailbox
        var made: [HandlerLine] = []
        do throws(SystemError) {
            for section in configuration.handlers {
                let old = lines.first { $0.section.name == section.name }
                if let old, old.section == section {
                    made.append(old)
                } else {
                    made.append(
                        try HandlerLine(section, after: old, context: context, inlet: inlet) {
                            mailbox.post(.report($0))
                        })
                }
            }
        } catch {
            // Ends the threads of handlers that will not be used.
            for line in made where !lines.contains(where: { $0.handler === line.handler }) {
                line.handler.end(within: .zero)
            }
            throw error
        }
        return made
    }

    /// Applies a prepared configuration between two turns; nothing in it can fail.
    func apply(_ next: Preparation) {
        let before = assembly
        let gone = lines.filter { line in !next.lines.contains { $0.handler === line.handler } }
        for detector in before.detectors where !next.assembly.detectors.contains(where: { $0 === detector }) {
            detector.stopDetection()
        }
        assembly = next.assembly
        lines = next.lines
        next.live?.change(assembly.requests)
        source.change(live: next.live, timed: assembly.timed, streams: assembly.streams)
        pipeline.change(detectors: assembly.detectors)
        replaceChains()
        for line in lines { line.installDecorators() }
        let kept = assembly.detectors.filter { detector in before.detectors.contains { $0 === detector } }
        for line in lines { line.detectorsChanged(to: Set(kept.map(\.name))) }
        retired = (retired + gone).filter { !$0.handler.hasEnded }
        attachments?.change(to: lines, within: Self.retirement)
        for line in gone { line.handler.end(within: Self.retirement) }
        applyStoreAndSocket(of: assembly.configuration, from: before.configuration)
        assembly.report(to: router)
        for detector in assembly.detectors where !detector.isDetecting { detector.startDetection() }
        for notice in assembly.notices where !before.notices.contains(notice) { log.say(notice) }
        if lines.isEmpty, store == nil, relay.server == nil {
            log.say("no handler: events go nowhere", level: .warning)
        }
        configuredNanoseconds = SystemClock.monotonic()
        refusedConfiguration = nil
    }

    // MARK: - Reload

    /// Has a worker thread read the configuration again, and open its recordings: a disk may be slow.
    func reload() {
        guard !isReading else {
            // The file may have changed since the start of the reading.
            wantsAnother = true
            return
        }
        // The time is taken after the signal: a service manager ignores replies that are older than its request.
        manager.sayReloading(SystemClock.monotonic())
        guard let path = options.configurationPath else {
            log.say("there is no configuration to read anew", level: .notice)
            manager.sayReady()
            return
        }
        let (mailbox, playing, interruption) = (mailbox, assembly.traceParts, interruption)
        do throws(SystemError) {
            try WorkerThread.start {
                let result = Result { () throws(StationError) in
                    let configuration = try mapError(StationError.init) { () throws(ConfigurationError) in
                        try Configuration.read(path: path, mayWait: false)
                    }
                    let traces = try PlayedTraces(configuration, unless: playing, interruption: interruption)
                    return ReadConfiguration(configuration: configuration, traces: Transfer(traces))
                }
                mailbox.post(.configuration(result))
            }
            isReading = true
        } catch {
            refuse(StationError(error))
        }
    }

    /// Applies the configuration that was read, or says why not and keeps the old one.
    func finishReload(_ result: Result<ReadConfiguration, StationError>) {
        isReading = false
        let kept = assembly.sensors.map { ObjectIdentifier($0.object) }
        do throws(StationError) {
            let read = try result.get()
            apply(try prepare(read.configuration, read.traces.take() ?? nil))
            let count = assembly.sensors.count { kept.contains(ObjectIdentifier($0.object)) }
            log.say("configuration read anew: \(count) of \(assembly.sensors.count) sensors run on")
            tellState()
            manager.sayReady()
        } catch {
            refuse(error)
        }
        if wantsAnother {
            wantsAnother = false
            reload()
        }
    }

    private func refuse(_ error: StationError) {
        refusedConfiguration = error.description
        log.say(error.description, level: .error)
        log.say("the configuration stays as it was", level: .error)
        manager.sayReady()
    }
}
