/// One reading of a device through sysfs, converted.
struct PolledReading: Sendable {
    /// When it was made, on CLOCK_MONOTONIC.
    var timeNanoseconds: Int64
    /// The axes of each stream, in the order of the device's streams; two are the most a device has.
    var first: (x: Float, y: Float, z: Float) = (0, 0, 0)
    /// See ``first``.
    var second: (x: Float, y: Float, z: Float) = (0, 0, 0)

    /// One stream's axes.
    func axes(_ stream: Int) -> (x: Float, y: Float, z: Float) { stream == 0 ? first : second }
}

/// What a poller reports.
enum PollOutcome: Sendable {
    /// A reading.
    case reading(PolledReading)
    /// A reading that failed; the poller goes on.
    case missed(SensorFailure)
    /// The device fails for good, or is gone; the poller goes on, more slowly, unless it is gone.
    case failed(SensorFailure)
}
