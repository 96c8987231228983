import Binnacle
import LinuxSystem

/// What a worker tells of its failures, each reason once, and how long it waits after each.
///
/// A pause is twice as long as the one before, up to a longest, and shortened by chance to between a half and the whole, so
/// that a fleet does not come back in one moment.
struct FailureReports {
    private let port: HandlerPort
    private let firstPause: Int64
    private let longestPause: Int64
    private var failureCount = 0
    /// The reasons that were told since the last recovery.
    private var toldReasons: Set<String> = []
    /// Whether the last report was that the handler failed.
    private(set) var hasFailed = false
    private static let mostReasons = 16

    /// Creates the state of a worker that has not failed; pauses are in nanoseconds.
    init(_ port: HandlerPort, firstPause: Int64, longestPause: Int64) {
        self.port = port
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Reports a failure, unless its reason was reported since the last recovery.
    mutating func fail(_ reason: String) {
        guard toldReasons.count < Self.mostReasons, toldReasons.insert(reason).inserted else { return }
        hasFailed = true
        report(reason)
    }

    /// Reports that something went wrong, however often it did before.
    func report(_ reason: String) {
        port.report(Event(handlerFailed: port.name, because: reason))
    }

    /// Reports that the work succeeds, when a failure was reported.
    mutating func recover() {
        resetPauses()
        toldReasons = []
        guard hasFailed else { return }
        hasFailed = false
        port.report(Event(handlerRecovered: port.name))
    }

    /// Begins again with the first pause.
    mutating func resetPauses() {
        failureCount = 0
    }

    /// The time of the next attempt, on CLOCK_MONOTONIC.
    mutating func nextAttemptTime() -> Int64 {
        let pause = min(longestPause, firstPause << min(failureCount, 20))
        failureCount += 1
        return Units.later(SystemClock.monotonic(), by: Int64.random(in: pause / 2...pause))
    }

    /// Waits before the next attempt.
    ///
    /// - Parameter isOver: Asked each time the thread is woken, with the time of the attempt: `true` ends the wait.
    /// - Returns: Whether there is to be another attempt.
    mutating func waitBeforeRetry(unless isOver: (_ attemptTime: Int64) -> Bool) -> Bool {
        let time = nextAttemptTime()
        while !isOver(time) {
            let left = SystemClock.milliseconds(until: time)
            guard left > 0 else { return true }
            port.courier.wait(milliseconds: left)
        }
        return false
    }
}
