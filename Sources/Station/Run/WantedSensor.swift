package import Binnacle
package import Configuration

/// A section whose sensor is used, and what is read of it.
package struct WantedSensor: Equatable {
    package let section: SensorSection
    /// The needed kinds of samples.
    package let kinds: [SampleKind]
    /// The kinds that are read as well where they are there.
    package let optionalKinds: [SampleKind]

    package init(_ section: SensorSection, _ kinds: [SampleKind], optionalKinds: [SampleKind] = []) {
        self.section = section
        self.kinds = kinds
        self.optionalKinds = optionalKinds
    }
}

extension Configuration {
    /// The sensors that a detector uses.
    var wantedSensors: [WantedSensor] {
        sensors.map { WantedSensor($0, kinds(of: $0.name), optionalKinds: optionalKinds(of: $0.name)) }
            .filter { !$0.kinds.isEmpty }
    }
}
