package import Binnacle
import Configuration
import Handlers
import LinuxSensors
import Traces

/// A configuration without a file: the available sensors, and the detectors with their defaults.
package enum EmbeddedConfiguration: Sendable {
    /// The machine's sensors.
    case devices
    /// A motion model.
    case simulated(SimulationSettings)
    /// Recordings, in real time.
    case traces([String], loops: Bool)

    /// Makes the configuration; fails when there is no accelerometer, with the remedy.
    func configuration(_ finder: DeviceFinder) throws(StationError) -> Configuration {
        let found = try sensors(finder)
        guard let accelerometer = found.first(where: { $0.kinds.contains(.accelerometer) })?.section.name else {
            throw StationError(.unavailable, missing)
        }
        var configuration = Configuration(
            detecting: found.map(\.section), accelerometer: accelerometer,
            magnetometer: found.first { $0.kinds.contains(.magnetometer) }?.section.name)
        // A line for each degree of a turn would hide all others.
        configuration.handlers = [Self.handler("log", LogAction(), without: [.heading])]
        return configuration
    }

    /// A handler for everything but what repeats.
    static func handler(
        _ name: String, _ action: any HandlerAction, without omitted: Set<EventKind> = []
    ) -> HandlerSection {
        let omitted = EventKind.repeated.union(omitted)
        return HandlerSection(
            name: name, kinds: EventKind.allCases.filter { !omitted.contains($0) }, detectors: nil, action: action,
            decorators: [])
    }

    private func sensors(
        _ finder: DeviceFinder
    ) throws(StationError) -> [(section: SensorSection, kinds: [SampleKind])] {
        switch self {
        case .devices:
            let devices = try finder.list()
            // A device plays one sensor: one that measures both is one sensor with two kinds of samples.
            if devices.contains(where: { Set($0.kinds) == Set(SampleKind.allCases) }) {
                return [(SensorSection(name: "sensor", source: .auto(DeviceMatch())), SampleKind.allCases)]
            }
            return SampleKind.allCases.filter { kind in devices.contains { $0.kinds.contains(kind) } }.map { kind in
                (SensorSection(name: kind.rawValue, source: .auto(DeviceMatch())), [kind])
            }
        case .simulated(let settings):
            return [(SensorSection(name: "simulated", source: .simulated(settings)), SampleKind.allCases)]
        case .traces(let files, let loops):
            var found: [(section: SensorSection, kinds: [SampleKind])] = []
            for (number, file) in files.enumerated() {
                let section = SensorSection(name: "trace\(number + 1)", source: .trace(file: file, loops: loops))
                found.append((section, try Self.kinds(in: file)))
            }
            return found
        }
    }

    private static func kinds(in file: String) throws(StationError) -> [SampleKind] {
        do throws(TraceError) {
            return try TraceFile(path: file).contents.map(\.kind)
        } catch {
            throw StationError(error)
        }
    }

    private var missing: String {
        switch self {
        case .devices:
            """
            no configuration in \(Configuration.standardPath), and no accelerometer on this machine; \
            'binnacle doctor' says where it looked
            without hardware: 'binnacle run --simulate MODEL' makes samples up (\(models))
            with a recording: 'binnacle run --trace FILE' plays it in real time, again and again with --loop
            """
        case .simulated, .traces:
            "no accelerometer in the traces: both motion and heading need one; add its file"
        }
    }

    private var models: String { SimulationSettings.Model.allCases.map(\.rawValue).joined(separator: ", ") }
}

extension Configuration {
    /// A configuration with the detectors' defaults: movement, and a heading when there is a magnetometer.
    init(detecting sensors: [SensorSection], accelerometer: String, magnetometer: String?) {
        self.init()
        self.sensors = sensors
        motions = [MotionSection(name: "motion", accelerometer: accelerometer, settings: MotionSettings())]
        norths =
            magnetometer.map { magnetometer in
                [
                    NorthSection(
                        name: "north", accelerometer: accelerometer, magnetometer: magnetometer,
                        settings: NorthSettings())
                ]
            } ?? []
    }
}
