/// Events that a subscriber did not get, and the reason.
public struct MissedEvents: Sendable, Equatable {
    /// The number of events; `nil` when it is unknown.
    public var count: UInt64?
    /// The number of the first one, or a lower number; `nil` when it is unknown.
    public var first: UInt64?
    /// The number of the last one, or a higher number; `nil` when it is unknown.
    public var last: UInt64?
    /// The reason, as text.
    public var reason: String

    package init(count: UInt64? = nil, first: UInt64? = nil, last: UInt64? = nil, reason: String) {
        self.count = count
        self.first = first
        self.last = last
        self.reason = reason
    }
}
