import Binnacle
import Configuration
import EventSocket
import Glibc
import Handlers
import LinuxSystem
import PlainText
import TableReading

/// Reloads the configuration on a signal, and logs the warnings of each configuration.
final class ReloadPart: DaemonPart {
    private unowned let daemon: Daemon
    private let service: ServicePart
    private let socket: SocketPart
    private let inbox: PartInbox<ReloadPart>
    /// The reading of a configuration on another thread.
    private var reading = RepeatedWork.none
    /// Why the last configuration read was rejected; `nil` when it is in force.
    private var refused: String?
    /// Warnings about the machine at the last reload.
    private var machineWarnings: [ConfigurationDiagnostic] = []
    /// Time of the last change of the configuration in force.
    private var appliedNanoseconds: Int64 = 0

    /// The first configuration until it is logged, which waits for the socket.
    private var unlogged: ConfigurationChange?

    init(_ daemon: Daemon, _ service: ServicePart, _ socket: SocketPart) {
        self.daemon = daemon
        self.service = service
        self.socket = socket
        inbox = PartInbox(daemon)
    }

    func turn(_ answer: SampleAnswer, at now: Int64) {
        if socket.isSettled || daemon.isReady { logStart() }
        if daemon.interruption.takeReload() { reload() }
    }

    func end(_ stage: EndStage, until deadline: Int64) { logStart() }

    private func logStart() {
        guard let change = unlogged.take() else { return }
        sayStart()
        log(change)
    }

    /// Reads the configuration and opens its recordings on another thread, because a disk may be slow.
    private func reload() {
        guard reading.mayBegin() else { return }
        // The time is taken after the signal: the service manager ignores replies older than its request.
        service.sayReloading(SystemClock.monotonic())
        guard let path = daemon.options.configurationPath else {
            return sayThatThereIsNone()
        }
        let (options, playing, interruption) = (daemon.options, daemon.assembly.traceParts, daemon.interruption)
        do throws(SystemError) {
            try inbox.run {
                Result { () throws(StationError) in try options.readAgain(path, unless: playing, interruption) }
            } then: {
                $0.finish($1)
            }
            reading = .running
        } catch {
            refuse(StationError(error))
        }
    }

    /// Applies a configuration that was read, or logs why it was rejected.
    private func finish(_ result: Result<ReadConfiguration?, StationError>) {
        guard !daemon.isEnding else { return }
        let isOutdated = reading.end()
        let kept = daemon.assembly.sensors.map { ObjectIdentifier($0.object) }
        do throws(StationError) {
            if let read = try result.get() {
                try daemon.apply(read)
                compareWithMachine(read.configuration)
                let sensors = daemon.assembly.sensors
                let count = sensors.count { kept.contains(ObjectIdentifier($0.object)) }
                daemon.log.say("configuration reloaded: \(count) of \(sensors.count) sensors keep running")
                service.sayReady()
            } else {
                sayThatThereIsNone()
            }
        } catch {
            refuse(error)
        }
        if isOutdated { reload() }
    }

    private func sayThatThereIsNone() {
        daemon.log.say("there is no configuration file to read again", level: .notice)
        service.sayReady()
    }

    private func refuse(_ error: StationError) {
        refused = error.description
        daemon.log.say(error.description, level: .error)
        daemon.log.say("the previous configuration stays in force", level: .error)
        service.sayReady(refusing: String(error.description.prefix { $0 != "\n" }).printable)
    }

    /// Compares a configuration with the machine, on another thread: a driver may block while its range is read.
    private func compareWithMachine(_ configuration: Configuration) {
        let finder = daemon.finder
        // These warnings are omitted when no thread can be started.
        try? inbox.run {
            configuration.machineWarnings(finder)
        } then: { part, warnings in
            // Warnings that the reload before did not have.
            for warning in warnings where !part.machineWarnings.contains(warning) {
                part.daemon.log.say(warning.description, level: .warning)
            }
            part.machineWarnings = warnings
        }
    }

    func apply(_ change: ConfigurationChange) {
        appliedNanoseconds = SystemClock.monotonic()
        refused = nil
        if change.isFirst { unlogged = change } else { log(change) }
    }

    private func log(_ change: ConfigurationChange) {
        let (before, after) = (change.before, change.after)
        for notice in after.notices where !before.notices.contains(notice) { daemon.log.say(notice) }
        for warning in after.configuration.warnings where !before.configuration.warnings.contains(warning) {
            daemon.log.say(warning.description, level: .warning)
        }
    }

    var problems: [String] {
        refused.map { ["the configuration is refused, and the previous one stays in force: \($0)"] } ?? []
    }

    func status(at now: Int64) -> [(key: String, json: String)] {
        var object = JSONObject()
        object.add("path", daemon.options.configurationPath)
        object.add("files", list: daemon.assembly.configuration.files.map(JSONObject.quoted))
        object.add("read_s", seconds: now - appliedNanoseconds)
        object.add("refused", refused)
        return [("configuration", object.text)]
    }

    // MARK: - The first line of the log

    /// Logs what runs, and on a terminal how to end and inspect it.
    private func sayStart() {
        let configuration = daemon.assembly.configuration
        let handlers = configuration.handlers.map { section in
            let action = type(of: section.action).key
            return section.name == action ? action : "\(section.name) (\(action))"
        }
        let parts = [
            Self.list("sensor", daemon.assembly.sensors.map(\.section.name)),
            Self.list("detector", configuration.detectorNames),
            Self.list("handler", handlers), "socket: \(socket.path ?? "none")",
            configuration.dbus == nil ? nil : "the service on the system bus",
            "configuration: \(configurationWords)",
        ].compactMap { $0 }
        daemon.log.announce("version \(Version.current) runs with " + parts.joined(separator: "; "))
        guard isatty(STDERR_FILENO) == 1 else { return }
        var look = "an open [socket] lets 'binnacle status' show its state"
        if let path = socket.path {
            let isUsual = path == SocketPath.forDaemon()
            look = "'binnacle status\(isUsual ? "" : " --socket \(path)")' shows its state"
        }
        daemon.log.announce("Ctrl-C ends it; \(look)")
    }

    private var configurationWords: String {
        let files = daemon.assembly.configuration.files
        let count = daemon.options.settings.count
        let settings = count == 0 ? "" : " and \(count) \(count == 1 ? "key" : "keys") of the command line"
        guard let first = files.first else { return "none, with the defaults\(settings)" }
        return (files.count == 1 ? first : "\(daemon.options.configurationPath ?? first) (\(files.count) files)")
            + settings
    }

    /// The first eight names of a list, and the number of the others.
    private static func list(_ word: String, _ names: [String]) -> String {
        let most = 8
        let shown = names.prefix(most).joined(separator: ", ")
        let more = names.count > most ? " and \(names.count - most) more" : ""
        return "\(word)\(names.count == 1 ? "" : "s"): \(names.isEmpty ? "none" : shown + more)"
    }
}
