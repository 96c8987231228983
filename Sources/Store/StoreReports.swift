import Binnacle

/// The reports and counts of the store's thread.
final class StoreReports {
    /// The figures that are counted as they occur.
    var statistics: EventStoreStatistics
    /// The deliveries that were removed, by handler.
    private(set) var removedCounts: [String: Int] = [:]
    private let clock: StoreClock
    private let report: @Sendable (Event) -> Void
    /// The drops by handler and reason.
    private var drops: [String: EventDrops] = [:]
    /// When the pending drops have to be reported, on the monotonic clock; `nil` before the first.
    private(set) var dueNanoseconds: Int64?
    /// One moment on both clocks.
    private let origin: (instant: ContinuousClock.Instant, nanoseconds: Int64)
    /// The janitor drops a few events at a time; with a shorter pause each time would be reported.
    private static let quiet = Duration.seconds(60)

    init(_ clock: StoreClock, path: String, _ report: @escaping @Sendable (Event) -> Void) {
        self.clock = clock
        origin = (.now, clock.monotonic())
        statistics = EventStoreStatistics(path: path)
        self.report = report
    }

    /// Reports a failure, or its end.
    func report(_ kind: EventKind, _ text: String, _ figures: Figure...) {
        report(Event(kind: kind, timeNanoseconds: 0, figures: [Figure(.reason, .text(text))] + figures))
    }

    /// Counts events that a handler will not get, and reports them at growing intervals.
    func drop(_ handler: String?, _ reason: String, count: Int = 1) {
        guard count > 0 else { return }
        let key = "\(handler ?? ""): \(reason)"
        let drops =
            drops[key] ?? EventDrops(handler: handler, reason: reason, quiet: Self.quiet, report: report)
        self.drops[key] = drops
        let now = clock.monotonic()
        drops.add(count, at: instant(now))
        dueNanoseconds = dueNanoseconds ?? now
    }

    /// Counts deliveries that were removed before their handler had them, and reports them as dropped.
    func removeDeliveries(of handler: String?, _ reason: String, count: Int) {
        statistics.removedDeliveryCount += count
        if let handler { removedCounts[handler, default: 0] += count }
        drop(handler, reason, count: count)
    }

    func reportDrops(at now: Int64) {
        guard let due = dueNanoseconds, now >= due else { return }
        let pauses = drops.values.compactMap { $0.reportDue(hasRoom: true, at: instant(now)) }
        dueNanoseconds = pauses.min().map { now + Units.nanoseconds($0) }
    }

    func reportRemainingDrops() {
        for drops in drops.values { drops.reportRest() }
        dueNanoseconds = nil
    }

    private func instant(_ nanoseconds: Int64) -> ContinuousClock.Instant {
        origin.instant + .nanoseconds(nanoseconds - origin.nanoseconds)
    }
}
