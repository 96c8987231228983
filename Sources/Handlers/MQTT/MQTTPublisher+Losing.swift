import Binnacle
import LinuxSystem

extension MQTTPublisher {
    /// Handles a connection that was lost or never made: what was under way is sent again.
    func lose(_ connection: Connection, _ failure: MQTTFailure) {
        gauge.update { statistics in
            statistics.connectedSinceNanoseconds = nil
            if !failure.isDetour { statistics.failure = failure.reason }
        }
        if connection.hasProgress { failures.resetPauses() }
        suspect(connection, failure)
        for index in window.indices { window[index].message = nil }
        // The first address of a name may be one of IPv6, and lead nowhere.
        avoidsIPv6 = !avoidsIPv6 && failure.isUnreachable
        if !failure.isDetour { failures.fail(failure.reason) }
    }

    /// Finds the event because of which the broker closes the connection, if there is one, and passes it over.
    private func suspect(_ connection: Connection, _ failure: MQTTFailure) {
        let sent = window.indices.filter { window[$0].message != nil }
        guard failure.isClosedByBroker, !connection.hasProgress, !sent.isEmpty else { return }
        closingCount += 1
        if isCareful, sent.count == 1, let index = sent.first {
            window[index].refusalCount += 1
            if window[index].refusalCount >= times.mostRefusals {
                passOver(at: index, because: "the broker closes the connection each time it gets it")
            }
        }
        // Once may be chance.
        if closingCount >= 2 { isCareful = true }
    }

    /// Waits until it is time for another attempt.
    ///
    /// - Returns: Whether there is to be one.
    func waitBeforeRetry() -> Bool {
        failures.waitBeforeRetry { attemptTime in
            guard let stop = port.stop else { return false }
            return !port.wouldLose || attemptTime >= Self.drainTime(stop)
        }
    }
}
