public import Binnacle
package import LinuxSystem
import Synchronization

/// Gives a handler a thread of its own, so that detection never waits for it.
///
/// Events wait in a bounded queue. When it is full the newest is dropped and counted, and a report says how many: at once
/// for the first, then once a second, and when there is room again.
public final class QueuedHandler: EventHandler, Sendable {
    /// The most events that wait.
    public static let capacity = 4096

    private struct Drops {
        var total = 0
        var untold = 0
        var toldNanoseconds: Int64 = .min
    }

    private let name: String
    private let queue: WorkQueue<Event>
    private let report: @Sendable (Event) -> Void
    private let drops = Mutex(Drops())
    private static let reportIntervalNanoseconds: Int64 = 1_000_000_000

    /// Starts the thread and makes the handler there.
    ///
    /// - Parameters:
    ///   - name: What reports call it.
    ///   - capacity: The most events that wait.
    ///   - report: Takes the reports, on any thread.
    ///   - make: Makes the handler, and what brings to its end what the handler has begun, when no event waits.
    /// - Throws: ``SystemError`` when there is no thread left.
    package init(
        name: String, capacity: Int = QueuedHandler.capacity, report: @escaping @Sendable (Event) -> Void,
        make: @escaping @Sendable () -> (handler: any EventHandler, settle: () -> Void)
    ) throws(SystemError) {
        self.name = name
        self.report = report
        queue = try WorkQueue(capacity: capacity) {
            let (handler, settle) = make()
            return { events in
                for event in events { handler.handle(event) }
                settle()
            }
        }
    }

    /// How many events were dropped so far.
    public var droppedCount: Int { drops.withLock { $0.total } }

    /// Puts the event into the queue.
    public func handle(_ event: Event) {
        let isTaken = queue.put(event)
        let now = SystemClock.monotonic()
        let untold = drops.withLock { drops -> Int in
            // That a report could not be reported is no news: it would be one for ever.
            if !isTaken, !EventKind.reports.contains(event.kind) {
                drops.total += 1
                drops.untold += 1
            }
            guard drops.untold > 0 else { return 0 }
            let isDue = drops.toldNanoseconds == .min || now - drops.toldNanoseconds >= Self.reportIntervalNanoseconds
            guard isDue || isTaken else { return 0 }
            defer {
                drops.untold = 0
                drops.toldNanoseconds = isTaken ? .min : now
            }
            return drops.untold
        }
        if untold > 0 { tell(untold, event) }
    }

    private func tell(_ count: Int, _ event: Event) {
        var told = Event(
            kind: .eventsDropped, timeNanoseconds: event.timeNanoseconds,
            figures: [
                Figure(.handler, .text(name)), Figure(.count, .integer(Int64(count))),
                Figure(.reason, .text("more than \(QueuedHandler.capacity) events wait for it")),
            ])
        told.isSimulated = event.isSimulated
        report(told)
    }
}

extension QueuedHandler: ThreadedHandler {
    /// Takes no more events; those that wait are handled.
    package func end(within duration: Duration) {
        queue.finish()
    }

    /// Waits until everything is handled, after ``end(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that nobody has begun with.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        queue.waitForEnd(until: deadlineNanoseconds) ? 0 : max(1, queue.waitingCount)
    }

    /// Whether the thread has ended.
    package var hasEnded: Bool { queue.hasEnded }
}
