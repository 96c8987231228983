package import Binnacle
package import LinuxSensors
package import TableReading

/// The section of a detector that looks at the samples of one accelerometer.
package protocol AccelerometerSection: DetectorSection {
    typealias Parts = AccelerometerParts<Settings>

    var parts: Parts { get }
    /// The key that names the accelerometer's sensor.
    static var accelerometer: Key { get }
    /// A sufficient sampling rate, in Hz.
    var rateHz: Double { get }
    /// The one below which much is missed, in Hz; 0 by default, for none.
    var leastHz: Double { get }
    /// What the detector wants of the accelerometer's chip; `nil` by default.
    var chip: ChipSettings? { get }

    init(_ parts: Parts)
}

package struct AccelerometerParts<Settings: CheckedSettings>: Sendable, Equatable {
    let name: String
    var settings: Settings
    let sensor: String
}

extension AccelerometerSection {
    package var name: String { parts.name }
    package var settings: Settings { parts.settings }
    var sensor: String { parts.sensor }

    package init?(name: String, reading table: TableReader, _ settings: Settings, among names: SectionNames) {
        guard let sensor = Self.sensor(Self.accelerometer, table, names) else { return nil }
        self.init(Parts(name: name, settings: settings, sensor: sensor))
    }

    package var needs: [StreamNeed] {
        [
            StreamNeed(sensor: sensor, kind: .accelerometer, rateHz: rateHz, leastHz: leastHz, chip: chip)
        ]
    }
    package var leastHz: Double { 0 }
    package var chip: ChipSettings? { nil }
    package var publishedSensor: String? { sensor }
    package var ownLines: [String] { [Self.line(Self.accelerometer, sensor)] }
    package static var sensorKeys: [String] { [accelerometer.name] }
    package static var ownKeys: [Key] { [accelerometer] }
}

extension AccelerometerSection where Detector: AccelerometerDetector, Detector.Settings == Settings {
    package func makeDetector(on streams: [SampleStream], asking detectors: [any EventDetector]) -> Detector {
        Detector(name: name, accelerometer: streams.first(sensor, .accelerometer), settings: settings)
    }
}
