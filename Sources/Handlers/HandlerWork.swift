package import Binnacle
import Glibc
package import LinuxSystem

/// What a handler's section asks to be done with its events.
package enum HandlerWork: Sendable {
    /// Each event is handled at once, by what is made here; `nil` when there is nothing to do in a context.
    ///
    /// A live run calls it on a thread with a queue, a replay between two deliveries of samples.
    case immediate(@Sendable (HandlerContext) -> (any EventHandler)?)
    /// A worker with a thread of its own handles the events, in a live run and in a replay.
    case threaded(HandlerPlan)

    /// The events that wait for a handler, at most.
    package static let usualCapacity = 4096
}

/// A worker with a thread of its own, and what the thread that gives it events has to know.
package struct HandlerPlan: Sendable {
    /// What a replay waits for.
    package enum Pace: Sendable {
        /// Until each event is done with.
        case eachEvent
        /// For room, and in the end until all events are done with; a count of the others is told with this word.
        case room(done: String)
        /// For nothing.
        case none
    }

    /// Runs on the thread until the port is told to stop.
    package var work: @Sendable (HandlerPort) -> Void
    /// Whether the thread starts with the first event, because before it there is nothing to do.
    package var startsWithEvent = false
    /// The events that wait or are worked on, at most.
    package var capacity = HandlerWork.usualCapacity
    /// Why an event without room is dropped; `nil` says it with the capacity.
    package var dropReason: String?
    /// The unacknowledged deliveries of a store, at most; `nil` for a worker that acknowledges none.
    package var deliveryLimit: Int?
    /// What takes the events instead of a queue, where only the latest counts.
    package var latest: (any LatestState)?
    /// What `binnacle status` tells of it, as a JSON object.
    package var status: (@Sendable () -> String)?
    /// What a replay waits for.
    package var pace = Pace.none
    /// What stands behind the handler's name in the lines of a replay.
    package var label = ""

    /// Creates a plan.
    package init(work: @escaping @Sendable (HandlerPort) -> Void) {
        self.work = work
    }
}

/// The latest of what events tell, for a worker that needs nothing else of them: so nothing waits, and nothing is dropped.
package protocol LatestState: AnyObject, Sendable {
    /// Takes in what an event tells; called on the thread of the events.
    ///
    /// - Returns: Whether the worker has to be woken.
    func take(_ event: Event) -> Bool

    /// Begins with what a handler knows whose place this one takes in a reload.
    func inherit(from other: any LatestState)

    /// Forgets what came from other detectors than these: nothing more will be heard of them.
    func detectorsChanged(to detectors: Set<String>)
}

extension HandlerPlan {
    /// A worker that handles all waiting events at a time, until it is told to stop and none is left.
    ///
    /// - Parameter start: Called on the thread, once; makes the handler, and what is called after each batch.
    /// - Returns: The plan.
    package static func batches(
        start: @escaping @Sendable () -> (handler: any EventHandler, afterBatch: () -> Void)
    ) -> HandlerPlan {
        HandlerPlan { port in
            let (handler, afterBatch) = start()
            port.courier.runBatches { queued in
                for item in queued { handler.handle(item.event) }
                afterBatch()
                port.drops.tellRest()
            }
        }
    }
}

extension HandlerWork {
    /// The handler of a live run.
    ///
    /// - Parameters:
    ///   - name: The handler's name.
    ///   - report: Takes the events that tell of the handler itself, on any thread.
    ///   - acknowledge: Told of each delivery that the handler is done with, on any thread.
    /// - Returns: The handler, whose thread runs.
    /// - Throws: ``SystemError`` when there is no thread left.
    package func live(
        name: String, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) -> ThreadedHandler {
        let plan: HandlerPlan
        switch self {
        case .threaded(let threaded): plan = threaded
        case .immediate(let make):
            plan = .batches {
                let log = LineWriter(descriptor: STDERR_FILENO)
                let output = LineWriter(descriptor: STDOUT_FILENO)
                // Without the journal's socket its reader of standard error is still there.
                let journal = JournalSocket.isStandardError ? try? JournalSocket() : nil
                let handler = make(
                    HandlerContext(name: name, log: log, output: output, journal: journal, report: report))
                var hasFailed = false
                return (
                    handler ?? ClosureHandler { _ in },
                    {
                        log.flush()
                        output.flush()
                        guard !hasFailed else { return }
                        for (place, failure) in [("output", output.failure), ("error", log.failure)] {
                            guard let failure else { continue }
                            hasFailed = true
                            report(Event(handlerFailed: name, because: "standard \(place): \(failure.reason)"))
                        }
                    }
                )
            }
        }
        return try ThreadedHandler(name: name, plan, report: report, acknowledge: acknowledge)
    }

    /// The handler of a replay; `nil` when there is nothing for it to do there, or no thread, which the log tells.
    package func replayed(_ context: HandlerContext) -> (any EventHandler)? {
        switch self {
        case .immediate(let make): return make(context)
        case .threaded(let plan):
            do throws(SystemError) {
                return try AwaitedHandler(plan, context)
            } catch {
                context.log.write("\(context.name): \(error)")
                return nil
            }
        }
    }
}

/// Where a handler runs, as far as that differs between a replay and a live run.
package struct HandlerContext {
    /// The handler's name.
    package let name: String
    /// Where log handlers write, and others say what went wrong.
    package let log: LineWriter
    /// Standard output; `nil` where it is taken, as in a replay, which writes every event to it.
    package let output: LineWriter?
    /// The journal, when it takes what is logged.
    package let journal: JournalSocket?
    /// Called before something slow is done about an event, so that what was written about it can be seen by then.
    package let willRun: () -> Void
    /// Asked while something slow is done; `true` gives it up.
    package let isCancelled: () -> Bool
    /// Takes the events that tell of the handler itself, on any thread.
    package let report: @Sendable (Event) -> Void

    /// Creates a context.
    package init(
        name: String, log: LineWriter, output: LineWriter? = nil, journal: JournalSocket? = nil,
        willRun: @escaping () -> Void = {},
        isCancelled: @escaping () -> Bool = { false }, report: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.name = name
        self.log = log
        self.output = output
        self.journal = journal
        self.willRun = willRun
        self.isCancelled = isCancelled
        self.report = report
    }
}
