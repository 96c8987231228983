import Binnacle
package import Configuration
import Handlers
package import LinuxSensors
import LinuxSystem
import PlainText
import Store
package import TableReading

extension Configuration {
    /// Warnings about the machine whose `/sys` and `/dev` are below `root`; `nil` for this machine.
    package func machineWarnings(root: String?) -> [ConfigurationDiagnostic] {
        machineWarnings(DeviceFinder(under: root))
    }

    /// Missing libraries, and thresholds that a connected sensor does not reach or that its steps reach at rest.
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
        if store != nil, let reason = Database.libraryProblem {
            warnings.append(places.warning(at: "store", message: reason))
        }
        // Without devices there is nothing to compare with.
        let devices = (try? finder.devices()) ?? []
        return warnings + rangeWarnings(devices) + stepWarnings(devices)
    }

    /// Why a run refuses the recordings of the sensors; a missing one has a warning already.
    package func recordingWarnings(_ interruption: Interruption) -> [ConfigurationDiagnostic] {
        let played = sensors.compactMap { section -> (sensor: String, file: String)? in
            if case .trace(let file, _) = section.source { (section.name, file) } else { nil }
        }
        guard !played.isEmpty, played.allSatisfy({ (try? fileStatus($0.file)) != nil }) else { return [] }
        do throws(StationError) {
            _ = try PlayedTraces(self, unless: [], recordings: nil, interruption: interruption)
            return []
        } catch {
            let section = "sensor.\((played.first { error.description.contains($0.file) } ?? played[0]).sensor)"
            return [places.warning(at: "\(section).file", section, message: error.description)]
        }
    }

    private func stepWarnings(_ devices: [SensorDevice]) -> [ConfigurationDiagnostic] {
        detectors.compactMap { detector -> ConfigurationDiagnostic? in
            guard let motion = detector as? MotionSection, motion.settings.features.contains(.motion),
                let section = sensors.first(where: { $0.name == motion.accelerometer })
            else { return nil }
            let known = fitting(section, devices).map { (device: $0.name, leastG: $0.leastReleaseG) }
            // As with the range, nothing is said where one device does not state it.
            guard let finest = known.min(by: { $0.leastG ?? 0 < $1.leastG ?? 0 }), let least = finest.leastG,
                Double(motion.settings.effectiveReleaseG) < least
            else { return nil }
            let words = Self.releaseWords(least)
            return places.warning(
                at: "\(motion.title).release_g", "\(motion.title).threshold_g", motion.title,
                message: "release_g (\(motion.settings.effectiveReleaseG)) is too low for "
                    + "\(Spelling.quoted(finest.device)): \(words.why)",
                hint: words.remedy)
        }
    }

    /// Why a lower `release_g` than that of ``SensorDevice/leastReleaseG`` makes motions of rest, and the remedy.
    package static func releaseWords(_ leastG: Double) -> (why: String, remedy: String) {
        let step = Figure.Value.number(leastG / 2, decimals: 3)
        let least = Figure.Value.number((leastG * 1000).rounded(.up) / 1000, decimals: 3)
        return (
            "its values are \(step) g apart, and go up and down by that at rest",
            "set release_g to \(least) or more, and threshold_g above it"
        )
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
        var largest: (device: String, metresPerSecondSquared: Double)?
        for device in fitting(section, devices) {
            guard let range = device.accelerationRange else { return nil }
            if range > largest?.metresPerSecondSquared ?? 0 { largest = (device.name, range) }
        }
        return largest
    }

    private func fitting(_ section: SensorSection, _ devices: [SensorDevice]) -> [SensorDevice] {
        guard let (interface, match) = section.source.device else { return [] }
        let kinds = kinds(of: section.name)
        return devices.filter { device in
            (interface == nil || device.interface == interface) && match.accepts(device)
                && kinds.allSatisfy(device.kinds.contains)
        }
    }
}

extension SensorDevice {
    /// Two steps of its acceleration, in g: at rest each axis may change by one, and three axes by √3 of it.
    package var leastReleaseG: Double? { accelerationStep.map { 2 * $0 / Double(Units.standardGravity) } }
}
