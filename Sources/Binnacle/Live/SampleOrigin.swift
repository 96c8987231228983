/// What samples are known by outside a pipeline, where a stream's objects may be replaced by a reload.
package struct SampleOrigin: Hashable, Sendable {
    /// The sensor's name.
    package let sensor: String
    package let kind: SampleKind
    /// Whether no device measures them.
    package let isSimulated: Bool
    /// Whether the sensor's calibration is left out.
    package var isRaw = false

    /// Describes the corrected samples of a stream.
    package init(_ stream: SampleStream) {
        self.init(sensor: stream.sensor.name, kind: stream.kind, isSimulated: stream.sensor.isSimulated)
    }

    /// Describes corrected samples.
    package init(sensor: String, kind: SampleKind, isSimulated: Bool = false) {
        self.sensor = sensor
        self.kind = kind
        self.isSimulated = isSimulated
    }

    /// The same stream, with or without its sensor's calibration.
    package func raw(_ isRaw: Bool) -> SampleOrigin {
        var origin = self
        origin.isRaw = isRaw
        return origin
    }

    /// What there is, for messages: each sensor with what it measures.
    package static func text(of origins: [SampleOrigin]) -> String {
        var sensors: [(name: String, kinds: [String])] = []
        for origin in origins {
            let place = sensors.firstIndex { $0.name == origin.sensor } ?? sensors.endIndex
            if place == sensors.endIndex { sensors.append((origin.sensor, [])) }
            sensors[place].kinds.append(origin.kind.rawValue)
        }
        guard !sensors.isEmpty else { return "there is no sensor" }
        return "there are " + sensors.map { "\($0.name) (\($0.kinds.joined(separator: ", ")))" }.joined(separator: ", ")
    }
}
