extension DecoratorSettings {
    /// What decorators need to know of the world.
    public struct Context {
        /// The local time of day at an event, in minutes since midnight.
        public var minuteOfDay: (Event) -> Int
        /// The names of the sensors that are active now.
        public var activeSensors: () -> Set<String>

        /// Creates a context.
        public init(minuteOfDay: @escaping (Event) -> Int, activeSensors: @escaping () -> Set<String>) {
            self.minuteOfDay = minuteOfDay
            self.activeSensors = activeSensors
        }
    }

    /// Makes the decorator that the settings describe.
    public func makeDecorator(in context: Context) -> EventDecorator {
        switch self {
        case .debounce(let time):
            DebounceDecorator(time: time)
        case .rateLimit(let perMinute):
            RateLimitDecorator(perMinute: perMinute)
        case .quietHours(let start, let end):
            QuietHoursDecorator(startMinute: start, endMinute: end, clock: context.minuteOfDay)
        case .quorum(let count, let window):
            QuorumDecorator(count: count, window: window, activeSensors: context.activeSensors)
        case .coalesce(let window):
            CoalesceDecorator(window: window)
        case .count(let every):
            CountDecorator(every: every)
        }
    }
}
