package import Binnacle
import LinuxSensors
package import LinuxSystem
import PlainText
package import Station

/// `binnacle doctor --measure`: reads sensors at rest for a time, and judges what they delivered.
package final class SensorMeasurement {
    private let source: StationSource
    private let devices: [String: SensorDevice]
    private var measured: [MeasuredStream]
    private let duration: Duration
    private let errors: LineWriter

    /// Opens the devices that a name, label, node or identity chooses, by default all; a model has no device.
    package init(
        sensor: String?, root: String?, simulating model: SimulationSettings.Model?, for duration: Duration,
        errors: LineWriter
    ) throws(StationError) {
        self.duration = duration
        self.errors = errors
        let finder = DeviceFinder(under: root)
        let found = model == nil ? try finder.list() : []
        let selection =
            if let model { SensorSelection(simulating: model) } else {
                try SensorSelection(found, wanted: sensor.map { [$0] } ?? [])
            }
        for notice in selection.notices { errors.write("binnacle: \(notice.printable)") }
        let assembly = try Assembly(selection.wanted)
        source = try assembly.makeSource(finder: finder)
        var devices: [String: SensorDevice] = [:]
        for request in assembly.requests {
            devices[request.sensor.name] = found.first { $0.id == request.id }
        }
        self.devices = devices
        let inspections = devices.mapValues(DeviceInspection.init)
        measured = source.streams.map { stream in
            let name = stream.sensor.name
            var claims = MeasuredStream.Claims()
            if let device = devices[name] {
                let inspection = inspections[name]
                claims.rateHz =
                    inspection?.mode == .poll ? inspection?.fastestHz(with: SensorSettings()) : inspection?.rateHz
                claims.range = stream.kind == .accelerometer ? device.accelerationRange : nil
                claims.noiseDensity = MeasuredStream.claimedNoise(device.name, stream.kind)
            }
            return MeasuredStream(sensor: name, kind: stream.kind, claims: claims)
        }
    }

    /// The descriptor to which a signal handler writes to end a wait.
    package var wakeDescriptor: Int32 { source.wakeDescriptor }

    /// Reads until the time is over; what was read until Ctrl-C is judged as well.
    package func run(
        _ indicator: ProgressIndicator, interruption: Interruption
    ) throws(StationError) -> (lines: [String], json: String, passes: Bool) {
        let settings = SampleLoop.Settings(
            duration: duration, start: .settled, interruption: interruption, errors: errors)
        let session = SampleLoop(source, capacity: 1024, settings: settings, indicator: indicator) { [self] delivery in
            for (index, stream) in source.streams.enumerated() {
                guard let batch = delivery[stream.id] else { continue }
                for place in 0..<batch.count { measured[index].add(batch[place]) }
            }
            for loss in delivery.losses {
                guard let index = source.streams.firstIndex(where: { $0.id == loss.stream }) else { continue }
                measured[index].lose(loss.count ?? 1)
            }
        }
        session.delegate = self
        let before = devices.compactMapValues(\.temperatureCelsius)
        session.run()
        let after = devices.compactMapValues(\.temperatureCelsius)
        source.stop()
        if let failure = session.failures.first { throw failure }
        let results = measured.map { $0.result() }
        var object = JSONObject()
        object.add("version", Version.current)
        object.add("streams", list: results.map(\.json))
        var lines = results.flatMap(\.lines)
        var temperatures = JSONObject()
        for (name, celsius) in after.sorted(by: { $0.key < $1.key }) {
            let texts = [before[name] ?? celsius, celsius].map { $0.text(1) }
            temperatures.add(name: name, raw: "[\(texts.joined(separator: ","))]")
            lines.append("\(name.printable): \(texts[0]) °C at the begin, \(texts[1]) °C at the end")
        }
        object.add("temperatures_C", raw: temperatures.text)
        return (lines, object.text, results.allSatisfy(\.passes))
    }
}

extension SensorMeasurement: SampleLoopDelegate {
    package func sessionWillWait(_ session: SampleLoop) {
        session.flush(errors)
        guard let begin = session.beginNanoseconds else { return }
        session.showProgress(Double(SystemClock.monotonic() - begin) / Double(max(1, Units.nanoseconds(duration))))
    }
}
