import Binnacle
import LinuxSystem

/// Releases what decorators hold back and what is due while no sample comes, as from a sensor that was unplugged: they count the time of
/// samples, which does not go on then.
final class HeldEventsPart: DaemonPart {
    private unowned let daemon: Daemon
    private var earliestNanoseconds = Int64.min

    /// Longer than samples are on their way, also from the buffer of a device at rest.
    private static let delayNanoseconds: Int64 = 15_000_000_000
    /// A handler that is due again at once does not keep the daemon busy.
    private static let pauseNanoseconds: Int64 = 1_000_000_000

    init(_ daemon: Daemon) {
        self.daemon = daemon
        daemon.router.idleClock = { [source = daemon.source] in
            source.isInRealTime ? SystemClock.monotonic() - Self.delayNanoseconds : nil
        }
    }

    var deadline: Int64? {
        guard daemon.source.isInRealTime, let due = daemon.router.idleDeadlineNanoseconds else { return nil }
        return max(Units.later(due, by: Self.delayNanoseconds + 1), earliestNanoseconds)
    }

    func turn(_ answer: SampleAnswer, at now: Int64) {
        guard case .pending = answer, let deadline, now >= deadline else { return }
        earliestNanoseconds = Units.later(now, by: Self.pauseNanoseconds)
        daemon.router.flush(upTo: Units.later(now, by: -Self.delayNanoseconds))
    }
}
