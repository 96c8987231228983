import Binnacle
package import TableReading

/// The section of a detector that looks at the samples of one accelerometer.
package protocol AccelerometerSection: DetectorSection {
    /// The name of the accelerometer's sensor.
    var sensor: String { get }
    /// The key that names it.
    static var accelerometer: Key { get }
}

extension AccelerometerSection {
    package var publishedSensor: String? { sensor }
    package var ownLines: [String] { [Self.line(Self.accelerometer, sensor)] }
    package static var sensorKeys: [String] { [accelerometer.name] }
    package static var ownKeys: [Key] { [accelerometer] }
}
