import Binnacle
import PlainText
import Station
import VirtualDevices

/// The samples of virtual devices, and the streams to play.
struct SimulationInput {
    let source: PacedSource
    /// At most one of each kind.
    let streams: [SampleStream]
    private(set) var notices: [String] = []

    private static let sensorName = "simulated"

    /// Creates the model or opens the traces; an interruption ends waiting for a pipe.
    init(_ options: SimulateOptions, interruption: Interruption) throws(StationError) {
        // The input layer has no magnetometers.
        var kinds: [SampleKind] = options.file == .uhid ? [.magnetometer, .accelerometer] : [.accelerometer]
        switch options.samples {
        case .model(let settings):
            if options.hasGyroscope { kinds.insert(.gyroscope, at: 0) }
            let sensor = Sensor(name: Self.sensorName)
            let model = SimulatedSource([(sensor, kinds, settings)], startNanoseconds: 0, clock: nil)
            source = PacedSource(model)
            streams = source.streams
        case .traces(let set, let speed, let loops):
            kinds.insert(.gyroscope, at: 0)
            let open = { () throws(StationError) in try Assembly(playing: set, interruption: interruption) }
            let assembly = try open()
            notices = assembly.notices
            guard let traces = assembly.traces else { preconditionFailure("recordings are played as such") }
            source = PacedSource(
                traces, speed: speed, reopen: { () throws(StationError) in loops ? try open().traces : nil })
            streams = try Self.choose(from: source.streams, kinds, options)
            for stream in source.streams where !streams.contains(where: { $0.id == stream.id }) {
                notices.append("the \(stream.kind.rawValue) of '\(stream.sensor.name.printable)' is not played")
            }
        }
    }

    private static func choose(
        from all: [SampleStream], _ kinds: [SampleKind], _ options: SimulateOptions
    ) throws(StationError) -> [SampleStream] {
        for name in options.sensors where !all.contains(where: { $0.sensor.name == name }) {
            let names = Set(all.map(\.sensor.name)).sorted()
            throw .usage(
                "--sensor \(name.printable): no such sensor in the traces (\(Spelling.hint(for: name, among: names)))")
        }
        let wanted = all.filter { options.sensors.isEmpty || options.sensors.contains($0.sensor.name) }
        let chosen = kinds.compactMap { kind in wanted.first { $0.kind == kind } }
        guard options.file == .uhid ? !chosen.isEmpty : chosen.contains(where: { $0.kind == .accelerometer }) else {
            let found = Spelling.list(wanted.map { "the \($0.kind.rawValue) of '\($0.sensor.name.printable)'" })
            throw .usage(
                options.file == .uhid
                    ? "the traces have nothing to play"
                    : "--as evdev: the input layer has no gyroscope or magnetometer without an accelerometer, and the traces have "
                        + found)
        }
        return chosen
    }
}
