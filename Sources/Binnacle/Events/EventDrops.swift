import Synchronization

/// Counts the events that a full queue has no room for, and reports them: the first at once, then after a second and at
/// intervals that double up to a minute, and of the rest when there has been room for a while.
package final class EventDrops: Sendable {
    private struct State {
        var totalCount = 0
        var untoldCount = 0
        var isSimulated = false
        /// The last report; `nil` while there is room.
        var told: ContinuousClock.Instant?
        /// The last drop.
        var dropped = ContinuousClock.now
        /// Until the next report.
        var interval = EventDrops.firstInterval

        /// Takes the drops that are to be reported now.
        mutating func removeDue(at now: ContinuousClock.Instant) -> Int {
            interval = told == nil ? EventDrops.firstInterval : min(interval * 2, EventDrops.longestInterval)
            told = now
            return removeRest()
        }

        mutating func removeRest() -> Int {
            defer { untoldCount = 0 }
            return untoldCount
        }
    }

    private let handler: String?
    private let reason: String
    private let report: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private static let firstInterval = Duration.seconds(1)
    private static let longestInterval = Duration.seconds(60)
    /// With room for so long the queue is no longer full.
    private let quiet: Duration

    /// Creates a count for a handler and its capacity in events; `report` is called on any thread.
    package convenience init(handler: String, capacity: Int, report: @escaping @Sendable (Event) -> Void) {
        self.init(handler: handler, reason: "more than \(capacity) events wait for it", report: report)
    }

    /// Creates a count of nothing.
    ///
    /// - Parameters:
    ///   - handler: The name of the handler that the events were for; `nil` when they were for no single handler.
    ///   - reason: Why they are dropped.
    ///   - quiet: How long there has to be room before the next drop is reported at once.
    ///   - report: Takes the reports, on any thread.
    package init(
        handler: String?, reason: String, quiet: Duration = .seconds(1), report: @escaping @Sendable (Event) -> Void
    ) {
        self.handler = handler
        self.reason = reason
        self.quiet = quiet
        self.report = report
    }

    /// How many there were in all.
    package var totalCount: Int { state.withLock { $0.totalCount } }

    /// The number of drops that were not reported yet.
    package var untoldCount: Int { state.withLock { $0.untoldCount } }

    /// Counts an event, and reports the drops when that is due.
    ///
    /// - Returns: Whether it is the first unreported drop: the caller then calls ``reportDue(hasRoom:at:)``.
    @discardableResult
    package func add(_ event: Event) -> Bool {
        add(1, isSimulated: event.isSimulated)
    }

    /// Counts events, and reports the drops when that is due.
    @discardableResult
    package func add(_ count: Int, isSimulated: Bool = false, at now: ContinuousClock.Instant = .now) -> Bool {
        let (untold, isFirst) = state.withLock { state -> (Int, Bool) in
            let isFirst = state.untoldCount == 0
            state.totalCount += count
            state.untoldCount += count
            state.isSimulated = isSimulated
            state.dropped = now
            if let told = state.told, now - told < state.interval { return (0, isFirst) }
            return (state.removeDue(at: now), false)
        }
        report(untold, isSimulated: isSimulated)
        return isFirst
    }

    /// Reports the unreported drops when that is due.
    ///
    /// - Parameters:
    ///   - hasRoom: Whether the queue has room now.
    ///   - now: The time.
    /// - Returns: How long until something may be due; `nil` for not before the next drop.
    package func reportDue(hasRoom: Bool, at now: ContinuousClock.Instant = .now) -> Duration? {
        let (untold, isSimulated, pause) = state.withLock { state -> (Int, Bool, Duration?) in
            guard let told = state.told else { return (0, false, nil) }
            let isSimulated = state.isSimulated
            if hasRoom, now - state.dropped >= quiet {
                state.told = nil
                return (state.removeRest(), isSimulated, nil)
            }
            let end = hasRoom ? quiet - (now - state.dropped) : nil
            guard state.untoldCount > 0 else { return (0, false, end) }
            if now - told >= state.interval { return (state.removeDue(at: now), isSimulated, end) }
            let pause = state.interval - (now - told)
            return (0, false, min(pause, end ?? pause))
        }
        report(untold, isSimulated: isSimulated)
        return pause
    }

    /// Reports the unreported drops; the next drop is reported at once.
    package func reportRest() {
        let (count, isSimulated) = state.withLock { state in
            state.told = nil
            return (state.removeRest(), state.isSimulated)
        }
        report(count, isSimulated: isSimulated)
    }

    private func report(_ count: Int, isSimulated: Bool) {
        guard count > 0 else { return }
        report(Self.event(count: count, handler: handler, reason: reason, isSimulated: isSimulated))
    }

    /// Makes the event that reports dropped events.
    static func event(count: Int, handler: String? = nil, reason: String, isSimulated: Bool) -> Event {
        var event = Event(kind: .eventsDropped, timeNanoseconds: 0)
        if let handler { event.set(.handler, .text(handler)) }
        event.set(.count, .integer(Int64(count)))
        event.set(.reason, .text(reason))
        event.isSimulated = isSimulated
        return event
    }
}
