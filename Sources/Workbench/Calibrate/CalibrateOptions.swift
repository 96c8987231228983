package import Binnacle
package import Calibration
package import Traces

/// What a person asks of a calibration.
package struct CalibrateOptions {
    /// Which kind of sensor is calibrated.
    package var kind = SampleKind.magnetometer
    /// What is wanted of a magnetometer's samples.
    package var judge = MagnetometerJudge()
    /// The traces to take samples from; the sensors without any.
    package var traces: [String] = []
    package var map: ColumnMap?
    /// Only samples of the traces with these stamps, in nanoseconds.
    package var timeRange = Int64.min...Int64.max
    /// The configuration whose sensor is calibrated.
    package var configurationPath: String?
    /// The sensor, when there are several.
    package var sensor: String?
    /// How long; until there is enough without.
    package var duration: Duration?
    /// The folder under which `/sys` and `/dev` lie; the machine's own without one.
    package var root: String?

    package init() {}
}
