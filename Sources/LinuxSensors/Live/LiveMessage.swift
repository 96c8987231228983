/// What worker threads tell the event thread.
enum LiveMessage: Sendable {
    /// The machine was searched; these are its sensors.
    case enumerated([SensorDevice])
    /// The machine cannot be searched.
    case enumerationFailed(String)
    /// A device was looked at after udev told of it; the number is that of udev's word.
    case found(SensorDevice, change: Int)
    /// A device was opened for a sensor, or could not be.
    case opened(sensor: Int, generation: Int, Result<OpenedDevice, SensorFailure>)
    /// The device of a sensor that has gone is closed.
    case closed(sensor: Int)
    /// A poller says something.
    case polled(sensor: Int, generation: Int, PollOutcome)

    /// An open device, and what a person should know about it.
    struct OpenedDevice: Sendable {
        let opened: SensorOpener.Opened
        let notices: [String]
    }
}
