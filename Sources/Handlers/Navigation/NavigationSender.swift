package import Binnacle
import LinuxSystem

/// The timeouts of a sender, in nanoseconds.
package struct NavigationTimes: Sendable {
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
    /// The time after which a receiver of datagrams is looked up again; the second is for one that refuses them.
    package var (lookup, refusedLookup): (Int64, Int64) = (60_000_000_000, 10_000_000_000)

    /// Creates the daemon's times.
    package init() {}
}

/// What is said of a reading: sentences of NMEA 0183, or deltas of Signal K.
package protocol NavigationFormat: Sendable {
    /// The messages of a reading, each with its line end, at a time by the wall clock in nanoseconds since 1970.
    func messages(_ reading: NavigationReading, at wallNanoseconds: Int64) -> [String]
}

/// Sends the latest reading to instruments at regular intervals; for one thread.
///
/// Events report changes of a heading, but plotters need it regularly, so the latest one is repeated while it is valid. Without a
/// valid reading nothing is sent, not even messages with empty fields: some receivers read an empty field as 0, and all detect
/// silence. A transport that fails is opened again without end.
package final class NavigationSender {
    /// The kinds of event that a handler of headings and attitudes needs, all of one detector.
    package static let kinds: [EventKind] = [
        .heading, .headingLost, .headingFound, .attitudeChanged, .detectorFailed, .detectorUnavailable,
    ]
    package static let connectionLimit = NavigationServer.mostClients
    package static let addressLimit = NavigationServer.mostOfNetwork

    private let settings: NavigationSettings
    private let format: any NavigationFormat
    private let times: NavigationTimes
    private let state: NavigationState
    private let port: HandlerPort
    private let intervalNanoseconds: Int64
    private let startTime = SystemClock.monotonic()
    /// The time of the next messages, independent of connections.
    private var dueTime: Int64 = 0
    private var lastWallNanoseconds: Int64?
    /// The stamp that was sent last, and how late the last new reading came: what it says held then.
    private var (sentWallNanoseconds, delayNanoseconds) = (Int64.min, Int64(0))
    /// A stamp may be as much before the last one, or after the present time; a clock that was set is further.
    private static let clockStepNanoseconds: Int64 = 1_000_000_000
    /// A reading that is older is of another clock.
    private static let longestDelayNanoseconds: Int64 = 10_000_000_000
    private var failures: FailureReports

    /// The plan of a handler that sends readings; by default with a new state for the reading and the figures.
    package static func plan(
        _ settings: NavigationSettings, as format: any NavigationFormat, times: NavigationTimes = NavigationTimes(),
        state: NavigationState? = nil
    ) -> HandlerPlan {
        let state = state ?? NavigationState(accuracyLimitDegrees: settings.accuracyLimitDegrees)
        var plan = HandlerPlan { port in NavigationSender(settings, format, times, state, port).run() }
        plan.latest = state
        plan.status = { state.statistics.json }
        return plan
    }

    private init(
        _ settings: NavigationSettings, _ format: any NavigationFormat, _ times: NavigationTimes,
        _ state: NavigationState,
        _ port: HandlerPort
    ) {
        self.settings = settings
        self.format = format
        self.times = times
        self.state = state
        self.port = port
        intervalNanoseconds = Units.nanoseconds(settings.interval)
        failures = FailureReports(port, times.pauses)
    }

    private func run() {
        while port.stop == nil {
            do throws(NavigationFailure) {
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
    private func serve() throws(NavigationFailure) {
        let (epoll, transport) = try open()
        let openTime = SystemClock.monotonic()
        while port.stop == nil {
            let now = SystemClock.monotonic()
            try transport.advance(to: now)
            if let refusal = transport.refusal { failures.fail(refusal.reason) }
            var next = transport.nextTime
            if let reading = state.reading {
                if now >= dueTime { try send(reading, transport, now) }
                next = min(next ?? dueTime, dueTime)
            }
            if port.isFailing, transport.isProven {
                if now - openTime >= times.lasting { failures.recover() }
                next = min(next ?? .max, openTime + times.lasting)
            }
            // Without a reading there is no deadline.
            epoll.wait(until: next) { token, isHungUp in
                transport.respond(token, isHungUp: isHungUp, at: SystemClock.monotonic())
            }
        }
    }

    private func open() throws(NavigationFailure) -> (Epoll, any NavigationTransport) {
        let epoll = try mapError({ NavigationFailure(settings.address, $0) }) { () throws(SystemError) in
            try Epoll(waker: port.courier.waker)
        }
        switch settings.transport {
        case .udp: return (epoll, try NavigationDatagrams(settings, state: state, times: times))
        case .tcp: return (epoll, try NavigationServer(settings, epoll: epoll, state: state, times: times))
        case .serial: return (epoll, try SerialLine(settings, epoll: epoll, state: state))
        }
    }

    private func send(
        _ reading: NavigationReading, _ transport: any NavigationTransport, _ now: Int64
    ) throws(NavigationFailure) {
        // A missed interval is skipped.
        let next = Units.later(dueTime, by: intervalNanoseconds)
        dueTime = next > now ? next : Units.later(now, by: intervalNanoseconds)
        let wall = stamp(reading)
        try transport.send(format.messages(reading, at: wall).map { Array($0.utf8) }, at: now)
    }

    /// The stamp of a reading: its own, or the time up to which one that is sent again is known to hold.
    ///
    /// What differs from it would have been an event. Samples that were not delivered yet say nothing, so that is as long ago as
    /// the last event came late.
    private func stamp(_ reading: NavigationReading) -> Int64 {
        let now = SystemClock.realtime()
        let isRepeated = reading.wallNanoseconds == lastWallNanoseconds
        lastWallNanoseconds = reading.wallNanoseconds
        let own = reading.wallNanoseconds ?? now
        // The clock was set back since then.
        let isOfOtherClock = own - now >= Self.clockStepNanoseconds
        if !isRepeated { delayNanoseconds = (0...Self.longestDelayNanoseconds).contains(now - own) ? now - own : 0 }
        let wall = isOfOtherClock ? now - delayNanoseconds : isRepeated ? max(own, now - delayNanoseconds) : own
        if wall >= sentWallNanoseconds || sentWallNanoseconds - wall >= Self.clockStepNanoseconds {
            sentWallNanoseconds = wall
        }
        return sentWallNanoseconds
    }

    // MARK: - Failing

    /// Reports that nothing can be sent, and waits for the next attempt.
    private func lose(_ failure: NavigationFailure) {
        let now = SystemClock.monotonic()
        if failure.isPortTaken, now - startTime < times.grace {
            let left = SystemClock.milliseconds(until: Units.later(now, by: times.gracePause), from: now)
            return port.courier.wait(milliseconds: left)
        }
        failures.fail(failure.reason)
        _ = failures.waitBeforeRetry { _ in port.stop != nil }
    }
}
