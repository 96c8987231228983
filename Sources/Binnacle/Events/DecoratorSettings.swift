import PlainText
import PosixCalls

/// A decorator as a value: what the configuration says, before an object is made of it.
///
/// Where a decorator goes by kind and detector, an event without a detector counts by kind and sensor or handler.
public enum DecoratorSettings: Sendable, Equatable {
    /// Passes an event only when no event of its kind and detector came within the time before it.
    case debounce(Duration)
    /// Passes the begin of a state once it has lasted longer than the time, and drops begin and end of a shorter one.
    case minimumDuration(Duration)
    /// Passes at most so many events in any minute of sample time.
    case rateLimit(perMinute: Int)
    /// Passes at most one event of a kind and detector in an interval, the latest one, and never loses the last.
    case pace(Duration)
    /// Drops events between two local times of day, in minutes since midnight; the end is excluded, and a start after the end
    /// spans midnight. The time is the event's own; one without a wall time, as in a replay, passes. In a session the time
    /// is that at which an event is handled.
    case quietHours(startMinute: Int, endMinute: Int)
    /// Turns begins of at least `count` distinct sensors within the window into one ``EventKind/quorumReached``.
    case quorum(count: Int, window: Duration)
    /// Joins the events of a kind and detector that come within the window into one, which says how many they were.
    case coalesce(Duration)
    /// Passes every n-th event of a kind and detector, which says how many there have been.
    case count(every: Int)
}

extension DecoratorSettings {
    /// What decorators need to know of the world.
    package struct Context {
        /// The local time of day at an event, in minutes since midnight; `nil` for an event without a wall time.
        package var minuteOfDay: (Event) -> Int?
        /// The names of the sensors that are active now.
        package var activeSensors: () -> Set<String>

        package init(minuteOfDay: @escaping (Event) -> Int?, activeSensors: @escaping () -> Set<String>) {
            self.minuteOfDay = minuteOfDay
            self.activeSensors = activeSensors
        }

        /// Creates the context of a router: the machine's time zone, and the router's sensors.
        ///
        /// An event without a wall time has none, or with `isNow` that of the moment.
        package init(_ router: Router, isNow: Bool = false) {
            self.init(
                minuteOfDay: {
                    ($0.wallNanoseconds ?? (isNow ? SystemClock.realtime() : nil)).map(LocalTime.minuteOfDay)
                },
                activeSensors: { [unowned router] in Set(router.activeSensors.map(\.name)) })
        }
    }

    /// The numbers of events that a decorator may be given: a limit of the rate keeps as many stamps.
    package static let counts = 1...1_000_000

    /// Throws what cannot work.
    func check() throws {
        if let problem { throw SetupProblem("\(self): \(problem)") }
    }

    private var problem: String? {
        switch self {
        case .debounce(let time), .minimumDuration(let time), .pace(let time), .coalesce(let time):
            return Self.problem(of: time)
        case .rateLimit(let count), .count(let count):
            return Self.problem(of: count)
        case .quorum(let count, let window):
            return Self.problem(of: count) ?? Self.problem(of: window)
        case .quietHours(let start, let end):
            guard [start, end].allSatisfy({ (0..<1440).contains($0) }) else {
                return "minutes of a day are from 0 to 1439"
            }
            // Equal times could mean never or always.
            return start == end ? "start and end are the same; leave the decorator out for no quiet hours" : nil
        }
    }

    private static func problem(of time: Duration) -> String? {
        time > .zero ? nil : "the time has to be longer than 0 s"
    }

    private static func problem(of count: Int) -> String? {
        counts.contains(count) ? nil : "the number has to be from \(counts.lowerBound) to \(counts.upperBound)"
    }

    /// Makes the decorator that the settings describe.
    ///
    /// - Precondition: They were read from a configuration, or checked.
    package func makeDecorator(in context: Context) -> EventDecorator {
        switch self {
        case .debounce(let time): DebounceDecorator(time: time)
        case .minimumDuration(let time): MinimumDurationDecorator(time: time)
        case .rateLimit(let perMinute): RateLimitDecorator(perMinute: perMinute)
        case .pace(let interval): PaceDecorator(interval: interval)
        case .quietHours(let start, let end):
            QuietHoursDecorator(startMinute: start, endMinute: end, clock: context.minuteOfDay)
        case .quorum(let count, let window):
            QuorumDecorator(count: count, window: window, activeSensors: context.activeSensors)
        case .coalesce(let window): CoalesceDecorator(window: window)
        case .count(let every): CountDecorator(every: every)
        }
    }
}
