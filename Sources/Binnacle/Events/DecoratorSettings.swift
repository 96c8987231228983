/// A decorator as a value: what the configuration says, before an object is made of it.
public enum DecoratorSettings: Sendable, Equatable {
    /// Passes an event only when no event of its kind and detector came within the time before it.
    case debounce(Duration)
    /// Passes at most so many events in any minute of sample time.
    case rateLimit(perMinute: Int)
    /// Passes at most one event of a kind and detector in an interval, the latest one, and never loses the last.
    case pace(Duration)
    /// Holds events back between two local times of day, in minutes since midnight; the end is excluded, and a
    /// start after the end spans midnight.
    case quietHours(startMinute: Int, endMinute: Int)
    /// Turns begins of at least `count` distinct sensors within the window into one ``EventKind/quorumReached``.
    case quorum(count: Int, window: Duration)
    /// Joins the events of a kind and detector that come within the window into one, which says how many they were.
    case coalesce(Duration)
    /// Passes every n-th event of a kind and detector, which says how many there have been.
    case count(every: Int)
}
