import Binnacle
import Glibc
import LinuxSystem

/// Publishes events to a broker, and comes back to it as long as it takes; for one thread, which it never leaves.
///
/// A ``MQTTHandler`` is its face. The events that the broker has not acknowledged stay here, in their order, and are sent
/// again over the next connection; never more than ``windowLimit`` of them are under way.
final class MQTTPublisher {
    /// What the publisher works for, and whom it tells.
    struct Surroundings: Sendable {
        /// What reports call the handler.
        let name: String
        /// The topic of an event.
        let topic: @Sendable (Event) -> String
        /// The topic of a sensor's state; `nil` when no states are published.
        let stateTopic: (@Sendable (_ sensor: String) -> String)?
        /// Told of the handler itself.
        let report: @Sendable (Event) -> Void
        /// Told of each delivery that is over.
        let acknowledge: @Sendable (_ ticket: Int64) -> Void
        /// How long it waits for what.
        let times: MQTTTimes
    }

    /// An event that the broker has not acknowledged.
    struct Entry {
        let item: MQTTItem
        /// The number of the message; `nil` when it has not been sent over this connection.
        var message: Int32?
        /// Whether the sensor's state says what the event says.
        var isApplied = false
        /// How often the broker closed the connection when it got nothing but this.
        var refusalCount = 0
    }

    /// The most events that are under way.
    static let windowLimit = 64

    let settings: MQTTSettings
    let surroundings: Surroundings
    let queue: MQTTQueue
    let drops: EventDrops
    var window: [Entry] = []
    var states = MQTTSensorStates()
    /// Whether events are sent one by one, because the broker seems to dislike one of them.
    var isCareful = false
    /// How many connections on end the broker closed without having acknowledged an event.
    var closingCount = 0
    /// The pauses between attempts.
    var backoff: MQTTBackoff
    var generator = SystemRandomNumberGenerator()
    /// Whether the next attempt goes by IPv4.
    var avoidsIPv6 = false
    private var connectionCount = 0
    /// What was told since the last connection that lasted.
    var toldReasons: Set<String> = []
    /// Whether the last that was told is that it failed.
    var hasFailed = false

    /// Creates a publisher.
    init(_ settings: MQTTSettings, _ surroundings: Surroundings, queue: MQTTQueue, drops: EventDrops) {
        self.settings = settings
        self.surroundings = surroundings
        self.queue = queue
        self.drops = drops
        backoff = MQTTBackoff(surroundings.times)
    }

    /// Publishes until it is told to stop.
    func run() {
        let client = "\(settings.address) \(settings.clientID)"
        if waitsForTurn(client) {
            while true {
                var connection = Connection()
                do throws(MQTTFailure) {
                    try serve(&connection)
                    break
                } catch {
                    lose(connection, error)
                }
                guard pauses() else { break }
            }
            MQTTClientIDs.release(client)
        }
        // Before the end: nobody who waited for it hears of anything behind it.
        drops.tellRest()
        queue.end()
    }

    /// Waits until no other handler of this process has the client's name.
    ///
    /// - Returns: Whether that was before it was told to stop.
    private func waitsForTurn(_ client: String) -> Bool {
        let begin = SystemClock.monotonic()
        while !MQTTClientIDs.claim(client, waker: queue.waker) {
            let now = SystemClock.monotonic()
            if let stop = queue.stop, !queue.wouldLose || now >= stop.drainTime {
                MQTTClientIDs.forget(queue.waker)
                return false
            }
            if now - begin >= surroundings.times.connect {
                tell("\(settings.address): another handler has the client_id '\(settings.clientID)'")
            }
            queue.waker.wait(timeoutMilliseconds: 1000)
        }
        return true
    }

    // MARK: - A connection

    /// What is known of one connection.
    struct Connection {
        /// When the broker accepted it; `nil` before that.
        var acceptedTime: Int64?
        /// The number of the message that says "online".
        var announcement: Int32?
        /// Whether the broker acknowledged that, or need not.
        var isAnnounced = false
        /// Whether the broker acknowledged an event.
        var hasProgress = false
        /// When the broker last acknowledged something, or got something after having acknowledged everything.
        var answerTime: Int64 = 0
        /// Whether it has lasted.
        var hasLasted = false
    }

    /// Connects and publishes until the connection is lost, or until the publisher was told to stop and has done so.
    private func serve(_ connection: inout Connection) throws(MQTTFailure) {
        let client = try MQTTClient(settings)
        try client.connect(avoidsIPv6: avoidsIPv6)
        guard try isAccepted(client) else { return }
        try begin(client, &connection)
        while true {
            let now = SystemClock.monotonic()
            if let stop = queue.stop, now >= stop.drainTime || isDone {
                return try sayGoodbye(client, &connection, stop)
            }
            try publish(client, &connection, now)
            try turn(client, until: nextTime(connection, now), now)
            take(client, &connection)
            try look(connection)
            settle(&connection)
        }
    }

