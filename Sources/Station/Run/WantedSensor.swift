package import Binnacle
package import Configuration
import LinuxSensors

/// A section whose sensor is used, and what is read of it.
package struct WantedSensor: Equatable {
    package private(set) var section: SensorSection
    /// The needed kinds of samples.
    package let kinds: [SampleKind]
    /// The kinds that are read as well where they are there.
    package let optionalKinds: [SampleKind]

    package init(_ section: SensorSection, _ kinds: [SampleKind], optionalKinds: [SampleKind] = []) {
        self.section = section
        self.kinds = kinds
        self.optionalKinds = optionalKinds
    }

    /// The same sensor with a short latency, for a recording of raw scans: each delivery has those of one device, and the
    /// devices' samples are to follow each other nearly as they were taken.
    package var readSoon: WantedSensor {
        var sensor = self
        sensor.section.settings.latency = min(section.settings.latency, .milliseconds(10))
        return sensor
    }
}

extension Configuration {
    /// The sensors that a detector uses.
    var wantedSensors: [WantedSensor] {
        sensors.map { WantedSensor($0, kinds(of: $0.name), optionalKinds: optionalKinds(of: $0.name)) }
            .filter { !$0.kinds.isEmpty }
    }
}
