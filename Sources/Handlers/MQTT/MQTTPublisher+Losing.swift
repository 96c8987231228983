import Binnacle
import LinuxSystem

extension MQTTPublisher {
    /// How many reasons are remembered as told.
    private static let mostReasons = 16

    /// Takes note that a connection is lost, or never was: what was under way is to be sent again.
    func lose(_ connection: Connection, _ failure: MQTTFailure) {
        queue.count { statistics in
            statistics.connectedSinceNanoseconds = nil
            if !failure.isDetour { statistics.failure = failure.reason }
        }
        if connection.hasProgress { backoff.reset() }
        suspect(connection, failure)
        for index in window.indices { window[index].message = nil }
        // The first address of a name may be one of IPv6, and lead nowhere.
        avoidsIPv6 = !avoidsIPv6 && failure.isUnreachable
        if !failure.isDetour { tell(failure.reason) }
    }

    /// Finds the event because of which the broker closes the connection, if there is one, and passes it over.
    private func suspect(_ connection: Connection, _ failure: MQTTFailure) {
        let sent = window.indices.filter { window[$0].message != nil }
        guard failure.isClosedByBroker, !connection.hasProgress, !sent.isEmpty else { return }
        closingCount += 1
        if isCareful, sent.count == 1, let index = sent.first {
            window[index].refusalCount += 1
            if window[index].refusalCount >= surroundings.times.mostRefusals {
                passOver(at: index, because: "the broker closes the connection each time it gets it")
            }
        }
        // Once may be chance.
        if closingCount >= 2 { isCareful = true }
    }

    /// Tells of a reason that nobody has been told of.
    func tell(_ reason: String) {
        guard toldReasons.count < Self.mostReasons, toldReasons.insert(reason).inserted else { return }
        hasFailed = true
        report(reason)
    }

    /// Tells that the handler failed.
    func report(_ reason: String) {
        surroundings.report(Event(handlerFailed: surroundings.name, because: reason))
    }

    /// Waits until it is time for another attempt.
    ///
    /// - Returns: Whether there is to be one.
    func pauses() -> Bool {
        let end = Units.later(SystemClock.monotonic(), by: backoff.next(using: &generator))
        while true {
            if let stop = queue.stop, !queue.wouldLose || end >= stop.drainTime { return false }
            let left = SystemClock.milliseconds(until: end)
            guard left > 0 else { return true }
            queue.waker.wait(timeoutMilliseconds: left)
        }
    }
}
