import Binnacle
import Configuration
import DesktopBus
import EventSocket
import Handlers
import LinuxSensors
import LinuxSystem
import PlainText
import TableReading

/// A message of another thread to the daemon's event thread.
enum DaemonMessage: Sendable {
    /// A single reading, and the number of the watcher that took it.
    case reading(AmbientReading.Outcome, watcher: Int)
    /// A handler's report.
    case report(Event)
    /// The report of a handler that nobody reads standard output any more.
    case readerGone(Event)
    /// The configuration was read anew.
    case configuration(Result<ReadConfiguration, StationError>)
    /// What the machine lacks for a configuration that was read anew.
    case machineWarnings([ConfigurationDiagnostic])
    /// A handler that the store no longer delivers to has ended.
    case handlerEnded(name: String)
    /// The store has opened its file, or failed to: sequence numbers continue after this one, and belong to this identity.
    case sequence(UInt64, identity: String)
    /// Another daemon has the store, for this reason.
    case storeConflict(String)
    /// A request for the status.
    case status(reply: @Sendable (String) -> Void)
    /// The repeated kinds that are subscribed to at the socket with that number.
    case repeatedKinds(Set<EventKind>, socket: Int)
    /// The shortest interval of the live readings that are subscribed to at the socket with that number, in nanoseconds.
    case readingsInterval(Int64?, socket: Int)
    /// A socket was opened for these settings, or could not be opened.
    case socket(SocketSettings, Result<SocketServer, SocketServerError>)
    /// The file of what was learned of gyroscopes is written, or could not be.
    case gyroscopesWritten(SystemError?)
    /// The sensors that programs of the desktop have claimed.
    case claimed(DesktopSensors)
    /// The single readings for which the machine has devices.
    case readingsPresent(Set<AmbientReading.Kind>)
    /// A log message of the socket's server.
    case word(String, LogLevel)
}

/// A configuration that was read, what is told about it, and its recordings, unless they are those that are played.
struct ReadConfiguration: Sendable {
    let configuration: Configuration
    let notices: [String]
    let traces: Transfer<PlayedTraces?>
}
