package import Binnacle
import LinuxSystem

/// The timeouts of a sender, in nanoseconds.
package struct NMEATimes: Sendable {
    /// The pauses between attempts.
    package var pauses = RetryPauses()
    /// The time for which sending has to work before the recovery is reported.
    package var lasting: Int64 = 5_000_000_000
    /// The time after which a connection that accepts no data is closed.
    package var patience: Int64 = 5_000_000_000
    /// The time for which a port in use is no failure, because the handler's predecessor may still have it.
    package var grace: Int64 = 3_000_000_000
    /// The pause between attempts in that time.
    package var gracePause: Int64 = 50_000_000
    /// The pause in accepting when no descriptor is available.
    package var acceptPause: Int64 = 1_000_000_000

    /// Creates the daemon's times.
    package init() {}
}

/// Sends the latest heading to plotters as NMEA 0183 at regular intervals; for one thread.
///
/// Events report changes of a heading, but plotters need it regularly, so the latest one is repeated while it is valid. Without a
/// valid heading nothing is sent, not even sentences with empty fields: some receivers read an empty field as 0, and all detect
/// silence. A transport that fails is opened again without end.
package final class NMEASender {
    /// The kinds of event that the handler needs, all of one detector.
    package static let kinds: [EventKind] = [
        .heading, .headingLost, .headingFound, .detectorFailed, .detectorUnavailable,
    ]
    /// The maximum number of connections.
    package static let connectionLimit = NMEAServer.mostClients

    private let settings: NMEASettings
    private let times: NMEATimes
    private let state: NMEAState
    private let port: HandlerPort
    private let intervalNanoseconds: Int64
    private let startTime = SystemClock.monotonic()
    /// The time of the next sentences, independent of connections.
    private var dueTime: Int64 = 0
    private var failures: FailureReports

    /// The plan of a handler that sends headings; by default with a new state for the heading and the figures.
    package static func plan(
        _ settings: NMEASettings, times: NMEATimes = NMEATimes(), state: NMEAState? = nil
    ) -> HandlerPlan {
        let state = state ?? NMEAState(accuracyLimitDegrees: settings.accuracyLimitDegrees)
        var plan = HandlerPlan { port in NMEASender(settings, times, state, port).run() }
        plan.latest = state
        plan.status = { state.statistics.json }
        return plan
    }

    private init(_ settings: NMEASettings, _ times: NMEATimes, _ state: NMEAState, _ port: HandlerPort) {
        self.settings = settings
        self.times = times
        self.state = state
        self.port = port
        intervalNanoseconds = Units.nanoseconds(settings.interval)
        failures = FailureReports(port, times.pauses)
    }

    private func run() {
        while port.stop == nil {
            do throws(NMEAFailure) {
                try serve()
            } catch {
                lose(error)
            }
        }
        state.update { statistics in
            statistics.clientCount = 0
            statistics.port = nil
        }
    }

    // MARK: - Sending

    /// Opens the transport, and sends until that fails or the sender is requested to stop.
    private func serve() throws(NMEAFailure) {
        let (epoll, transport) = try open()
        let openTime = SystemClock.monotonic()
        while port.stop == nil {
            let now = SystemClock.monotonic()
            transport.advance(to: now)
            var next = transport.nextTime
            if let heading = state.heading {
                if now >= dueTime { try send(heading, transport, now) }
                next = min(next ?? dueTime, dueTime)
            }
            if failures.hasFailed, transport.isProven {
                if now - openTime >= times.lasting {
                    state.update { $0.failure = nil }
                    failures.recover()
                }
                next = min(next ?? .max, openTime + times.lasting)
            }
            // Without a heading there is no deadline.
            epoll.wait(until: next) { token, isHungUp in
                transport.respond(token, isHungUp: isHungUp, at: SystemClock.monotonic())
            }
        }
    }

    private func open() throws(NMEAFailure) -> (Epoll, any NMEATransport) {
        let epoll = try mapError({ NMEAFailure(settings.address, $0) }) { () throws(SystemError) in
            try Epoll(waker: port.courier.waker)
        }
        switch settings.transport {
        case .udp: return (epoll, try NMEADatagrams(settings, state: state))
        case .tcp: return (epoll, try NMEAServer(settings, epoll: epoll, state: state, times: times))
        }
    }

    private func send(_ heading: NMEAHeading, _ transport: any NMEATransport, _ now: Int64) throws(NMEAFailure) {
        // A missed interval is skipped.
        let next = Units.later(dueTime, by: intervalNanoseconds)
        dueTime = next > now ? next : Units.later(now, by: intervalNanoseconds)
        let sentences = settings.sentences.compactMap { sentence in
            sentence.text(heading, talker: settings.talker).map { Array($0.utf8) }
        }
        try transport.send(sentences, at: now)
    }

    // MARK: - Failing

    /// Reports that nothing can be sent, and waits for the next attempt.
    private func lose(_ failure: NMEAFailure) {
        let now = SystemClock.monotonic()
        if failure.isPortTaken, now - startTime < times.grace {
            let left = SystemClock.milliseconds(until: Units.later(now, by: times.gracePause), from: now)
            return port.courier.wait(milliseconds: left)
        }
        state.update { $0.failure = failure.reason }
        failures.fail(failure.reason)
        _ = failures.waitBeforeRetry { _ in port.stop != nil }
    }
}
