import Synchronization

/// Counts the events that a full queue has no room for, and reports them at the pace of ``ReportPace``; it is quiet when there is
/// room.
package final class EventDrops: Sendable {
    private struct State {
        var totalCount = 0
        var isSimulated = false
        var pace: ReportPace
    }

    private let handler: String?
    private let reason: String
    private let report: @Sendable (Event) -> Void
    private let state: Mutex<State>

    /// `quiet` is how long there has to be room before the next drop is reported at once; `report` is called on any thread.
    package init(
        handler: String?, reason: String, quiet: Duration = .seconds(1), report: @escaping @Sendable (Event) -> Void
    ) {
        self.handler = handler
        self.reason = reason
        state = Mutex(State(pace: ReportPace(quiet: quiet)))
        self.report = report
    }

    /// How many there were in all.
    package var totalCount: Int { state.withLock { $0.totalCount } }

    /// The number of drops that were not reported yet.
    package var untoldCount: Int { state.withLock { $0.pace.untoldCount } }

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
            let wasTold = state.pace.untoldCount == 0
            state.totalCount += count
            state.isSimulated = isSimulated
            let untold = state.pace.add(count, at: now)
            return (untold, wasTold && untold == 0)
        }
        report(untold, isSimulated: isSimulated)
        return isFirst
    }

    /// Reports the unreported drops when that is due; returns how long until something may be, `nil` for not before the next drop.
    package func reportDue(hasRoom: Bool, at now: ContinuousClock.Instant = .now) -> Duration? {
        let (due, isSimulated) = state.withLock { ($0.pace.removeDue(canEnd: hasRoom, at: now), $0.isSimulated) }
        report(due.count, isSimulated: isSimulated)
        return due.pause
    }

    /// Reports the unreported drops; the next drop is reported at once.
    package func reportRest() {
        let (count, isSimulated) = state.withLock { ($0.pace.removeRest(), $0.isSimulated) }
        report(count, isSimulated: isSimulated)
    }

    private func report(_ count: Int, isSimulated: Bool) {
        guard count > 0 else { return }
        report(Self.event(count: count, handler: handler, reason: reason, isSimulated: isSimulated))
    }

    /// Makes the event that reports dropped events.
    package static func event(count: Int, handler: String? = nil, reason: String, isSimulated: Bool = false) -> Event {
        var event = Event(kind: .eventsDropped, timeNanoseconds: 0)
        if let handler { event.set(.handler, .text(handler)) }
        event.set(.count, .integer(Int64(count)))
        event.set(.reason, .text(reason))
        event.isSimulated = isSimulated
        return event
    }
}

/// When something that may repeat is reported: the first time at once, then after a second and at intervals that double up to a
/// minute, and the rest when it has not occurred for a while.
struct ReportPace {
    /// How much was not reported yet.
    private(set) var untoldCount = 0
    /// The last report; `nil` when the next occurrence is reported at once.
    private var told: ContinuousClock.Instant?
    /// The last occurrence.
    private var added = ContinuousClock.now
    /// Until the next report.
    private var interval = Self.firstInterval
    /// How long it has not to occur before it is reported at once again.
    private let quiet: Duration
    private static let firstInterval = Duration.seconds(1)
    private static let longestInterval = Duration.seconds(60)

    init(quiet: Duration) { self.quiet = quiet }

    /// Whether the next occurrence is reported at once.
    var isOver: Bool { told == nil }

    /// Counts occurrences, and returns how many are to be reported now.
    mutating func add(_ count: Int, at now: ContinuousClock.Instant) -> Int {
        untoldCount += count
        added = now
        if let told, now - told < interval { return 0 }
        return removeAll(at: now)
    }

    /// Returns how many are to be reported now, and how long until something may be due; `nil` for not before the next occurrence.
    ///
    /// `canEnd` is whether the time since the last occurrence counts as quiet.
    mutating func removeDue(canEnd: Bool = true, at now: ContinuousClock.Instant) -> (count: Int, pause: Duration?) {
        guard let told else { return (0, nil) }
        if canEnd, now - added >= quiet { return (removeRest(), nil) }
        let end = canEnd ? quiet - (now - added) : nil
        guard untoldCount > 0 else { return (0, end) }
        if now - told >= interval { return (removeAll(at: now), end) }
        let pause = interval - (now - told)
        return (0, min(pause, end ?? pause))
    }

    /// Returns how many were not reported; the next occurrence is reported at once.
    mutating func removeRest() -> Int {
        defer { (untoldCount, told) = (0, nil) }
        return untoldCount
    }

    private mutating func removeAll(at now: ContinuousClock.Instant) -> Int {
        interval = told == nil ? Self.firstInterval : min(interval * 2, Self.longestInterval)
        defer { (untoldCount, told) = (0, now) }
        return untoldCount
    }
}
