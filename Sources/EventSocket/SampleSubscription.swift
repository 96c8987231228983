public import Binnacle

/// The samples of a running daemon's sensors, from its socket, as an asynchronous sequence.
///
///     for try await batch in SampleSubscription(sensors: ["lid"], kinds: [.accelerometer]) {
///         if batch.lostCount > 0 { print("lost", batch.lostCount) }
///         for sample in batch.samples { print(sample.timeNanoseconds, sample.x, sample.y, sample.z) }
///     }
///
/// Each element has consecutive samples of one stream. The stamps are those of the daemon: of CLOCK_MONOTONIC, for a device. A loop that
/// is slower than the sensors gets the newest samples, and with them the number of those that it lost; it delays neither the
/// daemon nor other clients. Each iterator has its own connection and thread. A cancelled task ends the sequence.
public struct SampleSubscription: AsyncSequence, Sendable {
    /// The socket's path.
    package var path: String
    /// The names of the sensors; `nil` is all.
    ///
    /// One that the daemon does not have is an error, which names those that it has.
    package var sensors: Set<String>?
    /// What the samples measure; `nil` is all kinds.
    package var kinds: Set<SampleKind>?
    /// Whether the calibrations of the sensors are left out.
    public var isRaw = false
    /// How long samples are collected for one element, up to a second; zero passes on what the daemon reads at once.
    public var interval: Duration = .zero
    /// Whether to wait for a daemon that does not answer; otherwise that is an error.
    ///
    /// Samples of the meantime are gone.
    package var reconnects: Bool

    /// Creates a subscription; the first iteration connects.
    ///
    /// - Parameters:
    ///   - path: The socket's path; the default is that of the machine's daemon.
    ///   - sensors: The names of the sensors; `nil` is all.
    ///   - kinds: What the samples measure; `nil` is all kinds.
    ///   - reconnects: Whether to wait for a daemon that does not answer.
    public init(
        path: String? = nil, sensors: Set<String>? = nil, kinds: Set<SampleKind>? = nil, reconnects: Bool = false
    ) {
        self.path = path ?? SocketPath.forClient()
        self.sensors = sensors
        self.kinds = kinds
        self.reconnects = reconnects
    }

    /// Makes an iterator, which connects at the first call.
    public func makeAsyncIterator() -> SubscriptionIterator<StreamedSamples> {
        var samples = SamplesRequest(sensors: sensors, kinds: kinds)
        samples.isRaw = isRaw
        samples.intervalNanoseconds = Units.nanoseconds(interval)
        return SubscriptionIterator(
            SubscriptionThread(SubscriptionRequest(samples: samples), path: path, reconnects: reconnects) { message in
                if case .samples(let samples) = message { samples } else { nil }
            })
    }
}
