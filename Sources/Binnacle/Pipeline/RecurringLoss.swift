/// The losses of one stream by one cause, reported at the pace of ``ReportPace`` in the time of the stamps.
///
/// Those that were not reported meanwhile are reported as the last one, with the samples and the number of all.
struct RecurringLoss {
    let sensor: Sensor
    let kind: SampleKind
    /// The last loss, with the samples of all that were not reported.
    private(set) var last: SampleLoss
    private var pace = ReportPace(quiet: .seconds(60))
    /// What the stamps are counted from.
    private let origin = ContinuousClock.now

    init(sensor: Sensor, kind: SampleKind, last: SampleLoss) {
        (self.sensor, self.kind, self.last) = (sensor, kind, last)
    }

    /// Whether it has not recurred for a minute.
    var isOver: Bool { pace.isOver }

    /// Takes a loss, and returns what is to be reported now.
    mutating func add(_ loss: SampleLoss) -> SampleLoss? {
        let untold = pace.untoldCount > 0 ? last.count ?? 0 : 0
        last = loss
        last.count = loss.count.map { $0 + untold }
        return report(pace.add(1, at: instant(loss.timeNanoseconds ?? sensor.lastTimeNanoseconds ?? 0)))
    }

    /// Returns what is to be reported at a stamp; `nil` is the end of time.
    mutating func removeDue(at timeNanoseconds: Int64?) -> SampleLoss? {
        report(timeNanoseconds.map { pace.removeDue(at: instant($0)).count } ?? pace.removeRest())
    }

    private func report(_ number: Int) -> SampleLoss? {
        guard number > 0 else { return nil }
        var loss = last
        if number > 1 { loss.detail = "\(number) times since the last report, at last: \(loss.detail)" }
        return loss
    }

    private func instant(_ timeNanoseconds: Int64) -> ContinuousClock.Instant { origin + .nanoseconds(timeNanoseconds) }
}
