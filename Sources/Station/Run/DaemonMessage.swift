import Binnacle
import Configuration
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import TableReading

/// A message of another thread to the daemon's event thread.
enum DaemonMessage: Sendable {
    /// A handler's report.
    case report(Event)
    /// The configuration was read anew.
    case configuration(Result<ReadConfiguration, StationError>)
    /// A handler that the store no longer delivers to has ended.
    case handlerEnded(name: String)
    /// The store has opened its file, or failed to: sequence numbers continue after this one.
    case sequence(UInt64)
    /// A request for the status.
    case status(reply: @Sendable (String) -> Void)
    /// The repeated kinds that are subscribed to.
    case repeatedKinds(Set<EventKind>)
    /// A socket was opened for these settings, or closed, or could not be opened.
    case socket(SocketSettings?, Result<SocketServer?, SocketServerError>)
    /// A log message of the socket's server.
    case word(String, LogLevel)
}

/// A configuration that a worker thread has read, and its recordings, unless they are those that are played.
struct ReadConfiguration: Sendable {
    let configuration: Configuration
    let traces: Transfer<PlayedTraces?>
}
