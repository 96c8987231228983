package import Binnacle
import PlainText
import Glibc
import LinuxSystem
import Synchronization

/// How long a connection to a broker waits for what; in nanoseconds.
package struct MQTTTimes: Sendable {
    /// The longest time from the first packet to the broker's CONNACK.
    package var connect: Int64 = 10_000_000_000
    /// The longest time that a PUBLISH waits for its PUBACK.
    package var answer: Int64 = 30_000_000_000
    /// How long a connection has to last to be one that works.
    package var lasting: Int64 = 5_000_000_000
    /// The pause after a first failure; each further one is twice as long.
    package var firstPause: Int64 = 1_000_000_000
    /// The longest pause between two attempts.
    package var longestPause: Int64 = 60_000_000_000
    /// How often the broker may close the connection because of one event before that is passed over.
    package var mostRefusals = 5

    /// Creates the times that a daemon has.
    package init() {}
}

/// The state of the connection to a broker, for other threads.
package final class MQTTGauge: Sendable {
    /// The figures.
    package struct Figures: Sendable {
        /// Since when the broker has accepted the connection, on CLOCK_MONOTONIC; `nil` when there is none.
        package var connectedSinceNanoseconds: Int64?
        /// Why there is no connection, or why the last one ended; `nil` once one has lasted.
        package var failure: String?
        /// The events that the broker acknowledged.
        package var publishedCount = 0
        /// The events that the broker would not take, and that were passed over.
        package var refusedCount = 0
        /// The connections that were accepted after the first.
        package var reconnectCount = 0
    }

    private let state = Mutex(Figures())

    /// Creates a gauge without a connection.
    package init() {}

    /// The figures.
    package var figures: Figures { state.withLock { $0 } }

    /// Changes the figures.
    func update(_ change: (inout Figures) -> Void) {
        state.withLock { change(&$0) }
    }
}

