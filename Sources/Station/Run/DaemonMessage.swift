import Binnacle
import Configuration
import EventSocket
import Handlers
import PlainText
import TableReading

/// What other threads tell the daemon's event thread.
enum DaemonMessage: Sendable {
    /// A handler tells of itself.
    case report(Event)
    /// The configuration was read anew.
    case configuration(Result<Configuration, ConfigurationError>)
    /// A handler that the store no longer delivers to has ended.
    case handlerEnded(name: String)
    /// The store has opened its file, or failed to: sequence numbers continue after this one.
    case sequence(UInt64)
    /// Somebody asks how the station is.
    case status(reply: @Sendable (String) -> Void)
    /// Subscribers want these kinds, which repeat a state, and no others.
    case repeatedKinds(Set<EventKind>)
    /// A socket was opened for these settings, or closed, or it cannot be.
    case socket(SocketSettings?, Result<SocketServer?, SocketServerError>)
    /// The socket's server has something to say.
    case word(String, LogLevel)
}
