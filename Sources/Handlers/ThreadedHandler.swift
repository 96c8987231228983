package import Binnacle
package import LinuxSystem
import Synchronization

/// An event that waits for a worker.
package struct QueuedEvent: Sendable {
    /// The event.
    package let event: Event
    /// What the store that keeps the event knows the delivery by; `nil` when none keeps it.
    package let ticket: Int64?
}

/// What a worker has to do with the rest of the program: where events come from, and who is told.
package final class HandlerPort: Sendable {
    /// The handler's name.
    package let name: String
    /// The queue, the request to stop, and what wakes the worker.
    package let courier: Courier<BoundedQueue<QueuedEvent>>
    /// Counts the events that there was no room for, and tells of them.
    package let drops: EventDrops
    /// Takes the events that tell of the handler itself.
    package let report: @Sendable (Event) -> Void
    private let acknowledge: @Sendable (_ ticket: Int64) -> Void
    private let hasOnlyCopies = Atomic(false)

    fileprivate init(
        name: String, _ plan: HandlerPlan, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) {
        // Reports that tell of no sample have the time of the telling.
        let report: @Sendable (Event) -> Void = { event in
            var event = event
            if event.timeNanoseconds == 0 { event.timeNanoseconds = SystemClock.monotonic() }
            report(event)
        }
        self.name = name
        courier = try Courier(BoundedQueue(capacity: plan.capacity))
        drops = EventDrops(
            handler: name, reason: plan.dropReason ?? "more than \(plan.capacity) events wait for it", report: report)
        self.report = report
        self.acknowledge = acknowledge
    }

    /// The request to stop; `nil` while there is none.
    package var stop: StopPlan? { courier.stop }

    /// Whether a worker that ended now would lose events: those that no store keeps.
    package var wouldLose: Bool {
        hasOnlyCopies.load(ordering: .relaxed) && courier.withContent { $0.unfinishedCount > 0 }
    }

    /// Whether no event waits.
    package var isEmpty: Bool { courier.withContent { $0.isEmpty } }

    /// Takes the events that have waited longest; ``finish(_:isAcknowledged:)`` is called for each.
    package func take(atMost count: Int) -> [QueuedEvent] {
        guard count > 0 else { return [] }
        return courier.withContent { queue in
            var items: [QueuedEvent] = []
            while items.count < count, let item = queue.popFirst() { items.append(item) }
            return items
        }
    }

    /// Is done with an event.
    ///
    /// - Parameters:
    ///   - item: The event.
    ///   - isAcknowledged: Whether the store may forget it.
    package func finish(_ item: QueuedEvent, isAcknowledged: Bool = true) {
        courier.finish()
        // Last, because another delivery may follow at once, and has to find room.
        if isAcknowledged, let ticket = item.ticket { acknowledge(ticket) }
    }

    /// Counts events as given up that are done with in no other way.
    package func abandon(_ items: [QueuedEvent]) {
        courier.withContent { queue in
            queue.abandonedCount += items.count
        }
    }

    fileprivate func put(_ event: Event) -> CourierAnswer {
        hasOnlyCopies.store(true, ordering: .relaxed)
        return courier.put(QueuedEvent(event: event, ticket: nil))
    }
}

