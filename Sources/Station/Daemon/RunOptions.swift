import Binnacle
package import Configuration
import EventSocket
import Glibc
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import Store
import TableReading

package struct RunOptions: Sendable {
    /// The configuration: a file, or a folder with drop-ins.
    package var configurationPath: String?
    /// Sources that replace a missing configuration, or the sensors of the configuration.
    package var embedded: EmbeddedConfiguration?
    package var settings: [CommandLineSetting] = []
    /// Whether events are written to standard output as well.
    package var writesJSON = false
    /// The parent of `/sys` and `/dev`; `nil` for those of this machine.
    package var root: String?
    /// Where messages are logged.
    var logDescriptor = STDERR_FILENO
    /// The socket of a view, a daemon that runs no handler and stores nothing; `nil` for a normal daemon.
    package var viewSocket: String?

    package init() {}
}

/// A configuration that was read, its messages, and its recordings unless these are already playing.
struct ReadConfiguration: Sendable {
    let configuration: Configuration
    let notices: [String]
    let traces: Transfer<PlayedTraces?>
}

extension RunOptions {
    /// Whether a service manager has started this run, and would not start it again for ever; a view is none.
    var isService: Bool { viewSocket == nil && ServiceManager.isThere }

    static let outputName = "--json"

    /// Reads the configuration and opens its recordings, or makes a configuration; the options then state what a reload
    /// reads.
    mutating func readFirst(
        _ finder: DeviceFinder, _ interruption: Interruption
    ) throws(StationError) -> ReadConfiguration {
        if embedded == nil || configurationPath != nil {
            let path = configurationPath ?? Configuration.standardPath
            let found = try configuration(at: path, mayWait: true, mayBeMissing: configurationPath == nil)
            // There may be one at a reload.
            configurationPath = path
            if let found { return try open(found, unless: [], interruption) }
        }
        let embedded = embedded ?? .devices
        self.embedded = embedded
        let configuration = try embedded.configuration(finder, settings: settings, logs: !writesJSON, waits: isService)
        return try open((viewed(configuration), []), unless: [], interruption, hasOwnPlaces: true)
    }

    /// Reads the configuration again, and opens its recordings unless they are already playing; `nil` where there is no file, without which
    /// the first one was made.
    func readAgain(
        _ path: String, unless playing: [WantedSensor], _ interruption: Interruption
    ) throws(StationError) -> ReadConfiguration? {
        guard let read = try configuration(at: path, mayWait: false, mayBeMissing: embedded != nil) else { return nil }
        return try open(read, unless: playing, interruption)
    }

    /// Reads a configuration, applies the command line's settings, and replaces its sensors if an option asks for that; `nil` for a
    /// missing file that may be.
    private func configuration(
        at path: String, mayWait: Bool, mayBeMissing: Bool
    ) throws(StationError) -> (configuration: Configuration, notices: [String])? {
        do throws(ConfigurationError) {
            let configuration = viewed(try Configuration.read(path: path, settings: settings, mayWait: mayWait))
            return embedded?.playing(configuration) ?? (configuration, [])
        } catch {
            guard mayBeMissing, error.isAbsence(at: path) else { throw StationError(error) }
            return nil
        }
    }

    /// What a view needs of a configuration: it acts on nothing and stores nothing, and the name on the bus belongs to the daemon.
    private func viewed(_ configuration: Configuration) -> Configuration {
        guard let viewSocket else { return configuration }
        var viewed = configuration
        viewed.handlers = []
        viewed.store = nil
        viewed.socket = SocketSettings(path: viewSocket)
        viewed.dbus = nil
        return viewed
    }

    /// Opens the recordings of a configuration, and applies the options; a run without a file uses the user's own
    /// socket and store.
    private func open(
        _ read: (configuration: Configuration, notices: [String]), unless playing: [WantedSensor],
        _ interruption: Interruption, hasOwnPlaces: Bool = false
    ) throws(StationError) -> ReadConfiguration {
        var configuration = read.configuration
        if viewSocket == nil, hasOwnPlaces { configuration.addOwnPlaces() }
        if writesJSON {
            // Repeated states are printed only on request.
            configuration.handlers.append(
                HandlerSection(
                    name: Self.outputName, kinds: EventKind.allCases.filter { !EventKind.repeated.contains($0) },
                    detectors: nil, action: OutputAction(), decorators: []))
        }
        let recordings = configurationPath == nil ? nil : embedded?.recordings
        var traces: PlayedTraces?
        do throws(StationError) {
            try StationError.refuse(outputsOf: configuration, over: configuration.inputs + (recordings?.files ?? []))
            traces = try PlayedTraces(
                configuration, unless: playing, recordings: recordings, interruption: interruption)
        } catch {
            // Without recordings in the arguments the fault is in the configuration.
            throw recordings == nil && error.status == .usage ? StationError(.configuration, error.description) : error
        }
        traces?.speed = embedded?.speed ?? 1
        return ReadConfiguration(
            configuration: configuration, notices: read.notices, traces: Transfer(traces))
    }
}

extension Configuration {
    /// Makes the folders of the user's own socket and store; returns the failures, which the socket or the store
    /// reports again when it is opened, and why the socket is not in the session's folder.
    func makeOwnFolders() -> [String] {
        let own = [EventStoreSettings.withoutConfiguration, SocketPath.withoutConfiguration()]
        var messages: [String] = zip([store?.path, socket?.path], own).compactMap { wanted, own in
            guard let wanted, wanted == own else { return nil }
            do throws(SystemError) {
                try OwnFolder.make(for: wanted)
                return nil
            } catch {
                return "\(error)"
            }
        }
        if let path = socket?.path, path == SocketPath.ownStateFolder().map({ $0 + "/binnacle.sock" }),
            let reason = SocketPath.ignoredSession()
        {
            messages.append("\(reason): the socket is \(path.printable), where this account's commands look for it")
        }
        return messages
    }
}
