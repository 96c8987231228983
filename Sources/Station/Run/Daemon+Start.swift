import Binnacle
import Configuration
import EventSocket
import Glibc
import Handlers
import PlainText

/// The line with which a run begins.
extension Daemon {
    /// Logs what runs, and on a terminal how to end it and to look at it.
    func sayStart() {
        let configuration = assembly.configuration
        let handlers = lines.map { line in
            let action = type(of: line.section.action).key
            return line.section.name == action ? action : "\(line.section.name) (\(action))"
        }
        let parts = [
            Self.list("sensor", assembly.sensors.map(\.section.name)),
            Self.list("detector", configuration.detectorNames),
            Self.list("handler", handlers), "socket: \(configuration.socket?.path ?? "none")",
            configuration.dbus == nil ? nil : "the service on the system bus",
            "configuration: \(configurationWords)",
        ].compactMap { $0 }
        log.say("version \(Version.current) runs with " + parts.joined(separator: "; "))
        guard isatty(STDERR_FILENO) == 1 else { return }
        var look = "a [socket] in the configuration lets 'binnacle status' look at it"
        if let path = configuration.socket?.path {
            let isUsual = path == SocketPath.forDaemon()
            look = "'binnacle status\(isUsual ? "" : " --socket \(path)")' shows how it is doing"
        }
        log.say("Ctrl-C ends it; \(look)")
    }

    /// Where the configuration comes from.
    private var configurationWords: String {
        let files = assembly.configuration.files
        let count = options.settings.count
        let settings = count == 0 ? "" : " and \(count) \(count == 1 ? "key" : "keys") of the command line"
        guard let first = files.first else { return "none, with the defaults\(settings)" }
        return (files.count == 1 ? first : "\(options.configurationPath ?? first) (\(files.count) files)") + settings
    }

    /// The first names of a list, and how many more there are.
    private static func list(_ word: String, _ names: [String]) -> String {
        let most = 8
        let shown = names.prefix(most).joined(separator: ", ")
        let more = names.count > most ? " and \(names.count - most) more" : ""
        return "\(word)\(names.count == 1 ? "" : "s"): \(names.isEmpty ? "none" : shown + more)"
    }
}
