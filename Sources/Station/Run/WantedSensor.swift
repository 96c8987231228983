package import Binnacle
package import Configuration
package import LinuxSensors

/// A sensor section in use, and the kinds of samples read from it.
package struct WantedSensor: Equatable {
    package private(set) var section: SensorSection
    package let kinds: [SampleKind]
    /// Kinds that are read if the device has them.
    package let optionalKinds: [SampleKind]

    package init(_ section: SensorSection, _ kinds: [SampleKind], optionalKinds: [SampleKind] = []) {
        self.section = section
        self.kinds = kinds
        self.optionalKinds = optionalKinds
    }

    /// What a live source is asked for; `nil` for a section that plays something.
    package func request(for sensor: Sensor) -> SensorRequest? {
        guard let (interface, match) = section.source.device else { return nil }
        return SensorRequest(
            sensor: sensor, kinds: kinds, optionalKinds: optionalKinds, interface: interface, match: match,
            id: section.deviceID, settings: section.settings)
    }

    /// The same sensor with a short latency, for recording raw scans: a delivery has scans of one device, and
    /// deliveries of several devices should follow nearly in the order of sampling.
    package var readSoon: WantedSensor {
        var sensor = self
        sensor.section.settings.latency = min(section.settings.latency, .milliseconds(10))
        return sensor
    }
}

extension Configuration {
    /// The sensors that detectors need, which may sleep when all of these allow it.
    ///
    /// What takes samples for another reason, as a recording does, needs all of them.
    package var wantedSensors: [WantedSensor] {
        sensors.map { section in
            var section = section
            section.settings.chip = chip(of: section.name)
            return WantedSensor(section, kinds(of: section.name), optionalKinds: optionalKinds(of: section.name))
        }
        .filter { !$0.kinds.isEmpty }
    }
}
