package import Binnacle
package import LinuxSystem

/// Gives a handler a thread of its own, so that detection never waits for it.
///
/// Events wait in a bounded queue. When it is full the newest is dropped and counted, and a report says how many: at once
/// for the first, then once a second, and when there is room again.
package final class QueuedHandler: EventHandler, Sendable {
    /// The most events that wait.
    package static let capacity = 4096

    private let queue: WorkQueue<Event>
    private let drops: EventDrops

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
        let drops = EventDrops(handler: name, capacity: capacity, report: report)
        self.drops = drops
        queue = try WorkQueue(capacity: capacity) {
            let (handler, settle) = make()
            return { events in
                for event in events { handler.handle(event) }
                settle()
                drops.tellRest()
            }
        }
    }

    /// How many events were dropped so far.
    package var droppedCount: Int { drops.totalCount }

    /// Puts the event into the queue.
    package func handle(_ event: Event) {
        guard !queue.put(event) else { return }
        // That a report could not be reported is no news: it would be one for ever.
        if !EventKind.reports.contains(event.kind) { drops.add(event) }
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
    /// - Returns: The number of events that are not known to be handled, with those that were dropped and not told of.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        let isDone = queue.waitForEnd(until: deadlineNanoseconds)
        return drops.untoldCount + (isDone ? 0 : max(1, queue.unfinishedCount))
    }

    /// Whether the thread has ended.
    package var hasEnded: Bool { queue.hasEnded }

    /// How many events wait or are being handled.
    package var unfinishedCount: Int { queue.unfinishedCount }
}
