package import Binnacle
package import LinuxSystem
import Synchronization

/// A threaded handler in a replay, which waits for it: a replay has no clock to miss, and loses no event.
///
/// What the handler reports is written to the log, in lines for people.
package final class AwaitedHandler: EventHandler {
    private final class Reports: Sendable {
        let events = Mutex<[Event]>([])
    }

    private let plan: HandlerPlan
    private let context: HandlerContext
    private let handler: ThreadedHandler
    private let reports: Reports
    private var lostCount = 0

    /// How long a handler may make no progress before the rest is given up.
    private static let patience: Duration = .seconds(15)

    /// Starts the handler's thread.
    ///
    /// - Throws: ``SystemError`` when there is no thread left.
    package init(_ plan: HandlerPlan, _ context: HandlerContext) throws(SystemError) {
        let reports = Reports()
        self.plan = plan
        self.context = context
        self.reports = reports
        handler = try ThreadedHandler(
            name: context.name, plan, report: { event in reports.events.withLock { $0.append(event) } })
    }

    /// Has the event handled, and waits as the plan says.
    package func handle(_ event: Event) {
        switch plan.pace {
        case .eachEvent:
            guard !context.isCancelled() else { return }
            context.willRun()
            handler.handle(event)
            while !handler.waitUntilIdle(milliseconds: 100) {
                guard context.isCancelled() else { continue }
                handler.end(within: .zero, because: "the replay was cancelled")
                _ = handler.waitForEnd(until: .max)
            }
        case .room:
            if !wait(until: { handler.offer(event) }) { lostCount += 1 }
        case .none: handler.handle(event)
        }
        tell()
    }

    /// Waits until the handler is done with all events, as long as there is progress.
    package func finish() {
        var duration = Duration.zero
        if case .room = plan.pace {
            _ = wait { handler.unfinishedCount == 0 }
            duration = .seconds(1)
        }
        handler.end(within: duration)
        lostCount += handler.waitForEnd(until: SystemClock.monotonic() + 1_500_000_000)
        tell()
        if lostCount > 0, case .room(let done) = plan.pace {
            context.log.write("\(context.name): \(lostCount) events were not \(done)")
        }
    }

    /// Waits for a condition, as long as the handler is done with an event now and then.
    private func wait(until isTrue: () -> Bool) -> Bool {
        var count = handler.doneCount
        var end = ContinuousClock.now + Self.patience
        while !isTrue() {
            // After waiting in vain once it does not wait for each event.
            guard lostCount == 0, !context.isCancelled(), ContinuousClock.now < end else { return false }
            _ = handler.waitUntilIdle(milliseconds: 10)
            if handler.doneCount != count {
                count = handler.doneCount
                end = ContinuousClock.now + Self.patience
            }
        }
        return true
    }

    private func tell() {
        let told = reports.events.withLock { events in
            defer { events = [] }
            return events
        }
        for report in told {
            if let line = Self.line(report) { context.log.write("\(context.name): \(plan.label)\(line)") }
        }
    }

    /// What a report says to a person; `nil` when there is nothing to say.
    private static func line(_ report: Event) -> String? {
        var parts: [String] = []
        if let reason = report.figure(.reason) {
            parts.append(report.kind == .eventsDropped ? "not run, because \(reason)" : "\(reason)")
        }
        if let delay = report.figure(.retry) { parts.append("tried again in \(delay) s") }
        if let output = report.figure(.output) { parts.append("output: \(output)") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
