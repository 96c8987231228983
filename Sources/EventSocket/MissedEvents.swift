/// Events that a subscriber was not given, and why.
public struct MissedEvents: Sendable, Equatable {
    /// How many there were; `nil` when nobody can know.
    public var count: UInt64?
    /// The number of the first one, or a number before it; `nil` when nobody can know.
    public var first: UInt64?
    /// The number of the last one, or a number behind it; `nil` when nobody can know.
    public var last: UInt64?
    /// Why, in words.
    public var reason: String

    /// Creates a notice.
    package init(count: UInt64? = nil, first: UInt64? = nil, last: UInt64? = nil, reason: String) {
        self.count = count
        self.first = first
        self.last = last
        self.reason = reason
    }
}
