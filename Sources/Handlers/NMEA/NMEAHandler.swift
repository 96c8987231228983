package import Binnacle
package import LinuxSystem

/// Sends headings to plotters as NMEA 0183: the face of a ``NMEASender``, which works on a thread of its own.
///
/// Events tell a heading when it has changed, plotters want it regularly: so the latest one is sent at an interval for as
/// long as it is valid. While there is none nothing is sent, not even sentences with empty fields: there are receivers
/// that read an empty field as 0, and all of them notice silence.
package final class NMEAHandler: EventHandler, Sendable {
    private let inbox: NMEAInbox

    /// The kinds of event that it has to be given; all of one detector.
    package static let kinds: [EventKind] = [
        .heading, .headingLost, .headingFound, .detectorFailed, .detectorUnavailable,
    ]

    /// The most connections that it has at a time.
    package static let connectionLimit = NMEAServer.mostClients

    /// Starts the thread, which listens or makes its socket at once.
    ///
    /// - Parameters:
    ///   - name: What reports call the handler.
    ///   - settings: What is sent, and where.
    ///   - times: How long it waits for what.
    ///   - report: Takes the reports, on any thread: `handler.failed` with each reason once, `handler.recovered` when it
    ///     has worked again for some seconds.
    /// - Throws: ``SystemError`` when there is no thread or no descriptor left.
    package init(
        name: String, settings: NMEASettings, times: NMEATimes = NMEATimes(),
        report: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) {
        let inbox = try NMEAInbox()
        self.inbox = inbox
        try WorkerThread.start {
            NMEASender(name: name, settings: settings, times: times, inbox: inbox, report: report).run()
        }
    }

    deinit {
        end(within: .zero)
    }

    /// Takes note of a heading, or that there is none any more.
    package func handle(_ event: Event) {
        switch event.kind {
        case .heading: inbox.put(NMEAHeading(event), of: event.detector)
        case .headingFound:
            // It may tell only that there will be one.
            if event.figure(.heading) != nil { inbox.put(NMEAHeading(event), of: event.detector) }
        case .headingLost, .detectorFailed, .detectorUnavailable: inbox.put(nil, of: event.detector)
        default: break
        }
    }

    /// Forgets the heading, unless it is of one of these detectors: of one that has gone nothing more will be heard.
    package func forgetHeading(except detectors: Set<String>) {
        inbox.forget(except: detectors)
    }

    /// Begins with the heading that another one has.
    package func takeHeading(of other: NMEAHandler) {
        let (heading, detector) = other.inbox.latest
        inbox.put(heading, of: detector)
    }

    /// How it is doing.
    package var statistics: NMEAStatistics { inbox.statistics }
}

extension NMEAHandler: ThreadedHandler {
    /// Sends no more; connections are closed at once.
    package func end(within duration: Duration) {
        inbox.requestStop()
    }

    /// Waits for the end, after ``end(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: 0, because a heading of a moment ago is no loss.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        while !inbox.isEnded {
            // The thread may wait for a name server that does not answer.
            let left = SystemClock.milliseconds(until: deadlineNanoseconds, atMost: 1000)
            guard left > 0 else { break }
            inbox.waitForChange(timeoutMilliseconds: left)
        }
        return 0
    }

    /// Whether the thread has ended.
    package var hasEnded: Bool { inbox.isEnded }

    /// Nothing waits: a heading takes the place of the one before.
    package var unfinishedCount: Int { 0 }
}