/// Publishes events to a broker, and comes back to it as long as it takes; for one thread.
///
/// Each event is one message with QoS 1, its payload the event's JSON. The events that the broker has not acknowledged stay
/// here, in their order, and are sent again over the next connection, so one may come twice; never more than
/// ``windowLimit`` of them are under way. The library resends nothing by itself.
package final class MQTTPublisher {
    /// Where the topics come from.
    package struct Topics: Sendable {
        /// The topic of an event.
        package let event: @Sendable (Event) -> String
        /// The topic of a sensor's state, which is retained; `nil` when no states are published.
        package let state: (@Sendable (_ sensor: String) -> String)?

        /// Creates topics.
        package init(
            event: @escaping @Sendable (Event) -> String, state: (@Sendable (_ sensor: String) -> String)? = nil
        ) {
            self.event = event
            self.state = state
        }
    }

    /// An event that the broker has not acknowledged.
    struct Entry {
        let item: QueuedEvent
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
    let topics: Topics
    let times: MQTTTimes
    let port: HandlerPort
    let gauge: MQTTGauge
    var window: [Entry] = []
    var states = MQTTSensorStates()
    /// Whether events are sent one by one, because the broker seems to reject one of them.
    var isCareful = false
    /// How many connections in a row the broker closed without having acknowledged an event.
    var closingCount = 0
    /// What was told of failures, and the pauses between attempts.
    var failures: FailureReports
    /// Whether the next attempt goes by IPv4.
    var avoidsIPv6 = false
    private var connectionCount = 0

    /// What a handler needs to publish its events.
    ///
    /// - Parameters:
    ///   - settings: The broker.
    ///   - topics: The topics.
    ///   - capacity: The most events that wait while no store keeps them.
    ///   - times: How long it waits for what.
    ///   - gauge: Where the state of the connection is shown.
    /// - Returns: The plan.
    package static func plan(
        _ settings: MQTTSettings, _ topics: Topics, capacity: Int = HandlerWork.usualCapacity,
        times: MQTTTimes = MQTTTimes(), gauge: MQTTGauge = MQTTGauge()
    ) -> HandlerPlan {
        var plan = HandlerPlan { port in MQTTPublisher(settings, topics, times, port, gauge).run() }
        plan.capacity = capacity
        plan.deliveryLimit = 256
        plan.pace = .room(done: "published")
        return plan
    }

    private init(
        _ settings: MQTTSettings, _ topics: Topics, _ times: MQTTTimes, _ port: HandlerPort, _ gauge: MQTTGauge
    ) {
        self.settings = settings
        self.topics = topics
        self.times = times
        self.port = port
        self.gauge = gauge
        failures = FailureReports(port, firstPause: times.firstPause, longestPause: times.longestPause)
    }

    private func run() {
        let client = "\(settings.address) \(settings.clientID)"
        guard claimClientID(client) else { return }
        while true {
            var connection = Connection()
            do throws(MQTTFailure) {
                try serve(&connection)
                break
            } catch {
                lose(connection, error)
            }
            guard waitBeforeRetry() else { break }
        }
        gauge.update { $0.connectedSinceNanoseconds = nil }
        MQTTClientIDs.release(client)
    }

    /// Waits until no other handler of this process has the client's name.
    ///
    /// - Returns: Whether that was before it was told to stop.
    private func claimClientID(_ client: String) -> Bool {
        let begin = SystemClock.monotonic()
        let waker = port.courier.waker
        while !MQTTClientIDs.claim(client, waker: waker) {
            let now = SystemClock.monotonic()
            if let stop = port.stop, !port.wouldLose || now >= Self.drainTime(stop) {
                MQTTClientIDs.forget(waker)
                return false
            }
            if now - begin >= times.connect {
                failures.fail("\(settings.address): another handler has the client_id '\(settings.clientID)'")
            }
            waker.wait(timeoutMilliseconds: 1000)
        }
        return true
    }

    /// Until when events are published after a request to stop; the rest of the time is for the broker's answers.
    static func drainTime(_ stop: StopPlan) -> Int64 { stop.time(after: 75) }

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
            if let stop = port.stop, now >= Self.drainTime(stop) || isDone {
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
    private var isDone: Bool { window.isEmpty && port.isEmpty && states.isSettled }

    /// Waits for the broker's answer to CONNECT.
    ///
    /// - Returns: Whether it accepted; `false` when there is nothing left to do before it has.
    private func isAccepted(_ client: MQTTClient) throws(MQTTFailure) -> Bool {
        let limit = times.connect
        let end = Units.later(SystemClock.monotonic(), by: limit)
        while client.answer == nil {
            let now = SystemClock.monotonic()
            var next = end
            if let stop = port.stop {
                guard port.wouldLose, now < Self.drainTime(stop) else { return false }
                next = min(next, Self.drainTime(stop))
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
        gauge.update { statistics in
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
            pollfd(fd: port.courier.waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = SystemClock.milliseconds(until: deadline, from: now)
        guard poll(&ready, nfds_t(ready.count), milliseconds) > 0 else { return try client.keepAlive() }
        if ready[1].revents != 0 { port.courier.waker.clear() }
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
        if isWaitingForAnswer(connection) { time = min(time, connection.answerTime + times.answer) }
        if !connection.hasLasted, let accepted = connection.acceptedTime {
            time = min(time, max(accepted + times.lasting, now + 100_000_000))
        }
        if let stop = port.stop { time = min(time, Self.drainTime(stop)) }
        return time
    }

    private func isWaitingForAnswer(_ connection: Connection) -> Bool {
        connection.announcement != nil && !connection.isAnnounced || window.contains { $0.message != nil }
            || states.inFlightCount > 0
    }

    /// Finishes the events that the broker acknowledged.
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
                gauge.update { $0.publishedCount += 1 }
                finish(at: index)
            } else {
                states.finish(number)
            }
        }
    }

    /// Gives up a broker that takes events and says nothing to them.
    private func look(_ connection: Connection) throws(MQTTFailure) {
        let limit = times.answer
        guard isWaitingForAnswer(connection), SystemClock.monotonic() - connection.answerTime >= limit else { return }
        throw MQTTFailure("\(settings.address): no answer to PUBLISH within \(limit / 1_000_000_000) s")
    }

    /// Reports the recovery once a connection has lasted.
    private func settle(_ connection: inout Connection) {
        guard !connection.hasLasted, let accepted = connection.acceptedTime,
            SystemClock.monotonic() - accepted >= times.lasting,
            connection.isAnnounced, connection.hasProgress || !isWaitingForAnswer(connection)
        else { return }
        connection.hasLasted = true
        gauge.update { $0.failure = nil }
        failures.recover()
    }
}
