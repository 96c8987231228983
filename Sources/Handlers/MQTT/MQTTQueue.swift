import Binnacle
import LinuxSystem
import Synchronization

/// What the thread of the events and the thread of a publisher share: the events that wait, the word to stop, and figures.
final class MQTTQueue: Sendable {
    private struct State {
        var waiting = FirstInList<MQTTItem>()
        /// Those that were taken and that the broker has not acknowledged.
        var takenCount = 0
        /// Whether there are events that no store keeps.
        var isOnlyCopy = false
        var stop: MQTTStop?
        /// Those that a stop left no time for.
        var abandonedCount = 0
        var isEnded = false
        var statistics: MQTTStatistics
    }

    /// Wakes the publisher.
    let waker: Waker

    private let ownerWaker: Waker
    private let capacity: Int
    private let state: Mutex<State>

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - capacity: The most events that wait while no store keeps them.
    ///   - broker: What the figures call the broker.
    /// - Throws: ``SystemError`` when the system has no descriptor left.
    init(capacity: Int, broker: String) throws(SystemError) {
        waker = try Waker()
        ownerWaker = try Waker()
        self.capacity = capacity
        state = Mutex(State(statistics: MQTTStatistics(broker: broker)))
    }

    // MARK: The thread of the events

    /// Adds an event that no store keeps.
    ///
    /// - Returns: Whether there was room for it.
    func put(_ event: Event) -> Bool {
        let (isTaken, isFirst) = state.withLock { state -> (Bool, Bool) in
            state.isOnlyCopy = true
            guard state.stop == nil, !state.isEnded else {
                state.abandonedCount += 1
                return (true, false)
            }
            guard state.waiting.count + state.takenCount < capacity else { return (false, false) }
            state.waiting.append(MQTTItem(event: event, ticket: nil))
            return (true, state.waiting.count == 1)
        }
        // While something waits already, the publisher has been woken for it, or has no room.
        if isFirst { waker.wake() }
        return isTaken
    }

    /// Adds events that a store keeps, of which it gives no more than the handler takes.
    func put(_ deliveries: [Delivery]) {
        let isFirst = state.withLock { state -> Bool in
            guard state.stop == nil, !state.isEnded else {
                state.abandonedCount += deliveries.count
                return false
            }
            let isFirst = state.waiting.isEmpty
            for delivery in deliveries {
                state.waiting.append(MQTTItem(event: delivery.event, ticket: delivery.ticket))
            }
            return isFirst
        }
        if isFirst { waker.wake() }
    }

    /// Tells the publisher to stop, or to stop earlier.
    func requestStop(_ stop: MQTTStop) {
        state.withLock { state in
            if stop.endTime < state.stop?.endTime ?? .max { state.stop = stop }
        }
        waker.wake()
    }

    /// How many events were given up; `nil` before the publisher's end.
    var abandonedCount: Int? { state.withLock { $0.isEnded ? $0.abandonedCount : nil } }

    /// How many events are not known to be published.
    var unfinishedCount: Int { state.withLock { $0.abandonedCount + $0.takenCount + $0.waiting.count } }

    /// Waits for the publisher's end, or for the end of a time; for one thread.
    func waitForChange(timeoutMilliseconds: Int32) {
        ownerWaker.wait(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The figures.
    var statistics: MQTTStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.queuedCount = state.waiting.count
            statistics.inFlightCount = state.takenCount
            return statistics
        }
    }

    // MARK: The publisher's thread

    /// Takes the events that have waited longest; ``finish(_:)`` says how many are over.
    func take(atMost count: Int) -> [MQTTItem] {
        guard count > 0 else { return [] }
        return state.withLock { state in
            var items: [MQTTItem] = []
            while items.count < count, let item = state.waiting.popFirst() { items.append(item) }
            state.takenCount += items.count
            return items
        }
    }

    /// Takes note that events are over.
    func finish(_ count: Int) {
        state.withLock { $0.takenCount -= count }
    }

    /// The word to stop.
    var stop: MQTTStop? { state.withLock { $0.stop } }

    /// Whether nothing waits.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Whether events would be lost if the publisher ended now.
    var wouldLose: Bool { state.withLock { $0.isOnlyCopy && $0.waiting.count + $0.takenCount > 0 } }

    /// Changes the figures.
    func count(_ change: (inout MQTTStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    /// Takes note that the publisher has ended, and counts what is left as given up.
    func end() {
        state.withLock { state in
            state.abandonedCount += state.takenCount + state.waiting.count
            state.takenCount = 0
            state.waiting = FirstInList()
            state.isEnded = true
            state.statistics.connectedSinceNanoseconds = nil
        }
        ownerWaker.wake()
    }
}
