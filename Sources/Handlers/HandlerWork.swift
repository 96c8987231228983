package import Binnacle
import Glibc
package import LinuxSystem

/// The way in which an action handles its events.
package enum HandlerWork: Sendable {
    /// A handler is made here; `nil` when there is nothing to do in a context.
    ///
    /// A live run calls the handler on a thread with a queue, a replay directly.
    case immediate(@Sendable (HandlerContext) -> (any EventHandler)?)
    /// A worker has its own thread, in a live run and in a replay.
    case threaded(HandlerPlan)

    /// The maximum number of events that wait for a handler.
    package static let usualCapacity = 4096
}

/// A worker with its own thread, and its settings for a ``ThreadedHandler``.
package struct HandlerPlan: Sendable {
    /// The condition for which a replay waits.
    package enum Pace: Sendable {
        /// Each event is finished.
        case eachEvent
        /// The queue has space, and at the end all events are finished; the word completes "10 events were not …".
        case room(done: String)
        /// No condition.
        case none
    }

    /// Runs on the thread until the port is requested to stop.
    package var work: @Sendable (HandlerPort) -> Void
    /// Whether the thread starts with the first event, because there is nothing to do before.
    package var startsWithEvent = false
    /// The maximum number of events that are not finished.
    package var capacity = HandlerWork.usualCapacity
    /// The reason in the report of dropped events; by default the capacity.
    package var dropReason: String?
    /// The maximum number of a store's unacknowledged deliveries; `nil` for a worker that acknowledges none.
    package var deliveryLimit: Int?
    /// Replaces the queue if only the latest value matters.
    package var latest: (any LatestState)?
    /// What the worker goes on with after a reload; by default ``latest``.
    package var kept: (any KeptState)?
    /// The handler's JSON object in the output of `binnacle status`.
    package var status: (@Sendable () -> String)?
    /// The condition for which a replay waits.
    package var pace = Pace.none
    /// Ends what the thread has started, when the thread has not ended in time.
    package var abandon: (@Sendable () -> Void)?
    /// The text after the handler's name in a replay's messages.
    package var label = ""

    package init(work: @escaping @Sendable (HandlerPort) -> Void) {
        self.work = work
    }
}

/// What a worker knows of earlier events, shared with the event thread.
package protocol KeptState: AnyObject, Sendable {
    /// Starts with what the handler knows that this one replaces in a reload.
    func inherit(from other: any KeptState)

    /// Clears what a configuration ends, because no further event would change it.
    func configurationDidChange(_ change: HandledChange)

    /// Takes, on the event thread, an event that the handler does not get; does nothing by default.
    func didDrop(_ event: Event)
}

extension KeptState {
    package func didDrop(_ event: Event) {}
}

/// The latest value of events, for a worker that needs no queue.
package protocol LatestState: KeptState {
    /// Stores an event; returns `true` when the worker has to be woken.
    func apply(_ event: Event) -> Bool
}

extension HandlerPlan {
    /// A worker that handles all waiting events at a time, until it is requested to stop and none is left.
    ///
    /// `start` is called once on the thread: it makes the handler, a closure called after each batch, and one that waits for a
    /// waker.
    package static func batches(
        start:
            @escaping @Sendable (HandlerPort) -> (
                handler: any EventHandler, afterBatch: () -> Void, wait: (Waker, _ milliseconds: Int32) -> Void
            )
    ) -> HandlerPlan {
        HandlerPlan { port in
            let (handler, afterBatch, wait) = start(port)
            port.courier.runBatches(idle: { wait(port.courier.waker, port.reportDrops()) }) { queued in
                for item in queued { handler.handle(item.event) }
                afterBatch()
            }
        }
    }
}

/// The reports of a handler on its thread, besides acknowledgements.
package struct HandlerReports: Sendable {
    let report: @Sendable (Event) -> Void
    /// Handles the report that standard output has lost its reader; called once.
    let readerGone: @Sendable (Event) -> Void

    /// Creates the receivers of reports; both closures are called on any thread.
    package init(
        report: @escaping @Sendable (Event) -> Void, readerGone: @escaping @Sendable (Event) -> Void
    ) {
        self.report = report
        self.readerGone = readerGone
    }
}

/// Standard output or standard error of a handler: reports failures, and retries with each batch of lines.
private final class HandlerStream {
    let writer: LineWriter
    private let descriptor: Int32
    private let label: String
    private let port: HandlerPort
    private let readerGone: (Event) -> Void
    private(set) var isReaderGone = false
    private var toldLostCount = 0

    init(_ descriptor: Int32, _ label: String, _ port: HandlerPort, readerGone: @escaping (Event) -> Void) {
        writer = LineWriter(descriptor: descriptor)
        self.descriptor = descriptor
        self.label = label
        self.port = port
        self.readerGone = readerGone
    }

