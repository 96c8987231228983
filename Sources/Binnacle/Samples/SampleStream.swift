/// What a stream is known by, in every pipeline that its sensor is part of, for as long as the process runs.
public struct StreamID: Hashable, Sendable {
    let sensor: UInt64
    let kind: SampleKind
}

/// The samples of one kind from one sensor.
///
/// Streams have an order in a pipeline, which is that of its source's ``SampleSource/streams``: of two samples with the
/// same stamp, the one of the earlier stream comes first.
public struct SampleStream {
    /// What the stream is known by.
    public let id: StreamID
    /// The device the samples come from.
    public let sensor: Sensor
    /// What the samples measure.
    public let kind: SampleKind
    /// Whether the sensor may lack it, as a gyroscope that a detector would use and does not need.
    ///
    /// Such a stream may never have a sample. Whether the sensor is active depends on the others.
    package let isOptional: Bool

    /// Creates a description of a stream.
    public init(sensor: Sensor, kind: SampleKind) {
        self.init(sensor: sensor, kind: kind, isOptional: false)
    }

    /// Creates a description of a stream, which the sensor may lack.
    package init(sensor: Sensor, kind: SampleKind, isOptional: Bool) {
        id = sensor.streamID(of: kind)
        self.sensor = sensor
        self.kind = kind
        self.isOptional = isOptional
    }

    /// Puts the streams of a pipeline in their order.
    ///
    /// Magnetometers come before accelerometers, so that a pair with one common stamp is a pair: the heading is
    /// decided at the accelerometer's sample, with the latest magnetometer sample that has come by then. Gyroscopes come
    /// before both, so that a turn is known up to the stamp at which the others are used. Within a kind the given order
    /// stays.
    package static func ordered(_ streams: [SampleStream]) -> [SampleStream] {
        [SampleKind.gyroscope, .magnetometer, .accelerometer].flatMap { kind in streams.filter { $0.kind == kind } }
    }

    /// Creates the streams of a pipeline in their order.
    package static func ordered(_ streams: [(sensor: Sensor, kind: SampleKind)]) -> [SampleStream] {
        ordered(streams.map { SampleStream(sensor: $0.sensor, kind: $0.kind) })
    }
}

/// Where a sample stands among all samples of one delivery; orders them as they would come one by one.
package struct SamplePosition: Comparable, Sendable {
    /// The sample's stamp.
    package let timeNanoseconds: Int64
    /// The place of its stream in the delivery.
    package let streamIndex: Int
    /// Its place in the stream's batch.
    package let sampleIndex: Int

    package init(timeNanoseconds: Int64, streamIndex: Int, sampleIndex: Int) {
        self.timeNanoseconds = timeNanoseconds
        self.streamIndex = streamIndex
        self.sampleIndex = sampleIndex
    }

    /// Whether one sample comes before another: by stamp, then by stream, then by its place in the batch.
    package static func < (left: SamplePosition, right: SamplePosition) -> Bool {
        (left.timeNanoseconds, left.streamIndex, left.sampleIndex)
            < (right.timeNanoseconds, right.streamIndex, right.sampleIndex)
    }
}
