package import Binnacle
package import LinuxSystem

/// Publishes events to an MQTT broker: the face of a ``MQTTPublisher``, which works on a thread of its own.
///
/// Each event is one message with QoS 1, its payload the event's JSON. A broker that is away is tried again for as long as
/// it takes. Events that the broker did not acknowledge are sent again, so one may come twice; none overtakes another, but
/// for those that are sent again.
package final class MQTTHandler: EventHandler, Sendable {
    private let queue: MQTTQueue
    private let drops: EventDrops

    /// Starts the thread, which connects at once.
    ///
    /// - Parameters:
    ///   - name: What reports call the handler.
    ///   - settings: The broker.
    ///   - topic: The topic of an event.
    ///   - stateTopic: The topic of a sensor's state, which is retained; `nil` when no states are published.
    ///   - capacity: The most events that wait while no store keeps them.
    ///   - times: How long it waits for what.
    ///   - report: Takes the reports, on any thread: `handler.failed` with each reason once, `handler.recovered` when a
    ///     connection has lasted for some seconds, `events.dropped` when too many wait.
    ///   - acknowledge: Told of each delivery that the broker acknowledged or that was passed over.
    /// - Throws: ``SystemError`` when there is no thread left.
    package init(
        name: String, settings: MQTTSettings, topic: @escaping @Sendable (Event) -> String,
        stateTopic: (@Sendable (_ sensor: String) -> String)?, capacity: Int = QueuedHandler.capacity,
        times: MQTTTimes = MQTTTimes(), report: @escaping @Sendable (Event) -> Void,
        acknowledge: @escaping @Sendable (_ ticket: Int64) -> Void
    ) throws(SystemError) {
        let queue = try MQTTQueue(capacity: capacity, broker: settings.address)
        let drops = EventDrops(handler: name, capacity: capacity, report: report)
        self.queue = queue
        self.drops = drops
        let surroundings = MQTTPublisher.Surroundings(
            name: name, topic: topic, stateTopic: stateTopic, report: report, acknowledge: acknowledge, times: times)
        try WorkerThread.start {
            MQTTPublisher(settings, surroundings, queue: queue, drops: drops).run()
        }
    }

    deinit {
        end(within: .zero)
    }

    /// Puts an event that no store keeps into the queue; what that has no room for is dropped and reported.
    package func handle(_ event: Event) {
        if !queue.put(event) { drops.add(event) }
    }

    /// Puts an event that no store keeps into the queue, if that has room for it.
    func offer(_ event: Event) -> Bool {
        queue.put(event)
    }

    /// Waits for the end of a time, or until the handler has ended.
    func waitForChange(timeoutMilliseconds: Int32) {
        queue.waitForChange(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// How it is doing.
    package var statistics: MQTTStatistics {
        var statistics = queue.statistics
        statistics.droppedCount = drops.totalCount
        return statistics
    }
}

extension MQTTHandler: DeliveringHandler {
    /// The most deliveries that it is ever given before it is done with one of them.
    package var deliveryLimit: Int { 256 }

    /// Puts deliveries into the queue.
    package func deliver(_ deliveries: [Delivery]) {
        queue.put(deliveries)
    }

    /// Takes no more events; those that it has are published if the broker lets it, and the broker is told "offline".
    package func end(within duration: Duration) {
        queue.requestStop(MQTTStop(now: SystemClock.monotonic(), within: duration))
    }

    /// Waits for the end, after ``end(within:)``.
    ///
    /// - Parameter deadlineNanoseconds: The longest wait, on CLOCK_MONOTONIC.
    /// - Returns: The number of events that the broker has not acknowledged; with a store they are not lost.
    package func waitForEnd(until deadlineNanoseconds: Int64) -> Int {
        while true {
            if let count = queue.abandonedCount { return count }
            let left = SystemClock.milliseconds(until: deadlineNanoseconds, atMost: 1000)
            // The thread may wait for a name server that does not answer.
            guard left > 0 else { return queue.unfinishedCount }
            queue.waitForChange(timeoutMilliseconds: left)
        }
    }

    /// Whether the thread has ended.
    package var hasEnded: Bool { queue.abandonedCount != nil }

    /// How many events the broker has not acknowledged.
    package var unfinishedCount: Int { queue.unfinishedCount }
}
