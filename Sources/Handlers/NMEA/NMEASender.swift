import Binnacle
import LinuxSystem

/// Sends the latest heading again and again, and comes back to a way that fails as long as it takes; for one thread, which
/// it never leaves.
///
/// A ``NMEAHandler`` is its face.
final class NMEASender {
    /// The number of what wakes the thread.
    private static let wakerToken: UInt64 = 0
    /// How many reasons are remembered as told.
    private static let mostReasons = 16

    private let name: String
    private let settings: NMEASettings
    private let times: NMEATimes
    private let inbox: NMEAInbox
    private let tell: @Sendable (Event) -> Void
    private let intervalNanoseconds: Int64
    private let startTime = SystemClock.monotonic()
    /// When sentences are sent next; how often does not depend on connections that come and go.
    private var dueTime: Int64 = 0
    private var backoff: Backoff
    private var generator = SystemRandomNumberGenerator()
    /// What was told since it last worked.
    private var toldReasons: Set<String> = []
    /// Whether the last that was told is that it failed.
    private var hasFailed = false

    /// Creates a sender.
    init(
        name: String, settings: NMEASettings, times: NMEATimes, inbox: NMEAInbox,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.name = name
        self.settings = settings
        self.times = times
        self.inbox = inbox
        tell = report
        intervalNanoseconds = Units.nanoseconds(settings.interval)
        backoff = Backoff(first: times.firstPause, longest: times.longestPause)
    }

    /// Sends until it is told to stop.
    func run() {
        while !inbox.isStopping {
            do throws(NMEAFailure) {
                try serve()
            } catch {
                lose(error)
            }
        }
        inbox.end()
    }

    // MARK: - Sending

    /// Sends on one way until that fails, or until the sender is told to stop.
    private func serve() throws(NMEAFailure) {
        let (epoll, transport) = try open()
        let openTime = SystemClock.monotonic()
        while !inbox.isStopping {
            let now = SystemClock.monotonic()
            transport.advance(to: now)
            var next = transport.nextTime
            if let heading = inbox.heading {
                if now >= dueTime { try send(heading, transport, now) }
                next = min(next ?? dueTime, dueTime)
            }
            if hasFailed, transport.isProven {
                if now - openTime >= times.lasting { recover() }
                next = min(next ?? .max, openTime + times.lasting)
            }
            // Nothing is waited for when nothing is to be done: who has no heading sleeps.
            let timeout = next.map { SystemClock.milliseconds(until: $0, from: now) } ?? -1
            _ = epoll.wait(timeoutMilliseconds: timeout) { token, isHungUp in
                if token == Self.wakerToken {
                    inbox.waker.clear()
                } else {
                    transport.respond(token, isHungUp: isHungUp, at: SystemClock.monotonic())
                }
            }
        }
    }

    private func open() throws(NMEAFailure) -> (Epoll, any NMEATransport) {
        let epoll: Epoll
        do throws(SystemError) {
            epoll = try Epoll()
            try epoll.add(inbox.waker.descriptor, token: Self.wakerToken)
        } catch {
            throw NMEAFailure(settings.address, error)
        }
        switch settings.transport {
        case .udp: return (epoll, try NMEADatagrams(settings, inbox: inbox))
        case .tcp: return (epoll, try NMEAServer(settings, epoll: epoll, inbox: inbox, times: times))
        }
    }

    private func send(_ heading: NMEAHeading, _ transport: any NMEATransport, _ now: Int64) throws(NMEAFailure) {
        // A beat that was missed is left out, and does not come after the next one.
        let next = Units.later(dueTime, by: intervalNanoseconds)
        dueTime = next > now ? next : Units.later(now, by: intervalNanoseconds)
        let sentences = settings.sentences.compactMap { sentence in
            sentence.text(heading, talker: settings.talker).map { Array($0.utf8) }
        }
        try transport.send(sentences, at: now)
    }

    // MARK: - Failing

    private func recover() {
        hasFailed = false
        backoff.reset()
        toldReasons = []
        inbox.count { $0.failure = nil }
        tell(Event(handlerRecovered: name))
    }

    /// Takes note that nothing can be sent, tells each reason once, and waits until it is time for another attempt.
    private func lose(_ failure: NMEAFailure) {
        let now = SystemClock.monotonic()
        if failure.isPortTaken, now - startTime < times.grace {
            return pause(until: Units.later(now, by: times.gracePause))
        }
        inbox.count { $0.failure = failure.reason }
        if toldReasons.count < Self.mostReasons, toldReasons.insert(failure.reason).inserted {
            hasFailed = true
            tell(Event(handlerFailed: name, because: failure.reason))
        }
        pause(until: Units.later(now, by: backoff.next(using: &generator)))
    }

    private func pause(until end: Int64) {
        while !inbox.isStopping {
            let left = SystemClock.milliseconds(until: end)
            guard left > 0 else { return }
            inbox.waker.wait(timeoutMilliseconds: left)
        }
    }
}
