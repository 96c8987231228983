import Binnacle

/// What other threads tell the daemon's event thread.
enum DaemonMessage: Sendable {
    /// A handler tells of itself.
    case report(Event)
    /// The configuration was read anew.
    case configuration(Result<Configuration, ConfigurationError>)
}
