package import Binnacle
package import LinuxSystem
import Synchronization

/// A worker's connection to the rest of the program.
package final class HandlerPort: Sendable {
    package let name: String
    /// The queue, the request to stop, and the worker's waker.
    package let courier: Courier<BoundedQueue<Delivery>>
    package let drops: EventDrops
    package let report: @Sendable (Event) -> Void
    /// Whether this is a replay, which waits for each event, and in which faults are not repaired meanwhile.
    package let isReplay: Bool
    /// The stored events; `nil` without a store.
    package let history: (any EventHistory)?
    private let acknowledge: @Sendable (_ ticket: Int64) -> Void
    private let hasOnlyCopies = Atomic(false)
    /// Whether a failure was reported that has not ended, also of the handler that this one replaces.
    fileprivate let hasFailed = Atomic(false)
    fileprivate let isArmed = Atomic(true)
    fileprivate let disarmCount = Atomic(0)
    /// The number of the first event behind the last time that the handler was disarmed.
    fileprivate let firstSequence = Atomic<UInt64>(0)
    /// The number of events that waited when the handler was disarmed, and that a store had for it since.
    fileprivate let leftOutCount = Atomic(0)
    /// Whether the worker's thread could not be started.
    fileprivate let hasNoThread = Atomic(false)

    fileprivate init(
        name: String, _ plan: HandlerPlan, isReplay: Bool, history: (any EventHistory)?,
        report: @escaping @Sendable (Event) -> Void, acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) {
        self.history = history
        // A report about no sample has the time of the report.
        let report: @Sendable (Event) -> Void = { event in
            var event = event
            if event.timeNanoseconds == 0 { event.timeNanoseconds = SystemClock.monotonic() }
            report(event)
        }
        self.name = name
        self.isReplay = isReplay
        courier = try Courier(BoundedQueue(capacity: plan.capacity))
        drops = EventDrops(
            handler: name, reason: plan.dropReason ?? "more than \(plan.capacity) events wait for it", report: report)
        self.report = report
        self.acknowledge = acknowledge
    }

    package var stop: StopPlan? { courier.stop }

    /// Whether a failure was reported that has not ended, also of the handler that this one replaces.
    package var isFailing: Bool { hasFailed.load(ordering: .relaxed) }

    /// Reports a failure, which lasts until ``succeed()``.
    package func fail(_ reason: String) {
        hasFailed.store(true, ordering: .relaxed)
        report(Event(handlerFailed: name, because: reason))
    }

    /// Reports the end of a failure, if there is one.
    package func succeed() {
        if hasFailed.exchange(false, ordering: .relaxed) { report(Event(handlerRecovered: name)) }
    }

    /// Whether an end now would lose events that no store keeps.
    package var wouldLose: Bool {
        hasOnlyCopies.load(ordering: .relaxed) && courier.withContent { $0.unfinishedCount > 0 }
    }

    /// Whether there is no attempt at a time on CLOCK_MONOTONIC, because of a request to stop.
    func isOver(at time: Int64) -> Bool { stop.map { !wouldLose || time >= $0.endTime } ?? false }

    package var isEmpty: Bool { courier.withContent { $0.isEmpty } }

    /// Reports drops that are due; returns the longest wait for the next, in milliseconds, or −1 for an infinite one.
    package func reportDrops() -> Int32 {
        guard let pause = drops.reportDue(hasRoom: courier.withContent { $0.hasRoom }) else { return -1 }
        return SystemClock.milliseconds(until: Units.nanoseconds(pause), from: 0)
    }

    /// Dequeues the oldest events; ``finish(_:isAcknowledged:)`` has to be called for each.
    package func removeFirst(atMost count: Int) -> [Delivery] {
        guard count > 0 else { return [] }
        return courier.withContent { queue in
            var items: [Delivery] = []
            while items.count < count, var item = queue.popFirst() {
                item.disarmCount = disarmCount.load(ordering: .sequentiallyConsistent)
                items.append(item)
            }
            return items
        }
    }

    /// Finishes an event; with `isAcknowledged` the store may delete it.
    package func finish(_ item: Delivery, isAcknowledged: Bool = true) {
        courier.finish()
        // Last, because another delivery may follow at once and needs the capacity.
        if isAcknowledged, item.isKept { acknowledge(item.ticket) }
    }

    /// Removes all but events about arming from a disarmed handler's queue; a store may delete the others.
    fileprivate func leaveOutWaiting() {
        leaveOut(courier.withContent { $0.removeWaiting(where: Self.isForArmed) })
    }

    /// Whether a disarmed handler does not get an event.
    fileprivate static func isForArmed(_ item: Delivery) -> Bool { !item.event.kind.isArming }

    /// Whether a handler that is disarmed, or was since the worker took an event, does not try again to act on it, which is counted; the
    /// caller finishes it.
    package func leavesOut(_ item: Delivery) -> Bool {
        let isOld = item.disarmCount != disarmCount.load(ordering: .sequentiallyConsistent)
        guard isOld || !isArmed.load(ordering: .sequentiallyConsistent), Self.isForArmed(item) else { return false }
        leftOutCount.add(1, ordering: .relaxed)
        return true
    }

    fileprivate func leaveOut(_ items: [Delivery]) {
        leftOutCount.add(items.count, ordering: .relaxed)
        for item in items where item.isKept { acknowledge(item.ticket) }
    }

    package func abandon(_ items: [Delivery]) {
        courier.withContent { queue in
            queue.abandonedCount += items.count
        }
    }

    fileprivate func put(_ event: Event) -> CourierAnswer {
        hasOnlyCopies.store(true, ordering: .relaxed)
        return courier.put(Delivery(event: event))
    }
}