    /// Writes the lines, and returns why that failed, unless the reader is gone.
    func flush() -> String? {
        writer.flush()
        if let failure = writer.failure {
            // A reader that is gone does not return; a full disk may have space for the next batch.
            guard !failure.isReaderGone else {
                reportReaderGone(failure.reason)
                return nil
            }
            writer.retry()
            return "\(label): \(failure.reason)"
        }
        let lost = writer.lostLineCount - toldLostCount
        guard lost > 0 else { return nil }
        toldLostCount = writer.lostLineCount
        port.report(EventDrops.event(count: lost, handler: port.name, reason: "\(label) could not be written to"))
        return nil
    }

    private func reportReaderGone(_ reason: String) {
        guard !isReaderGone else { return }
        isReaderGone = true
        readerGone(Event(handlerFailed: port.name, because: "\(label): \(reason): its reader is gone"))
    }

    /// Waits for a waker and detects the loss of a reader, because the next event may be hours away.
    static func wait(_ waker: Waker, _ streams: [HandlerStream], milliseconds: Int32) {
        let watched = streams.filter { $0.writer.hasLines && !$0.isReaderGone }
        guard !watched.isEmpty else { return waker.wait(timeoutMilliseconds: milliseconds) }
        var entries = [pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0)]
        entries += watched.map { pollfd(fd: $0.descriptor, events: 0, revents: 0) }
        guard waitOnce(for: &entries, milliseconds: milliseconds) else { return }
        if entries[0].revents != 0 { waker.clear() }
        // Both are reported unconditionally: POLLERR by a pipe, POLLHUP by a socket.
        for (entry, stream) in zip(entries.dropFirst(), watched)
        where Int32(entry.revents) & (Int32(POLLERR) | Int32(POLLHUP)) != 0 {
            stream.reportReaderGone(SystemError(code: EPIPE, call: "write").reason)
        }
    }
}

extension HandlerWork {
    /// Starts the handler of a live run.
    package func live(
        name: String, reports: HandlerReports, history: (any EventHistory)? = nil,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) -> ThreadedHandler {
        let plan: HandlerPlan
        switch self {
        case .threaded(let threaded): plan = threaded
        case .immediate(let make):
            plan = .batches { port in
                let streams = [(STDERR_FILENO, "standard error"), (STDOUT_FILENO, "standard output")].map {
                    HandlerStream($0, $1, port, readerGone: reports.readerGone)
                }
                var failures = FailureReports(port)
                var reasons: [String] = []
                let handler = make(
                    HandlerContext(
                        name: name, log: streams[0].writer, output: streams[1].writer,
                        journal: JournalSocket.ofStandardError(), fail: { reasons.append($0) }))
                return (
                    handler ?? ClosureHandler { _ in },
                    {
                        reasons += streams.compactMap { $0.flush() }
                        for reason in reasons { failures.fail(reason) }
                        if reasons.isEmpty, !streams.contains(where: \.isReaderGone) { failures.recover() }
                        reasons = []
                    },
                    { HandlerStream.wait($0, streams, milliseconds: $1) }
                )
            }
        }
        return try ThreadedHandler(
            name: name, plan, history: history, report: reports.report, acknowledge: acknowledge)
    }

    /// The handler of a replay; `nil` when there is nothing to do.
    package func replayed(_ context: HandlerContext) -> (any EventHandler)? {
        switch self {
        case .immediate(let make): return make(context)
        case .threaded(let plan):
            do throws(SystemError) {
                return try AwaitedHandler(plan, context)
            } catch {
                context.log.write("\(context.name): \(error)")
                return UnstartedHandler(context)
            }
        }
    }
}

/// A handler of a replay whose thread could not be started: it counts what it does not handle.
private final class UnstartedHandler: EventHandler {
    private let context: HandlerContext
    private var count = 0

    init(_ context: HandlerContext) { self.context = context }

    func handle(_ event: Event) { count += 1 }

    func finish() {
        if count > 0 { context.fail("\(context.name): \(count) events were not handled") }
    }
}

/// The parts of a handler's surroundings that differ between a replay and a live run.
package struct HandlerContext {
    let name: String
    /// The output of log handlers, and of a replay's reports.
    let log: LineWriter
    /// Standard output; `nil` in a replay, which itself writes every event to it.
    let output: LineWriter?
    /// The journal; `nil` when standard error is not the journal.
    let journal: JournalSocket?
    /// Called before a slow action, so that the replay flushes its output.
    let willRun: () -> Void
    /// Polled during a slow action; `true` cancels it.
    let isCancelled: () -> Bool
    /// Reports why events could not be handled; no failure since the last events is a success.
    let fail: (String) -> Void

    package init(
        name: String, log: LineWriter, output: LineWriter? = nil, journal: JournalSocket? = nil,
        willRun: @escaping () -> Void = {}, isCancelled: @escaping () -> Bool = { false },
        fail: ((String) -> Void)? = nil
    ) {
        self.name = name
        self.log = log
        self.output = output
        self.journal = journal
        self.willRun = willRun
        self.isCancelled = isCancelled
        self.fail = fail ?? { log.write($0) }
    }
}
