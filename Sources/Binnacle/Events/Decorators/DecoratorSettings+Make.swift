extension DecoratorSettings {
    /// What decorators need to know of the world.
    package struct Context {
        /// The local time of day at an event, in minutes since midnight.
        package var minuteOfDay: (Event) -> Int
        /// The names of the sensors that are active now.
        package var activeSensors: () -> Set<String>

        /// Creates a context.
        package init(minuteOfDay: @escaping (Event) -> Int, activeSensors: @escaping () -> Set<String>) {
            self.minuteOfDay = minuteOfDay
            self.activeSensors = activeSensors
        }

        /// Creates the context of a router: the machine's time of day, and the router's sensors.
        package init(_ router: Router) {
            self.init(
                minuteOfDay: { _ in LocalClock.minuteOfDay() },
                activeSensors: { [unowned router] in Set(router.activeSensors.map(\.name)) })
        }
    }

    /// Makes the decorator that the settings describe.
    package func makeDecorator(in context: Context) -> EventDecorator {
        switch self {
        case .debounce(let time):
            DebounceDecorator(time: time)
        case .rateLimit(let perMinute):
            RateLimitDecorator(perMinute: perMinute)
        case .pace(let interval):
            PaceDecorator(interval: interval)
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
