import Binnacle
import Configuration
import LinuxSensors
import PlainText
import Station

struct SensorSelection {
    /// The devices with the kinds of samples to record.
    let wanted: [WantedSensor]
    /// The files of the configuration, and those that it names.
    let inputs: [String]
    let notices: [String]

    /// The sensors of a configuration, each with the kinds that detectors need.
    ///
    /// A sensor without a detector is recorded with all kinds of its device, if it is connected.
    init(
        _ configuration: Configuration, path: String, wanted: [String], devices: [SensorDevice]
    ) throws(StationError) {
        var chosen: [WantedSensor] = []
        var notices: [String] = []
        for section in configuration.sensors where wanted.isEmpty || wanted.contains(section.name) {
            if case .trace(let file, _) = section.source {
                notices.append(
                    "sensor '\(section.name)' plays a recording already, which 'binnacle convert' copies: "
                        + "\(file.printable) left out")
                continue
            }
            guard let (interface, match) = section.source.device else {
                // A model has all kinds.
                let kinds = configuration.kinds(of: section.name)
                chosen.append(
                    WantedSensor(
                        section, kinds.isEmpty ? SampleKind.allCases : kinds,
                        optionalKinds: configuration.optionalKinds(of: section.name)))
                continue
            }
            var kinds = configuration.kinds(of: section.name)
            // Without a detector or a criterion, every device would match.
            let isChosen = !kinds.isEmpty || interface != nil || !match.isEmpty
            if kinds.isEmpty, isChosen {
                let device = DeviceKinship.preferred(devices.filter { match.accepts($0, as: interface, with: []) })
                kinds = device?.usableKinds(for: section.name, &notices) ?? []
            }
            guard !kinds.isEmpty else {
                notices.append(
                    "sensor '\(section.name)': no detector says what it is to measure, and "
                        + (isChosen ? "its device is not there: left out" : "any device would do: left out"))
                continue
            }
            let device = DeviceKinship.preferred(devices.filter { match.accepts($0, as: interface, with: kinds) })
            // Columns exist only for streams that will have samples.
            let optionalKinds = configuration.optionalKinds(of: section.name).filter { kind in
                guard let device else { return false }
                return device.kinds.contains(kind) || DeviceKinship.gyroscope(for: device, among: devices) != nil
            }
            chosen.append(WantedSensor(section, kinds, optionalKinds: optionalKinds))
        }
        let names = configuration.sensors.map(\.name)
        for name in wanted where !names.contains(name) {
            throw .usage("--sensor \(name): no such sensor in \(path) (\(Spelling.hint(for: name, among: names)))")
        }
        guard !chosen.isEmpty else {
            throw StationError(
                .configuration,
                "\(path.printable): no sensor to record: none is a device that a detector uses or that is there, and none is "
                    + "simulated" + notices.map { "\n" + $0 }.joined())
        }
        self.wanted = chosen
        self.notices = notices
        inputs = configuration.inputs
    }

    /// One sensor that plays a model.
    init(simulating model: SimulationSettings.Model) {
        wanted = [WantedSensor(SensorSection(simulating: model), SampleKind.allCases)]
        inputs = []
        notices = []
    }

    /// The connected devices, named after their drivers.
    init(_ devices: [SensorDevice], wanted: [String]) throws(StationError) {
        for name in wanted where !devices.contains(where: { $0.answers(to: name) }) {
            let found = devices.map { "'\($0.name.printable)'" }.joined(separator: ", ")
            throw .unavailable(
                "--sensor \(name): no such sensor; \(found.isEmpty ? "none is there" : "found are \(found)")")
        }
        let chosen = devices.filter { device in wanted.isEmpty || wanted.contains(where: device.answers) }
        guard !chosen.isEmpty else {
            throw .unavailable(
                "no accelerometer, magnetometer or gyroscope was found; 'binnacle doctor' says where it looked")
        }
        var names: [String] = []
        var notices: [String] = []
        self.wanted = chosen.map { device in
            var name = device.name
            var number = 2
            while names.contains(name) {
                name = "\(device.name)\(number)"
                number += 1
            }
            names.append(name)
            let kinds = device.usableKinds(for: name, &notices)
            return WantedSensor(SensorSection(device, name: name), kinds)
        }
        self.notices = notices
        inputs = []
    }
}

extension SensorSection {
    /// A sensor that plays a model.
    init(simulating model: SimulationSettings.Model) {
        var settings = SimulationSettings()
        settings.model = model
        settings.rateHz = model.rateHz
        self.init(name: "simulated", source: .simulated(settings))
    }
}

extension SensorDevice {
    /// The kinds that can be read, or all where none can, so that the reason is told at the opening; with a notice of those left out.
    fileprivate func usableKinds(for sensor: String, _ notices: inout [String]) -> [SampleKind] {
        let inspection = DeviceInspection(self)
        guard inspection.state == .ready, inspection.kinds.count < kinds.count else { return kinds }
        notices.append("sensor '\(sensor)': \(inspection.reason ?? "it cannot be read whole")")
        return inspection.kinds
    }

    func answers(to word: String) -> Bool {
        word == name || word == label || word == node || word == id || word == path
    }
}
