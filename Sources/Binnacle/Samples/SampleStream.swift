/// The samples of one kind from one sensor, and the stream's place among all streams of a pipeline.
public struct SampleStream {
    /// The place in every ``SampleDelivery`` of the pipeline.
    ///
    /// Of two samples with the same stamp, the one of the lower index comes first.
    public let index: Int
    /// The device the samples come from.
    public let sensor: Sensor
    /// What the samples measure.
    public let kind: SampleKind

    /// Creates a description of a stream.
    public init(index: Int, sensor: Sensor, kind: SampleKind) {
        self.index = index
        self.sensor = sensor
        self.kind = kind
    }

    /// Whether another stream is of the same kind and from the same sensor, wherever it stands.
    package func isSame(as other: SampleStream) -> Bool {
        sensor === other.sensor && kind == other.kind
    }

    /// The same stream at its place among others; at its old one when it is not among them.
    func moved(to streams: [SampleStream]) -> SampleStream {
        streams.first(where: isSame) ?? self
    }

    /// Puts the streams of a pipeline in their order.
    ///
    /// Magnetometers come before accelerometers, so that a pair with one common stamp is a pair: the heading is
    /// decided at the accelerometer's sample, with the latest magnetometer sample that has come by then. Within a
    /// kind the given order stays.
    public static func ordered(_ streams: [(sensor: Sensor, kind: SampleKind)]) -> [SampleStream] {
        let sorted = streams.filter { $0.kind == .magnetometer } + streams.filter { $0.kind == .accelerometer }
        return sorted.enumerated().map {
            SampleStream(index: $0.offset, sensor: $0.element.sensor, kind: $0.element.kind)
        }
    }
}

/// Where a sample stands among all samples of one delivery; orders them as they would come one by one.
public struct SamplePosition: Comparable, Sendable {
    /// The sample's stamp.
    public let timeNanoseconds: Int64
    /// The index of its stream.
    public let streamIndex: Int
    /// Its place in the stream's batch.
    public let sampleIndex: Int

    /// Creates a position.
    public init(timeNanoseconds: Int64, streamIndex: Int, sampleIndex: Int) {
        self.timeNanoseconds = timeNanoseconds
        self.streamIndex = streamIndex
        self.sampleIndex = sampleIndex
    }

    /// Whether one sample comes before another: by stamp, then by stream, then by its place in the batch.
    public static func < (left: SamplePosition, right: SamplePosition) -> Bool {
        if left.timeNanoseconds != right.timeNanoseconds { return left.timeNanoseconds < right.timeNanoseconds }
        if left.streamIndex != right.streamIndex { return left.streamIndex < right.streamIndex }
        return left.sampleIndex < right.sampleIndex
    }
}
