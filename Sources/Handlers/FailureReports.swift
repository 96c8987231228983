import Binnacle
import LinuxSystem

/// The pauses between a worker's attempts, in nanoseconds.
package struct RetryPauses: Sendable {
    /// The pause after a first failure; each further one is twice as long.
    package var first: Int64
    package var longest: Int64

    /// Creates pauses; the defaults are those of the daemon.
    package init(first: Int64 = 1_000_000_000, longest: Int64 = 60_000_000_000) {
        self.first = first
        self.longest = longest
    }
}

/// Reports a worker's failures, each cause once, and computes the pauses between its attempts.
///
/// A pause is random between half its length and all of it, so that a fleet does not reconnect at the same moment.
package struct FailureReports {
    private let port: HandlerPort
    private let pauses: RetryPauses
    private var failureCount = 0
    private var reportedCauses: Set<String> = []
    private static let mostCauses = 16

    package init(_ port: HandlerPort, _ pauses: RetryPauses = RetryPauses()) {
        self.port = port
        self.pauses = pauses
    }

    /// Reports a failure, unless its cause was reported since the last recovery: the reason itself, or what is the same for
    /// reasons that differ in figures alone.
    ///
    /// - Returns: Whether it was reported now.
    @discardableResult
    package mutating func fail(_ reason: String, cause: String? = nil) -> Bool {
        guard reportedCauses.count < Self.mostCauses, reportedCauses.insert(cause ?? reason).inserted else {
            return false
        }
        port.fail(reason)
        return true
    }

    /// Reports the recovery if a failure was reported, also of the handler that this one replaces.
    package mutating func recover() {
        resetPauses()
        reportedCauses = []
        port.succeed()
    }

    /// Forgets what was reported, because all but one failure has ended; that one is reported again if there were others.
    package mutating func recover(exceptFor reason: String) {
        resetPauses()
        guard !reportedCauses.isEmpty else { return }
        reportedCauses = []
        port.fail(reason)
    }

    package mutating func resetPauses() {
        failureCount = 0
    }

    /// Waits before the next attempt, at least for `shortest` nanoseconds, and returns whether there is one; `isOver` is called at
    /// each wake-up with the time of the attempt.
    package mutating func waitBeforeRetry(
        atLeast shortest: Int64 = 0, unless isOver: (_ attemptTime: Int64) -> Bool
    ) -> Bool {
        let pause = min(pauses.longest, pauses.first << min(failureCount, 20))
        failureCount += 1
        let time = Units.later(SystemClock.monotonic(), by: max(shortest, Int64.random(in: pause / 2...pause)))
        while !isOver(time) {
            let left = SystemClock.milliseconds(until: time)
            guard left > 0 else { return true }
            port.courier.wait(milliseconds: left)
        }
        return false
    }
}
