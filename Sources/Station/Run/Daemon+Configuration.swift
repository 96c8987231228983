import Binnacle
import Configuration
import EventSocket
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Store
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

    /// Reads the configuration of the options and opens its recordings, or makes a configuration.
    static func read(
        _ options: inout RunOptions, _ finder: DeviceFinder, _ interruption: Interruption
    ) throws(StationError) -> ReadConfiguration {
        if options.embedded == nil || options.configurationPath != nil {
            let path = options.configurationPath ?? Configuration.standardPath
            var found: (configuration: Configuration, notices: [String])?
            do throws(ConfigurationError) {
                found = try options.configuration(at: path, mayWait: true)
            } catch {
                guard case .file(_, .missing) = error, options.configurationPath == nil else {
                    throw StationError(error)
                }
            }
            // Without one, there may be one at a reload.
            options.configurationPath = path
            if var found {
                options.restrictToView(&found.configuration)
                return try options.open(found, unless: [], interruption)
            }
        }
        let embedded = options.embedded ?? .devices
        options.embedded = embedded
        var configuration = try embedded.configuration(
            finder, settings: options.settings, logs: !options.writesJSON)
        if options.view == nil { configuration.addOwnPlaces() }
        options.restrictToView(&configuration)
        return try options.open((configuration, []), unless: [], interruption)
    }

    /// Makes the folders of the user's own socket and store, which nothing else makes.
    ///
    /// - Returns: What failed; the socket or the store reports it once more when it is opened.
    static func makeOwnFolders(_ configuration: Configuration) -> [String] {
        let own = [EventStoreSettings.withoutConfiguration, SocketPath.withoutConfiguration()]
        let wanted = [configuration.store?.path, configuration.socket?.path]
        return zip(wanted, own).compactMap { wanted, own in
            guard let wanted, wanted == own else { return nil }
            do throws(SystemError) {
                try OwnFolder.make(for: wanted)
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    /// Makes what a configuration says, as far as it is not there already.
    ///
    /// - Parameter read: The configuration, and its recordings unless they are those that are played.
    /// - Returns: The objects, which ``apply(_:)`` puts into force.
    /// - Throws: ``StationError`` when it cannot be applied.
    func prepare(_ read: ReadConfiguration) throws(StationError) -> Preparation {
        var configuration = read.configuration
        configuration.places = ConfigurationPlaces()
        if options.writesJSON {
            configuration.handlers.append(EmbeddedConfiguration.handler(Self.outputName, OutputAction()))
        }
        try configuration.requireDetector(options.configurationPath ?? "")
        // A view only looks: the name on the bus belongs to the daemon.
        if options.view != nil { configuration.dbus = nil }
        configuration.addDesktop()
        let assembly = Assembly(
            configuration, after: assembly, now: SystemClock.monotonic(), traces: read.traces.take() ?? nil,
            notices: read.notices)
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
                        try HandlerLine(
                            section, after: old, context: context, inlet: inlet,
                            reports: HandlerReports(
                                report: { mailbox.post(.report($0)) }, readerGone: { mailbox.post(.readerGone($0)) })))
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
        noteGyroscopes()
        let gone = lines.filter { line in !next.lines.contains { $0.handler === line.handler } }
        for detector in before.detectors where !next.assembly.detectors.contains(where: { $0 === detector }) {
            detector.stopDetection()
        }
        assembly = next.assembly
        recallGyroscopes()
        lines = next.lines
        source.change(
            live: next.live, timed: assembly.timed, streams: assembly.streams,
            staysOpen: assembly.detectors.contains { !$0.ambientKinds.isEmpty } || assembly.configuration.dbus != nil)
        pipeline.change(detectors: assembly.detectors)
        scheduleReadings(again: true)
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
        applyDesktop(of: assembly.configuration)
        reviewDemand()
        if configuredNanoseconds == 0, options.view == nil { sayStart() }
        for notice in assembly.notices where !before.notices.contains(notice) { log.say(notice) }
        for warning in assembly.configuration.warnings where !before.configuration.warnings.contains(warning) {
            log.say(warning.description, level: .warning)
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
        let (mailbox, options, playing, interruption) = (mailbox, options, assembly.traceParts, interruption)
        do throws(SystemError) {
            try WorkerThread.start {
                let result = Result { () throws(StationError) in
                    let read = try mapError(StationError.init) { () throws(ConfigurationError) in
                        try options.configuration(at: path, mayWait: false)
                    }
                    return try options.open(read, unless: playing, interruption)
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
            apply(try prepare(read))
            lookForWarnings(about: read.configuration)
            let count = assembly.sensors.count { kept.contains(ObjectIdentifier($0.object)) }
            log.say("configuration read anew: \(count) of \(assembly.sensors.count) sensors run on")
            tellState()
            manager.sayReady()
            restNanoseconds = SystemClock.monotonic() + Self.settling
        } catch {
            refuse(error)
        }
        if wantsAnother {
            wantsAnother = false
            reload()
        }
    }

    /// Has a thread of its own compare a configuration with the machine: a driver may take any time to say its range.
    private func lookForWarnings(about configuration: Configuration) {
        let (mailbox, finder) = (mailbox, finder)
        // Without a thread there are no such warnings.
        try? WorkerThread.start { mailbox.post(.machineWarnings(configuration.machineWarnings(finder))) }
    }

    /// Logs the warnings that the reload before this one did not have.
    func take(machineWarnings warnings: [ConfigurationDiagnostic]) {
        for warning in warnings where !machineWarnings.contains(warning) {
            log.say(warning.description, level: .warning)
        }
        machineWarnings = warnings
    }

    private func refuse(_ error: StationError) {
        refusedConfiguration = error.description
        log.say(error.description, level: .error)
        log.say("the configuration stays as it was", level: .error)
        manager.sayReady()
    }
}

extension RunOptions {
    /// Leaves of a configuration what a view needs: nothing that acts, and nothing that is kept.
    fileprivate func restrictToView(_ configuration: inout Configuration) {
        guard let view else { return }
        configuration.handlers = []
        configuration.store = nil
        configuration.socket = SocketSettings(path: view.socketPath)
    }

    /// Reads a configuration, with what the command line sets and has play its sensors.
    fileprivate func configuration(
        at path: String, mayWait: Bool
    ) throws(ConfigurationError) -> (configuration: Configuration, notices: [String]) {
        let configuration = try Configuration.read(path: path, settings: settings, mayWait: mayWait)
        return embedded?.playing(configuration) ?? (configuration, [])
    }

    /// Opens the recordings of a configuration, unless they are played already.
    fileprivate func open(
        _ read: (configuration: Configuration, notices: [String]), unless playing: [WantedSensor],
        _ interruption: Interruption
    ) throws(StationError) -> ReadConfiguration {
        // Without a file, each recording has a section of its own.
        let recordings = configurationPath == nil ? nil : embedded?.recordings
        var traces = try PlayedTraces(
            read.configuration, unless: playing, recordings: recordings, interruption: interruption)
        traces?.speed = embedded?.speed ?? 1
        return ReadConfiguration(
            configuration: read.configuration, notices: read.notices, traces: Transfer(traces))
    }
}
