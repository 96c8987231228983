/// One reading of a device through sysfs, converted.
struct PolledReading: Sendable {
    /// When it was made, on CLOCK_MONOTONIC.
    var timeNanoseconds: Int64
    /// The axes of each stream, in the order of the device's streams; three are the most a device has.
    private var values: (Axes, Axes, Axes) = ((0, 0, 0), (0, 0, 0), (0, 0, 0))

    typealias Axes = (x: Float, y: Float, z: Float)

    init(timeNanoseconds: Int64) {
        self.timeNanoseconds = timeNanoseconds
    }

    /// One stream's axes.
    subscript(stream: Int) -> Axes {
        get {
            switch stream {
            case 0: values.0
            case 1: values.1
            default: values.2
            }
        }
        set {
            switch stream {
            case 0: values.0 = newValue
            case 1: values.1 = newValue
            default: values.2 = newValue
            }
        }
    }
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
