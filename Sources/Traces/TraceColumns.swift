import Binnacle

/// Where each stream of a pipeline stands in the rows of a recording.
///
/// A reader puts magnetometers before accelerometers and otherwise keeps the order of the columns. The columns stand in
/// that order already, so that a row's samples are read back from left to right.
struct TraceColumns {
    /// For each stream the number of its three columns, from 0.
    let places: [Int]
    /// What each place holds: a sensor, by a name that a reader finds again, and what it measures.
    let contents: [(sensor: String, kind: SampleKind)]
    /// The first line of CSV, without its end.
    let header: String

    /// - Parameter streams: In the order of the deliveries, each once.
    init(_ streams: [SampleStream]) {
        let ordered = SampleStream.ordered(streams.map { (sensor: $0.sensor, kind: $0.kind) })
        places = streams.enumerated().map { index, stream in ordered.firstIndex { $0.id == stream.id } ?? index }
        var sensors: [Sensor] = []
        var names: [(name: String, fallback: String)] = []
        for stream in ordered where !sensors.contains(where: { $0 === stream.sensor }) {
            sensors.append(stream.sensor)
            names.append((stream.sensor.name, stream.kind.rawValue))
        }
        let unique = SensorName.unique(names)
        contents = ordered.map { stream in
            (zip(sensors, unique).first { $0.0 === stream.sensor }?.1 ?? "", stream.kind)
        }
        header = contents.reduce(into: "time_ns") { header, content in
            let (letter, unit) = content.kind == .accelerometer ? ("a", "m_s2") : ("m", "uT")
            for axis in ["x", "y", "z"] { header += ",\(content.sensor).\(letter)\(axis)_\(unit)" }
        }
    }
}
