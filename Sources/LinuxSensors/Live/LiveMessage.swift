import LinuxSystem

/// A message of a worker thread to the event thread.
enum LiveMessage: Sendable {
    /// The machine was searched for sensors, or the search failed.
    case searched(Result<[SensorDevice], SystemError>)
    /// A device was examined after a report of udev; `nil` when it is not a sensor or was removed.
    case examined(path: String, report: Int, SensorDevice?)
    /// A device was opened for a sensor, or the opening failed.
    case opened(sensor: Int, Result<OpenedDevice, SensorFailure>)
    case closed(sensor: Int)
    /// A worker thread has done what a rest needs, with the gate that tells this opening from others.
    case rested(sensor: Int, opening: SwitchGate, SleepWatch.Input)
    /// A worker thread has read the number of steps behind a report of them, with its stamp.
    case stepped(sensor: Int, opening: SwitchGate, timeNanoseconds: Int64, Result<Int, SensorFailure>)
    /// What woke the machine, for the user.
    case machineWoke(String)
    case polled(sensor: Int, IIOPoller, PollOutcome)
}