/// A handler whose work is done by a thread of its own: the thread that calls it never waits.
///
/// Events without room are dropped, newest first, counted and reported. A store gives deliveries instead, and keeps each
/// until it is acknowledged: those that are unacknowledged at the end are delivered again, to the next handler of the name.
package final class ThreadedHandler: EventHandler, Sendable {
    private let plan: HandlerPlan
    private let port: HandlerPort

    /// Starts the thread, unless the plan has it start with the first event.
    ///
    /// - Parameters:
    ///   - name: What reports call the handler.
    ///   - plan: What it does.
    ///   - report: Takes the events that tell of the handler itself, on any thread; it must not wait for the thread of the
    ///     events.
    ///   - acknowledge: Told of each delivery that the handler is done with, on any thread.
    /// - Throws: ``SystemError`` when there is no descriptor or no thread left.
    package init(
        name: String, _ plan: HandlerPlan, report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void = { _ in }
    ) throws(SystemError) {
        self.plan = plan
        let port = try HandlerPort(name: name, plan, report: report, acknowledge: acknowledge)
        self.port = port
        let work: @Sendable () -> Void = {
            plan.work(port)
            // Before the end: a thread that waited for it expects no further report.
            port.drops.tellRest()
            port.courier.withContent { $0.abandonedCount += $0.unfinishedCount }
        }
        if plan.startsWithEvent {
            port.courier.startWithFirstItem(work) { error in
                let items = port.take(atMost: .max)
                port.abandon(items.filter { $0.ticket == nil })
                for item in items { port.finish(item, isAcknowledged: false) }
                port.report(Event(handlerFailed: name, because: "\(error)"))
            }
        } else {
            try port.courier.start(work)
        }
    }

    deinit {
        port.courier.requestStop(StopPlan(within: 0, because: "its handler is gone"))
    }

    /// Gives the worker an event, or counts it as dropped when there is no room.
    package func handle(_ event: Event) {
        if offer(event) { return }
        // A report that could not be reported would be reported for ever.
        guard event.kind.role != .report, port.drops.add(event) else { return }
        // The worker tells of this one when its time has come.
        port.courier.waker.wake()
    }

    /// Gives the worker an event, if there is room for it.
    ///
    /// - Returns: Whether there was, or the handler was told to stop.
    func offer(_ event: Event) -> Bool {
        if let latest = plan.latest {
            if latest.take(event) { port.courier.waker.wake() }
            return true
        }
        switch port.put(event) {
        case .taken: return true
        case .full: return false
        case .stopped:
            port.courier.withContent { $0.abandonedCount += 1 }
            return true
        }
    }

    /// The unacknowledged deliveries, at most; `nil` for a handler whose events no store keeps.
    package var deliveryLimit: Int? { plan.deliveryLimit }

    /// Gives the worker deliveries of a store, in their order, no more than ``deliveryLimit``; never waits.
    package func deliver(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            _ = port.courier.put(QueuedEvent(event: delivery.event, ticket: delivery.ticket), isBounded: false)
        }
    }

    /// What takes the events instead of a queue.
    package var latest: (any LatestState)? { plan.latest }

    /// What `binnacle status` tells of it, as a JSON object; `nil` for nothing.
    package var status: String? { plan.status?() }

    /// How many events were dropped so far.
    package var droppedCount: Int { port.drops.totalCount }

    /// How many events are done with so far.
    var doneCount: Int { port.courier.withContent { $0.doneCount } }

    /// How many events it has and is not known to be done with.
    package var unfinishedCount: Int { port.courier.withContent { $0.unfinishedCount } }

    /// Waits until it is done with all events, or has ended.
    ///
    /// - Returns: Whether that is so.
    package func waitUntilIdle(milliseconds: Int32) -> Bool { port.courier.waitUntilIdle(milliseconds: milliseconds) }

    // MARK: - The end

    /// Takes no more events and works off those that it has; returns at once.
    ///
    /// - Parameters:
    ///   - duration: How long that may take; what is not done by then is given up.
    ///   - reason: Why, for reports, as a part of a sentence.
    package func end(within duration: Duration, because reason: String = "Binnacle stops") {
        port.courier.requestStop(StopPlan(within: Units.nanoseconds(duration), because: reason))
    }

    /// Waits for the end, after ``end(within:because:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that are not known to be handled, with those that were dropped and not told of.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        let hasEnded = port.courier.waitForEnd(until: deadlineNanoseconds)
        let count = port.courier.withContent { $0.abandonedCount + (hasEnded ? 0 : $0.unfinishedCount) }
        return count + port.drops.untoldCount
    }

    /// Whether the thread has ended.
    package var hasEnded: Bool { port.courier.hasEnded }
}
