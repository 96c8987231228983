import Synchronization

/// Counts the events that a full queue has no room for, and tells of them: at once of the first, then once a second, and
/// of the rest when there is room again.
package final class EventDrops: Sendable {
    private struct State {
        var totalCount = 0
        var untoldCount = 0
        var isSimulated = false
        var told: ContinuousClock.Instant?
    }

    private let handler: String?
    private let reason: String
    private let report: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private static let interval = Duration.seconds(1)

    /// Creates a count of nothing.
    ///
    /// - Parameters:
    ///   - handler: The name of the handler that the events were for.
    ///   - capacity: How many events wait for it at most.
    ///   - report: Takes the reports, on any thread.
    package convenience init(handler: String, capacity: Int, report: @escaping @Sendable (Event) -> Void) {
        self.init(handler: handler, reason: "more than \(capacity) events wait for it", report: report)
    }

    /// Creates a count of nothing.
    ///
    /// - Parameters:
    ///   - handler: The name of the handler that the events were for; `nil` when they were for no single handler.
    ///   - reason: Why they are dropped.
    ///   - report: Takes the reports, on any thread.
    package init(handler: String?, reason: String, report: @escaping @Sendable (Event) -> Void) {
        self.handler = handler
        self.reason = reason
        self.report = report
    }

    /// How many there were in all.
    package var totalCount: Int { state.withLock { $0.totalCount } }

    /// The number of drops that were not reported yet.
    package var untoldCount: Int { state.withLock { $0.untoldCount } }

    /// Counts an event, and tells of it when that is due.
    ///
    /// - Returns: Whether it is the first unreported drop: the caller then calls ``tellDue()``.
    @discardableResult
    package func add(_ event: Event) -> Bool {
        add(1, isSimulated: event.isSimulated)
    }

    /// Counts events, and tells of them when that is due.
    @discardableResult
    package func add(_ count: Int, isSimulated: Bool = false) -> Bool {
        let now = ContinuousClock.now
        let (untold, isFirst) = state.withLock { state -> (Int, Bool) in
            let isFirst = state.untoldCount == 0
            state.totalCount += count
            state.untoldCount += count
            state.isSimulated = isSimulated
            if let told = state.told, now - told < Self.interval { return (0, isFirst) }
            state.told = now
            return (Self.take(&state), false)
        }
        tell(untold, isSimulated: isSimulated)
        return isFirst
    }

    /// Reports the unreported drops when a second has passed since the last report.
    ///
    /// - Returns: How long until that is; `nil` when everything was told.
    package func tellDue() -> Duration? {
        let now = ContinuousClock.now
        let (untold, isSimulated, pause) = state.withLock { state -> (Int, Bool, Duration?) in
            guard state.untoldCount > 0 else { return (0, false, nil) }
            if let told = state.told, now - told < Self.interval { return (0, false, Self.interval - (now - told)) }
            state.told = now
            return (Self.take(&state), state.isSimulated, nil)
        }
        tell(untold, isSimulated: isSimulated)
        return pause
    }

    /// Reports the unreported drops; the next drop is reported at once.
    package func tellRest() {
        let (count, isSimulated) = state.withLock { state in
            state.told = nil
            return (Self.take(&state), state.isSimulated)
        }
        tell(count, isSimulated: isSimulated)
    }

    private static func take(_ state: inout State) -> Int {
        defer { state.untoldCount = 0 }
        return state.untoldCount
    }

    private func tell(_ count: Int, isSimulated: Bool) {
        guard count > 0 else { return }
        report(Self.event(count: count, handler: handler, reason: reason, isSimulated: isSimulated))
    }

    /// Makes the event that tells of dropped events.
    static func event(count: Int, handler: String? = nil, reason: String, isSimulated: Bool) -> Event {
        var event = Event(kind: .eventsDropped, timeNanoseconds: 0)
        if let handler { event.set(.handler, .text(handler)) }
        event.set(.count, .integer(Int64(count)))
        event.set(.reason, .text(reason))
        event.isSimulated = isSimulated
        return event
    }
}
