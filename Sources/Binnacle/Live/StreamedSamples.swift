package import PlainText

/// Consecutive samples of one stream, as a program beside the pipeline gets them.
public struct StreamedSamples: Sendable, Equatable {
    /// What they are known by.
    package let origin: SampleOrigin
    /// The number of samples of this stream that came before ``samples`` and were dropped, because they were not read in time.
    public package(set) var lostCount: Int
    /// The samples in the order of their stamps, in ``unit``.
    public package(set) var samples: [Sample]

    package init(_ origin: SampleOrigin, lostCount: Int = 0, samples: [Sample] = []) {
        self.origin = origin
        self.lostCount = lostCount
        self.samples = samples
    }

    /// The sensor's name.
    public var sensor: String { origin.sensor }
    /// What the samples measure.
    public var kind: SampleKind { origin.kind }
    /// Whether the sensor's calibration is left out; scale, offset and mount matrix are always applied.
    public var isRaw: Bool { origin.isRaw }
    /// Whether no device measures the samples.
    public var isSimulated: Bool { origin.isSimulated }
    /// The unit of the axes: m/s², µT or rad/s.
    public var unit: String {
        switch kind {
        case .accelerometer: "m/s²"
        case .magnetometer: "µT"
        case .gyroscope: "rad/s"
        }
    }

    /// The only frame that samples have: x to the right, y to the top, z out of the screen, as ``Sample`` says.
    private static let frame = "device"
}

extension StreamedSamples {
    /// The batch as a JSON object on one line, with a column for the stamps and each axis.
    ///
    /// An axis has as many digits as tell its value from its neighbours, and null where it is no finite number.
    package var json: String {
        var object = JSONObject()
        object.add("sensor", sensor)
        object.add("kind", kind.rawValue)
        object.add("unit", unit)
        object.add("frame", Self.frame)
        object.add("raw", raw: String(isRaw))
        if isSimulated { object.add("simulated", raw: "true") }
        object.add("lost", raw: String(lostCount))
        object.add("time_ns", raw: column { String($0.timeNanoseconds) })
        object.add("x", raw: column { Self.text($0.x) })
        object.add("y", raw: column { Self.text($0.y) })
        object.add("z", raw: column { Self.text($0.z) })
        return object.text
    }

    private static func text(_ value: Float) -> String { value.isFinite ? value.description : "null" }

    /// One array for all samples; joining texts would make an object of each.
    private func column(_ text: (Sample) -> String) -> String {
        var bytes = [UInt8(ascii: "[")]
        bytes.reserveCapacity(16 * samples.count)
        for (index, sample) in samples.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += text(sample).utf8
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The batch that an object describes; `nil` when a key is missing or of the wrong type, or the columns differ in length.
    ///
    /// Keys that this version does not know are passed over.
    package init?(_ object: JSONValue) {
        guard let sensor = object["sensor"]?.text, let kind = object["kind"]?.text.flatMap(SampleKind.init(rawValue:)),
            case .boolean(let isRaw)? = object["raw"], let lostCount = object["lost"]?.count,
            let times = object["time_ns"]?.elements(\.integer), let x = object["x"]?.elements(Self.axis),
            let y = object["y"]?.elements(Self.axis), let z = object["z"]?.elements(Self.axis),
            Set([times.count, x.count, y.count, z.count]).count == 1
        else { return nil }
        let isSimulated = object["simulated"] == .boolean(true)
        self.init(SampleOrigin(sensor: sensor, kind: kind, isSimulated: isSimulated).raw(isRaw), lostCount: lostCount)
        samples = times.indices.map { Sample(timeNanoseconds: times[$0], x: x[$0], y: y[$0], z: z[$0]) }
    }

    private static func axis(_ value: JSONValue) -> Float? { value == .null ? .nan : value.float }
}
