public import Binnacle

/// A source that plays a script: samples in their order of arrival, losses, failures, and moments without samples.
///
/// As with any source, a delivery ends where the script's order steps back in time, where a batch is full, and at each step that
/// is not a sample. A test may therefore request deliveries of any size.
public final class ScriptedSource: SampleSource {
    /// A step of the script.
    public enum Step {
        /// A sample of the stream with this index.
        case sample(Sample, stream: Int = 0)
        /// Samples are lost; the loss is delivered with the samples that follow.
        case loss(SampleLoss)
        /// The streams with these indices fail; without any, all of them.
        case failure(any Error, streams: [Int] = [])
        /// There is nothing yet, for one request.
        case pending
    }

    /// The streams, in order.
    public let streams: [SampleStream]
    /// How often the source was asked.
    package private(set) var requestCount = 0

    private var steps: ArraySlice<Step>
    private var failures: [Int: (streams: Set<StreamID>, until: Int64, reason: any Error)] = [:]

    /// Creates a source of several streams.
    ///
    /// - Precondition: The steps name streams by their indices in `streams`.
    public init(streams: [SampleStream], steps: [Step]) {
        self.streams = streams
        self.steps = steps[...]
    }

    /// Creates a source of several streams.
    ///
    /// - Parameters:
    ///   - streams: The streams, in order.
    ///   - samples: The samples in their order of arrival, each with the index of its stream.
    /// - Precondition: The indices are those of `streams`.
    public convenience init(streams: [SampleStream], samples: [(stream: Int, sample: Sample)]) {
        self.init(streams: streams, steps: samples.map { .sample($0.sample, stream: $0.stream) })
    }

    /// Creates a source with one stream.
    ///
    /// - Parameters:
    ///   - kind: The kind of the samples.
    ///   - sensor: The sensor's name.
    ///   - samples: The samples in their order of arrival.
    public convenience init(_ kind: SampleKind = .accelerometer, sensor: String = "scripted", samples: [Sample]) {
        self.init(
            streams: [SampleStream(sensor: Sensor(name: sensor), kind: kind)], steps: samples.map { .sample($0) })
    }

    /// Creates a source with one stream, whose samples are a function of time.
    ///
    /// - Parameters:
    ///   - kind: The kind of the samples.
    ///   - sensor: The sensor's name.
    ///   - rateHz: The sampling rate.
    ///   - duration: The duration of the samples.
    ///   - value: The three axes at a time in seconds, in m/s², µT or rad/s.
    /// - Precondition: `rateHz` is above 0 and finite, and `duration` is not negative.
    public convenience init(
        _ kind: SampleKind = .accelerometer, sensor: String = "scripted", rateHz: Double = 100, duration: Duration,
        value: (_ seconds: Double) -> SIMD3<Float>
    ) {
        let count = Int((duration / .seconds(1) * rateHz).rounded(.up))
        let samples = (0..<count).map { index in
            let time = Int64((Double(index) / rateHz * 1e9).rounded())
            let axes = value(Double(index) / rateHz)
            return Sample(timeNanoseconds: time, x: axes.x, y: axes.y, z: axes.z)
        }
        self.init(kind, sensor: sensor, samples: samples)
    }

    /// Fails streams at a request, in place of an answer, and loses their samples for a time.
    ///
    /// - Parameters:
    ///   - streams: The streams that fail.
    ///   - request: The number of the request, from 1.
    ///   - end: The stamp of their first sample after the failure; `nil` for none.
    ///   - error: The reason.
    package func fail(
        _ streams: [SampleStream], atRequest request: Int, until end: Int64 = .max, with error: any Error
    ) {
        failures[request] = (Set(streams.map(\.id)), end, error)
    }

    /// Delivers the next samples of the script.
    public func fill(_ delivery: SampleDelivery) -> SampleAnswer {
        requestCount += 1
        if let failure = failures[requestCount] {
            steps =
                steps.filter { step in
                    guard case .sample(let sample, let stream) = step else { return true }
                    return !failure.streams.contains(streams[stream].id) || sample.timeNanoseconds >= failure.until
                }[...]
            return .failed(streams.filter { failure.streams.contains($0.id) }, reason: failure.reason)
        }
        var last = (time: Int64.min, stream: -1)
        while let step = steps.first {
            switch step {
            case .sample(let sample, let stream):
                guard (sample.timeNanoseconds, stream) >= last else { return .samples }
                last = (sample.timeNanoseconds, stream)
                // A delivery without a place for the stream does not need it.
                if let batch = delivery[streams[stream].id] {
                    guard !batch.isFull else { return .samples }
                    batch.append(sample)
                }
            case .loss(let loss):
                guard delivery.isEmpty else { return .samples }
                delivery.append(loss)
            case .failure(let reason, let indices):
                guard delivery.isEmpty, delivery.losses.isEmpty else { return .samples }
                steps.removeFirst()
                return .failed(indices.isEmpty ? streams : indices.map { streams[$0] }, reason: reason)
            case .pending:
                guard delivery.isEmpty, delivery.losses.isEmpty else { return .samples }
                steps.removeFirst()
                return .pending
            }
            steps.removeFirst()
        }
        return delivery.isEmpty && delivery.losses.isEmpty ? .ended : .samples
    }
}
