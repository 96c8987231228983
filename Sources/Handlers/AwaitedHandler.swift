package import Binnacle
package import LinuxSystem

/// A threaded handler in a replay: the replay waits for it, and no event is lost.
///
/// The handler's reports are written to the log as text.
package final class AwaitedHandler: EventHandler {
    private let plan: HandlerPlan
    private let context: HandlerContext
    private let handler: ThreadedHandler
    private let reports: Mailbox<Event>
    private var newReports: [Event] = []
    private var lostCount = 0
    /// How many events came after the replay was cancelled.
    private var cancelledCount = 0
    /// The last line in the log, and the number of repetitions of its report.
    private var lastLine = ""
    private var repeatCount = 0

    /// The time without progress after which the remaining events are abandoned.
    private static let patience: Duration = .seconds(15)

    /// Starts the handler's thread.
    package init(_ plan: HandlerPlan, _ context: HandlerContext) throws(SystemError) {
        let reports = Mailbox<Event>(waker: try Waker())
        self.plan = plan
        self.context = context
        self.reports = reports
        handler = try ThreadedHandler(name: context.name, plan, isReplay: true, report: { reports.post($0) })
    }

    /// Passes the event on, and waits as the plan requires.
    package func handle(_ event: Event) {
        switch plan.pace {
        case .eachEvent:
            guard !context.isCancelled() else {
                cancelledCount += 1
                return
            }
            context.willRun()
            handler.handle(event)
            // Without a thread the event waits for the next one, which tries again to start it.
            while !handler.awaitsEvent, !handler.waitUntilIdle(milliseconds: 100) {
                guard context.isCancelled() else { continue }
                handler.end(within: .zero, because: "the replay was cancelled")
                _ = handler.waitForEnd(until: .max)
            }
        case .room:
            if !wait(until: { handler.offer(event) }) { lostCount += 1 }
        case .none: handler.handle(event)
        }
        logReports()
    }

    /// Waits until all events are finished, as long as there is progress.
    package func finish() {
        var duration = Duration.zero
        if case .room = plan.pace {
            _ = wait { handler.unfinishedCount == 0 }
            duration = .seconds(1)
        }
        handler.end(within: duration)
        lostCount += handler.waitForEnd(until: SystemClock.monotonic() + 1_500_000_000)
        logReports()
        let word: String? = if case .room(let done) = plan.pace { done } else { handler.hasNoThread ? "handled" : nil }
        if lostCount > 0, let word { context.fail("\(context.name): \(lostCount) events were not \(word)") }
        logRepeats()
        guard cancelledCount > 0 else { return }
        context.log.write("\(context.name): \(plan.label)\(Self.leftOut(cancelledCount))the replay was cancelled")
    }

    /// Waits for a condition, as long as the handler keeps finishing events.
    private func wait(until isTrue: () -> Bool) -> Bool {
        var count = handler.doneCount
        var end = ContinuousClock.now + Self.patience
        while !isTrue() {
            // After one timeout the following events are not waited for.
            guard lostCount == 0, !context.isCancelled(), ContinuousClock.now < end else { return false }
            _ = handler.waitUntilIdle(milliseconds: 10)
            if handler.doneCount != count {
                count = handler.doneCount
                end = ContinuousClock.now + Self.patience
            }
        }
        return true
    }

    private func logReports() {
        reports.removeAll(into: &newReports)
        for report in newReports {
            guard let line = Self.line(report) else { continue }
            // For how many events there was no thread is logged at the end.
            if handler.hasNoThread, line == lastLine { continue }
            guard line != lastLine || !Self.isOfProgram(report) else {
                repeatCount += 1
                continue
            }
            logRepeats()
            lastLine = line
            context.log.write("\(context.name): \(plan.label)\(line)")
        }
    }

    /// Whether a report is about a program that could not be run, which is the same for every event.
    private static func isOfProgram(_ report: Event) -> Bool {
        report.kind == .commandFailed && report.figure(.status) == nil && report.figure(.signal) == nil
    }

    /// Logs the repetitions of a report: a program that is missing for thousands of events is one line.
    private func logRepeats() {
        guard repeatCount > 0 else { return }
        context.log.write("\(context.name): \(plan.label)the same for \(repeatCount) more events")
        repeatCount = 0
    }

    private static func leftOut(_ count: Int) -> String {
        "\(count) \(count == 1 ? "event" : "events") left out, because "
    }

    private static func line(_ report: Event) -> String? {
        var parts: [String] = []
        if let reason = report.figure(.reason) {
            let count = report.kind == .eventsDropped ? report.figure(.count) : nil
            parts.append((count.flatMap(\.double).map { leftOut(Int($0)) } ?? "") + "\(reason)")
        }
        if let delay = report.figure(.retry) { parts.append("tried again in \(delay) s") }
        if let output = report.figure(.output) { parts.append("output: \(output)") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
