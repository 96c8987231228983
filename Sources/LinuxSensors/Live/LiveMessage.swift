import LinuxSystem

/// What worker threads tell the event thread.
enum LiveMessage: Sendable {
    /// The machine was searched for sensors, or why it cannot be.
    case searched(Result<[SensorDevice], SystemError>)
    /// A device was examined after a report of udev; `nil` when it is no sensor, or gone.
    case examined(path: String, report: Int, SensorDevice?)
    /// A device was opened for a sensor, or could not be.
    case opened(sensor: Int, Result<OpenedDevice, SensorFailure>)
    case closed(sensor: Int)
    /// The poller of a sensor has read its device, or could not.
    case polled(sensor: Int, IIOPoller, PollOutcome)
}
