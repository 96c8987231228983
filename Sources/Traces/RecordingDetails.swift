/// What a recording holds beyond its samples; an Arrow stream has room for it, and CSV has not.
public struct RecordingDetails: Sendable {
    /// The clock of the stamps, such as `monotonic`, where it is known.
    public var clock: String?
    /// For each stream's index the identity of its device, where it is known; may be shorter.
    public var devices: [String?] = []
    /// Whether the raw scans behind the samples are kept, byte by byte.
    public var keepsScans = false

    /// Nothing beyond the samples.
    public init() {}
}
