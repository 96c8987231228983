import Binnacle

/// What the store's thread reports and counts.
final class StoreReports {
    /// The figures that are counted while they happen.
    var statistics: EventStoreStatistics
    private let clock: StoreClock
    private let report: @Sendable (Event) -> Void
    /// The drops by handler and reason.
    private var drops: [String: EventDrops] = [:]
    private var droppedNanoseconds: Int64?
    private static let interval: Int64 = 1_000_000_000

    init(_ clock: StoreClock, path: String, _ report: @escaping @Sendable (Event) -> Void) {
        self.clock = clock
        statistics = EventStoreStatistics(path: path)
        self.report = report
    }

    /// Reports a failure, or its end.
    func tell(_ kind: EventKind, _ text: String, _ figures: Figure...) {
        report(Event(kind: kind, timeNanoseconds: 0, figures: [Figure(.reason, .text(text))] + figures))
    }

    /// Reports, at most once a second, events that a handler will not get.
    func drop(_ handler: String?, _ reason: String, count: Int = 1) {
        guard count > 0 else { return }
        let key = "\(handler ?? ""): \(reason)"
        let drops = drops[key] ?? EventDrops(handler: handler, reason: reason, report: report)
        self.drops[key] = drops
        drops.add(count)
        droppedNanoseconds = droppedNanoseconds ?? clock.monotonic()
    }

    /// When drops have to be reported that were not.
    var dueNanoseconds: Int64? { droppedNanoseconds.map { $0 + Self.interval } }

    /// Reports drops that were not, when that is due; without a time at once.
    func tellDrops(at now: Int64 = .max) {
        guard let due = dueNanoseconds, now >= due else { return }
        droppedNanoseconds = nil
        for drops in drops.values { drops.tellRest() }
    }
}
