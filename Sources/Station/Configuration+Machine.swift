import Binnacle
package import Configuration
import Handlers
package import LinuxSensors
import PlainText
import Store
package import TableReading

extension Configuration {
    /// Warnings about the machine whose `/sys` and `/dev` are below `root`; `nil` for this machine.
    package func machineWarnings(root: String?) -> [ConfigurationDiagnostic] {
        machineWarnings(DeviceFinder(under: root))
    }

    /// Missing libraries and thresholds beyond the range of a connected sensor.
    ///
    /// Reads sysfs and loads libraries, so it must not run on the event thread.
    package func machineWarnings(_ finder: DeviceFinder) -> [ConfigurationDiagnostic] {
        var warnings = handlers.compactMap { handler in
            handler.action.missingLibrary.map { reason in
                places.warning(
                    at: "handler.\(handler.name).\(type(of: handler.action).key)", "handler.\(handler.name)",
                    message: reason)
            }
        }
        if store != nil, let reason = StoreLibrary.problem {
            warnings.append(places.warning(at: "store", message: reason))
        }
        // Without devices there is nothing to compare with.
        return warnings + rangeWarnings((try? finder.devices()) ?? [])
    }

    private func rangeWarnings(_ devices: [SensorDevice]) -> [ConfigurationDiagnostic] {
        detectors.flatMap { detector -> [ConfigurationDiagnostic] in
            guard let found = detector.accelerationLimits,
                let section = sensors.first(where: { $0.name == found.sensor }),
                let range = range(of: section, devices)
            else { return [] }
            let limit = range.metresPerSecondSquared / Double(Units.standardGravity)
            return found.limits.compactMap { threshold in
                let name = "\(detector.title).\(threshold.key)"
                // All axes together measure up to √3 times the range of one; a default threshold says nothing about
                // this device.
                let most = limit * (places.has(name) ? 1 : 3.0.squareRoot())
                guard Double(threshold.g) > most else { return nil }
                return places.warning(
                    at: name, detector.title,
                    message:
                        "\(threshold.key) (\(threshold.g)) is beyond what \(Spelling.quoted(range.device)) measures: "
                        + "\(Figure.Value.number(limit, decimals: 1)) g on an axis",
                    hint: "lower it, or give the device a larger range")
            }
        }
    }

    /// The smallest known range of the devices that match a section.
    private func range(
        of section: SensorSection, _ devices: [SensorDevice]
    ) -> (device: String, metresPerSecondSquared: Double)? {
        guard let (interface, match) = section.source.device else { return nil }
        let kinds = kinds(of: section.name)
        let fitting = devices.filter { device in
            (interface == nil || device.interface == interface) && match.accepts(device)
                && kinds.allSatisfy(device.kinds.contains)
        }
        var largest: (device: String, metresPerSecondSquared: Double)?
        for device in fitting {
            guard let range = device.accelerationRange else { return nil }
            if range > largest?.metresPerSecondSquared ?? 0 { largest = (device.name, range) }
        }
        return largest
    }
}
