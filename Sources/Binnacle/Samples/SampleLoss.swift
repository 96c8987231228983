/// Samples that a device should have delivered and that will never come, as its source knows it.
public struct SampleLoss: Sendable, Equatable {
    /// Why they are lost; the raw value stands in events.
    public enum Cause: String, FigureWord, CaseIterable {
        /// The kernel's buffer was full, or a trigger was missed: stamps are further apart than the rate allows.
        case overrun
        /// The device said nothing although it should have.
        case stall
        /// A reading failed.
        case readError = "read_error"
        /// The machine was suspended.
        case suspend
        /// The device was at rest with its samples off when movement began.
        case wake
        /// The device's clock stepped back.
        case clock

        /// Whether it may recur at every few samples; between two of the others is a remedy, a rest or a limit.
        var mayRecur: Bool { self == .overrun || self == .readError }
    }

    /// The stream that they are missing from.
    package let stream: StreamID
    /// Why they are lost.
    package let cause: Cause
    /// How many are lost, estimated from the rate; `nil` when there is no telling.
    package internal(set) var count: Int?
    /// How long the stream had no sample, in seconds; `nil` when there is no telling.
    package let durationSeconds: Double?
    /// What happened in words, and what was done about it.
    package internal(set) var detail: String
    /// The stamp of the sample that showed the loss, in nanoseconds; `nil` when none has come since.
    package let timeNanoseconds: Int64?

    /// Creates a description of a loss.
    ///
    /// - Parameters:
    ///   - stream: The stream that samples are missing from.
    ///   - cause: Why they are lost.
    ///   - count: How many are lost, estimated from the rate; `nil` when there is no telling.
    ///   - duration: How long the stream had no sample; `nil` when there is no telling.
    ///   - detail: What happened in words, and what was done about it.
    ///   - timeNanoseconds: The stamp of the sample that showed the loss; `nil` when none has come since.
    public init(
        stream: StreamID, cause: Cause, count: Int? = nil, duration: Duration? = nil, detail: String,
        timeNanoseconds: Int64? = nil
    ) {
        self.init(
            stream: stream, cause: cause, count: count, durationSeconds: duration.map(Units.seconds), detail: detail,
            timeNanoseconds: timeNanoseconds)
    }

    /// Creates a description of a loss, whose length was measured in seconds.
    package init(
        stream: StreamID, cause: Cause, count: Int? = nil, durationSeconds: Double?, detail: String,
        timeNanoseconds: Int64? = nil
    ) {
        self.stream = stream
        self.cause = cause
        self.count = count
        self.durationSeconds = durationSeconds
        self.detail = detail
        self.timeNanoseconds = timeNanoseconds
    }
}

extension SampleLoss {
    /// What an event says of it, with what the samples measure.
    func finding(of kind: SampleKind) -> Finding {
        Finding(
            .samplesLost, at: timeNanoseconds ?? 0,
            [
                .channel: .word(kind), .cause: .word(cause), .count: count.map { Figure.Value.integer(Int64($0)) },
                .reason: .text(detail),
            ], numbers: [.gap: durationSeconds])
    }
}