/// A handler with its own thread; a caller never waits.
///
/// Events beyond the capacity are dropped, the newest first, counted and reported. A store passes deliveries instead and keeps
/// each until it is acknowledged; the handler's successor gets the others.
package final class ThreadedHandler: EventHandler, Sendable {
    package let plan: HandlerPlan
    private let port: HandlerPort

    /// Starts the thread, unless the plan starts it with the first event.
    ///
    /// `report` receives the events about the handler, and `acknowledge` the ticket of each finished delivery, on any thread;
    /// they must not wait for the event thread.
    package init(
        name: String, _ plan: HandlerPlan, isReplay: Bool = false, history: (any EventHistory)? = nil,
        report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void = { _ in }
    ) throws(SystemError) {
        self.plan = plan
        let port = try HandlerPort(
            name: name, plan, isReplay: isReplay, history: history, report: report, acknowledge: acknowledge)
        self.port = port
        let work: @Sendable () -> Void = {
            if port.hasNoThread.exchange(false, ordering: .relaxed) { port.succeed() }
            plan.work(port)
            // Before the end, after which no report is expected.
            port.drops.reportRest()
            port.courier.withContent { $0.abandonedCount += $0.unfinishedCount }
        }
        if plan.startsWithEvent {
            port.courier.startWithFirstItem(work) { error in
                // The events wait for the next one, which tries again.
                port.hasNoThread.store(true, ordering: .relaxed)
                port.fail("\(error)")
            }
        } else {
            try port.courier.start(work)
        }
    }

    deinit {
        port.courier.requestStop(StopPlan(within: 0, because: "its handler is gone"))
    }

    /// Passes an event to the worker, or counts it as dropped when the queue is full.
    package func handle(_ event: Event) {
        if offer(event) { return }
        kept?.didDrop(event)
        // The report of a dropped report might be dropped as well, without end.
        guard event.kind.role != .report, port.drops.add(event) else { return }
        // The worker reports it when that is due.
        port.courier.waker.wake()
    }

    /// Passes an event to the worker; `false` when the queue is full.
    package func offer(_ event: Event) -> Bool {
        if let latest = plan.latest {
            if latest.apply(event) { port.courier.waker.wake() }
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

    /// Passes up to ``HandlerPlan/deliveryLimit`` unacknowledged deliveries of a store to the worker, in order.
    package func deliver(_ deliveries: [Delivery]) {
        // An event may have waited in the store when the handler was disarmed, and come after it is armed again.
        let first = isArmed ? port.firstSequence.load(ordering: .sequentiallyConsistent) : .max
        func isLeftOut(_ item: Delivery) -> Bool { item.event.sequence < first && HandlerPort.isForArmed(item) }
        port.leaveOut(deliveries.filter(isLeftOut))
        for delivery in deliveries where !isLeftOut(delivery) {
            _ = port.courier.put(delivery, isBounded: false)
        }
        // It may have been disarmed meanwhile.
        if !isArmed { port.leaveOutWaiting() }
    }

    /// Whether the worker gets events other than those about arming.
    ///
    /// When it is disarmed, what waits is left out, also for another attempt; an event that is being handled goes on.
    package var isArmed: Bool {
        get { port.isArmed.load(ordering: .sequentiallyConsistent) }
        set {
            port.isArmed.store(newValue, ordering: .sequentiallyConsistent)
            guard !newValue else { return }
            port.disarmCount.add(1, ordering: .sequentiallyConsistent)
            port.leaveOutWaiting()
            // It leaves out what it would try again.
            port.courier.waker.wake()
        }
    }

    /// Leaves out what a store has for the handler up to an event, also once it is armed again; events about arming still come.
    package func leaveOut(through sequence: UInt64) {
        port.firstSequence.store(sequence + 1, ordering: .sequentiallyConsistent)
    }

    /// The number of events that were left out because the handler is disarmed, of those that had reached its queue or the store.
    package var leftOutCount: Int { port.leftOutCount.load(ordering: .relaxed) }

    private var kept: (any KeptState)? { plan.kept ?? plan.latest }

    /// Starts with what the handler knows that this one replaces, and has the worker see it.
    package func inherit(from other: ThreadedHandler) {
        port.firstSequence.store(
            other.port.firstSequence.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
        guard let value = other.kept, let kept else { return }
        kept.inherit(from: value)
        port.courier.waker.wake()
    }

    /// Makes the first success end a failure of the handler that this one replaces.
    package func inheritFailure() {
        port.hasFailed.store(true, ordering: .relaxed)
        port.courier.waker.wake()
    }

    /// Clears what a configuration ends, and has the worker see it.
    package func configurationDidChange(_ change: HandledChange) {
        guard let kept else { return }
        kept.configurationDidChange(change)
        port.courier.waker.wake()
    }

    /// The number of dropped events so far.
    package var droppedCount: Int { port.drops.totalCount }

    package var doneCount: Int { port.courier.withContent { $0.doneCount } }

    /// Whether the events so far wait for the next one, because no thread could be started for them.
    var awaitsEvent: Bool { port.courier.awaitsItem }

    /// Whether no thread that was started after a failure has run yet.
    var hasNoThread: Bool { port.hasNoThread.load(ordering: .relaxed) }

    /// The number of events that are not finished.
    package var unfinishedCount: Int { port.courier.withContent { $0.unfinishedCount } }

    /// Waits until all events are finished or the thread has ended; `false` on timeout.
    package func waitUntilIdle(milliseconds: Int32) -> Bool { port.courier.waitUntilIdle(milliseconds: milliseconds) }

    // MARK: - The end

    /// Accepts no more events, and has the worker finish the others; returns at once.
    ///
    /// Events not finished in time are abandoned. `reason` is part of a sentence in reports.
    package func end(within duration: Duration, because reason: String = "Binnacle stops") {
        port.courier.requestStop(StopPlan(within: Units.nanoseconds(duration), because: reason))
    }

    /// Waits for the end, after ``end(within:because:)``.
    ///
    /// Returns the number of events that are not known to be handled, plus that of unreported dropped events.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        let hasEnded = port.courier.waitForEnd(until: deadlineNanoseconds)
        if !hasEnded { plan.abandon?() }
        // A worker counts itself what it leaves.
        let isCounted = hasEnded && !hasNoThread
        let count = port.courier.withContent { $0.abandonedCount + (isCounted ? 0 : $0.unfinishedCount) }
        return count + port.drops.untoldCount
    }

    package var hasEnded: Bool { port.courier.hasEnded }
}