    /// Whether the broker has everything.
    private var isDone: Bool { window.isEmpty && queue.isEmpty && states.isSettled }

    /// Waits for the broker's answer to CONNECT.
    ///
    /// - Returns: Whether it accepted; `false` when there is nothing left to do before it has.
    private func isAccepted(_ client: MQTTClient) throws(MQTTFailure) -> Bool {
        let limit = surroundings.times.connect
        let end = Units.later(SystemClock.monotonic(), by: limit)
        while client.answer == nil {
            let now = SystemClock.monotonic()
            var next = end
            if let stop = queue.stop {
                guard queue.wouldLose, now < stop.drainTime else { return false }
                next = min(next, stop.drainTime)
            }
            guard now < end else { throw client.noAnswer(within: limit / 1_000_000_000) }
            try turn(client, until: next, now)
        }
        guard client.answer == 0 else { throw client.failure(0, 0) }
        return true
    }

    /// Says "online", and has all states sent.
    private func begin(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        let now = SystemClock.monotonic()
        connection.acceptedTime = now
        connection.answerTime = now
        connectionCount += 1
        queue.count { statistics in
            statistics.connectedSinceNanoseconds = now
            statistics.reconnectCount = connectionCount - 1
        }
        states.reset()
        if let topic = settings.statusTopic {
            connection.announcement = try client.publish(Array("online".utf8), to: topic, isRetained: true)
        }
        connection.isAnnounced = connection.announcement == nil
    }

    /// Waits for something to happen, and has the library do its part.
    func turn(_ client: MQTTClient, until deadline: Int64, _ now: Int64) throws(MQTTFailure) {
        var ready = [
            pollfd(fd: client.descriptor, events: Int16(POLLIN | (client.wantsWrite ? POLLOUT : 0)), revents: 0),
            pollfd(fd: queue.waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = SystemClock.milliseconds(until: deadline, from: now)
        guard poll(&ready, nfds_t(ready.count), milliseconds) > 0 else { return try client.keepAlive() }
        if ready[1].revents != 0 { queue.waker.clear() }
        let events = Int32(ready[0].revents)
        // A socket in error has its reason told by whatever is done with it next.
        if events & ~POLLOUT != 0 { try client.read() }
        if events & POLLOUT != 0 { try client.write() }
        try client.keepAlive()
    }

    /// When there is something to look at again, whatever comes from outside.
    private func nextTime(_ connection: Connection, _ now: Int64) -> Int64 {
        // The library counts whole seconds of silence; asking it eight times in its limit is early enough.
        var time = now + Int64(settings.keepaliveSeconds) * 1_000_000_000 / 8
        if isWaitingForAnswer(connection) { time = min(time, connection.answerTime + surroundings.times.answer) }
        if !connection.hasLasted, let accepted = connection.acceptedTime {
            time = min(time, max(accepted + surroundings.times.lasting, now + 100_000_000))
        }
        if let stop = queue.stop { time = min(time, stop.drainTime) }
        return time
    }

    private func isWaitingForAnswer(_ connection: Connection) -> Bool {
        connection.announcement != nil && !connection.isAnnounced || window.contains { $0.message != nil }
            || states.inFlightCount > 0
    }

    /// Takes note of what the broker acknowledged.
    func take(_ client: MQTTClient, _ connection: inout Connection) {
        let numbers = client.takeAcknowledged()
        guard !numbers.isEmpty else { return }
        connection.answerTime = SystemClock.monotonic()
        for number in numbers {
            if number == connection.announcement {
                connection.isAnnounced = true
            } else if let index = window.firstIndex(where: { $0.message == number }) {
                connection.hasProgress = true
                isCareful = false
                closingCount = 0
                queue.count { $0.publishedCount += 1 }
                finish(at: index)
            } else {
                states.finish(number)
            }
        }
    }

    /// Gives up a broker that takes events and says nothing to them.
    private func look(_ connection: Connection) throws(MQTTFailure) {
        let limit = surroundings.times.answer
        guard isWaitingForAnswer(connection), SystemClock.monotonic() - connection.answerTime >= limit else { return }
        throw MQTTFailure("\(settings.address): no answer to PUBLISH within \(limit / 1_000_000_000) s")
    }

    /// Takes note of a connection that has lasted.
    private func settle(_ connection: inout Connection) {
        guard !connection.hasLasted, let accepted = connection.acceptedTime,
            SystemClock.monotonic() - accepted >= surroundings.times.lasting,
            connection.isAnnounced, connection.hasProgress || !isWaitingForAnswer(connection)
        else { return }
        connection.hasLasted = true
        backoff.reset()
        toldReasons = []
        queue.count { $0.failure = nil }
        guard hasFailed else { return }
        hasFailed = false
        surroundings.report(Event(handlerRecovered: surroundings.name))
    }
}
