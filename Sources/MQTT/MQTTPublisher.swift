package import Binnacle
package import Handlers
import Glibc
import LinuxSystem

/// The timeouts of a connection to a broker, in nanoseconds.
package struct MQTTTimes: Sendable {
    /// From the first packet to the broker's CONNACK.
    package var connect: Int64 = 10_000_000_000
    /// From a PUBLISH or a SUBSCRIBE to its answer.
    package var answer: Int64 = 30_000_000_000
    /// The time that a connection has to last before the recovery is reported.
    package var lasting: Int64 = 5_000_000_000
    /// How long requests are not subscribed to after too many came, and how long there may be no more until that is over.
    package var requestPause: Int64 = 60_000_000_000
    package var pauses = RetryPauses()

    package init() {}
}

/// The state of the connection to a broker.
package struct MQTTFigures: Sendable {
    /// When the broker accepted the current connection, on CLOCK_MONOTONIC; `nil` without one.
    package var connectedSinceNanoseconds: Int64?
    /// The last failure; `nil` after a connection has lasted.
    package var failure: String?
    /// The number of events that the broker acknowledged.
    package var publishedCount = 0
    /// The number of events skipped because the broker rejects them.
    package var refusedCount = 0
    /// The number of connections accepted after the first.
    package var reconnectCount = 0

    package init() {}
}

/// Publishes events to a broker, and reconnects without end; for one thread.
///
/// Each event is one message, by default with QoS 1 and the event's JSON. The publisher keeps unacknowledged events in order and
/// sends them again over the next connection, so the broker may get an event twice; at most ``windowLimit`` messages are in
/// flight. The library resends nothing.
package final class MQTTPublisher {
    package struct Topics: Sendable {
        let event: @Sendable (Event) -> String
        /// The topic of a sensor's retained state; `nil` when no states are published.
        var state: (@Sendable (_ sensor: String) -> String)?

        package init(
            event: @escaping @Sendable (Event) -> String, state: (@Sendable (_ sensor: String) -> String)? = nil
        ) {
            self.event = event
            self.state = state
        }
    }

    struct Entry {
        let item: Delivery
        /// The message ID; `nil` until it is sent over this connection.
        var message: Int32?
        /// Whether the sensor's state includes the event.
        var isApplied = false
        /// The message; made at the first sending, and the same in each repetition.
        var payload: [UInt8]?
    }

    /// A period without subscribers to the events.
    struct Silence {
        /// Time of the next attempt to publish to a topic without subscribers, on CLOCK_MONOTONIC.
        var until: Int64
        /// The number of attempts without a subscriber.
        var count: Int
        /// The first topic without a subscriber, named in the reason so that it stays the same during the period.
        let topic: String
    }

    /// The time after too many requests: at first there is no subscription to them.
    struct Flood {
        var isSubscribed = false
        /// When the next part begins, on CLOCK_MONOTONIC.
        var until: Int64
    }

    package static let windowLimit = 64
    /// The number of connections in a row closed by the broker before events are sent one by one.
    static let toleratedClosings = 2
    /// The number of further connections closed on one event before the event is skipped.
    static let mostRefusals = 5
    /// The lifetime, in nanoseconds, of a connection that counts as brief, and the number of such connections in a row from
    /// which on another client is suspected.
    static let brief = (time: Int64(30_000_000_000), count: 3)

    let settings: MQTTSettings
    var topics: Topics
    let times: MQTTTimes
    let port: HandlerPort
    private let observe: @Sendable (MQTTFigures) -> Void
    var figures = MQTTFigures() {
        didSet { observe(figures) }
    }
    var window: [Entry] = []
    var states: MQTTSensorStates {
        get { kept.states }
        set { kept.states = newValue }
    }
    let kept: MQTTKeptStates
    var payloads: MQTTPayloads
    /// The events that are published again on request.
    var repeats = MQTTRepeats()
    /// Whether it was reported that requests need a store.
    var hasToldOfNoStore = false
    /// When the next unusable request may be reported, on CLOCK_MONOTONIC.
    var requestReportTime = Int64.min
    /// When something was last reported that concerns no connection, on CLOCK_MONOTONIC.
    var reportTime = Int64.min
    /// Whether more descriptions came than are removed; then they are not subscribed to, which every connection would end by.
    var hasTooManyDescriptions = false
    /// The time after too many requests.
    var flood: Flood?
    /// What was reported of refusals, until the same is accepted.
    var reportedRefusals: [String: String] = [:]
    /// The number of connections in a row that the broker closed after it got events, without an acknowledgement.
    var closingCount = 0
    var failures: FailureReports
    /// The wait for a subscriber; `nil` if there is one, or the broker does not report it.
    var silence: Silence?
    var lacksVersion5 = false
    /// The number of connections in a row that the broker closed soon, although nothing was unanswered.
    var briefCount = 0
    private var connectionCount = 0

    /// The plan of a handler that publishes its events; without a store, up to `capacity` of them wait.
    package static func plan(
        _ settings: MQTTSettings, _ topics: Topics, capacity: Int = HandlerWork.usualCapacity,
        times: MQTTTimes = MQTTTimes(), observe: @escaping @Sendable (MQTTFigures) -> Void = { _ in }
    ) -> HandlerPlan {
        let kept = MQTTKeptStates()
        var plan = HandlerPlan { port in MQTTPublisher(settings, topics, times, port, kept, observe).run() }
        // Without a topic nothing would be sent.
        if topics.state != nil { plan.kept = kept }
        plan.capacity = capacity
        plan.deliveryLimit = 256
        plan.pace = .room(done: "published")
        return plan
    }

    private init(
        _ settings: MQTTSettings, _ topics: Topics, _ times: MQTTTimes, _ port: HandlerPort, _ kept: MQTTKeptStates,
        _ observe: @escaping @Sendable (MQTTFigures) -> Void
    ) {
        self.kept = kept
        self.settings = port.isReplay ? settings.ofReplay : settings
        self.topics = topics
        if port.isReplay { self.topics.state = nil }
        self.times = times
        self.port = port
        self.observe = observe
        failures = FailureReports(port, times.pauses)
        payloads = MQTTPayloads(template: settings.payload)
    }

    /// Whether events are sent one by one, to find the event on which the broker closes the connection.
    var isCareful: Bool { closingCount >= Self.toleratedClosings }

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
        figures.connectedSinceNanoseconds = nil
        MQTTClientIDs.release(client)
    }

    /// Waits until no other handler of this process uses the client ID; `false` when a stop comes first.
    private func claimClientID(_ client: String) -> Bool {
        let begin = SystemClock.monotonic()
        let waker = port.courier.waker
        while !MQTTClientIDs.claim(client, waker: waker) {
            let now = SystemClock.monotonic()
            if let stop = port.stop, !port.wouldLose || now >= Self.drainTime(stop) {
                MQTTClientIDs.cancel(waker)
                return false
            }
            if now - begin >= times.connect {
                failures.fail("\(settings.address): another handler has the client_id '\(settings.clientID)'")
            }
            waker.wait(timeoutMilliseconds: 1000)
        }
        return true
    }

    /// When publishing ends after a request to stop; the remaining time is for the broker's answers.
    static func drainTime(_ stop: StopPlan) -> Int64 { stop.time(after: 75) }

    // MARK: - A connection

    struct Connection {
        /// When the broker accepted it; `nil` before that.
        var acceptedTime: Int64?
        /// What was sent beside events and states and is not acknowledged, with its ID, in the order of sending: "online",
        /// subscriptions and descriptions, or "offline".
        var unanswered: [(message: Int32, what: String)] = []
        /// What the broker refused of that and of the states, and has not accepted since, with the failure.
        var refused: [String: String] = [:]
        /// When what is refused was sent last.
        var refusedTime: Int64 = 0
        var hasProgress = false
        /// The start of the current wait for an acknowledgement.
        var answerTime: Int64 = 0
        /// When the broker had last accepted everything.
        var flowTime: Int64 = 0
        var hasLasted = false

        /// The failure of what is refused, of several always the same one.
        var refusal: String? { refused.values.min() }

        /// Awaits the answer to what was sent; `message` is its ID, `nil` if it is not valid in MQTT.
        mutating func awaitAnswer(to what: String, _ message: Int32?) {
            guard let message else { return }
            if unanswered.isEmpty { answerTime = SystemClock.monotonic() }
            unanswered.append((message, what))
        }
    }

    /// Connects and publishes until the connection is lost or a stop is complete.
    private func serve(_ connection: inout Connection) throws(MQTTFailure) {
        guard let client = try connect() else { return }
        // The last acknowledgements may come together with the end of the connection.
        defer { finishAcknowledged(client, &connection) }
        try begin(client, &connection)
        while true {
            let now = SystemClock.monotonic()
            if let stop = port.stop, now >= Self.drainTime(stop) || isDone {
                return try disconnect(client, &connection, stop)
            }
            try publish(client, &connection, now)
            try turn(client, until: nextTime(connection, now), now)
            finishAcknowledged(client, &connection)
            try removeLeftDevices(client)
            try answerRequests(client)
            try limit(client, &connection)
            try checkAnswer(client, &connection)
            if let time = refusedTime(connection), SystemClock.monotonic() >= time {
                connection.refusedTime = SystemClock.monotonic()
                try announce(client, &connection)
            }
            reportRecovery(&connection)
        }
    }

    /// Whether all messages are acknowledged, or the rest has no subscriber.
    private var isDone: Bool {
        guard states.isSettled else { return false }
        return silence == nil ? window.isEmpty && port.isEmpty : !window.contains { $0.message != nil }
    }

    /// Connects to the first address of the broker that answers CONNECT; `nil` if a stop makes the connection unnecessary.
    ///
    /// If none does, throws the failure of the first address that was reached: those of the others explain less.
    private func connect() throws(MQTTFailure) -> MQTTClient? {
        var others: ArraySlice<NetworkAddress>?
        var address: NetworkAddress?
        var explanation: MQTTFailure?
        while true {
            let client = try MQTTClient(settings, speaksVersion5: settings.waitsForSubscriber && !lacksVersion5)
            do throws(MQTTFailure) {
                try client.connect(to: address)
                return try isAccepted(client) ? client : nil
            } catch {
                guard client.hasAddress, client.answer == nil, !error.lacksVersion5 else { throw error }
                if explanation == nil, client.hasPeer { explanation = error }
                var rest = others ?? otherAddresses()
                address = rest.popFirst()
                guard address != nil else { throw explanation ?? error }
                others = rest
            }
        }
    }

    /// Looks up the addresses of the broker's name behind the first, and that one once more: a name server may turn their order at each
    /// look-up.
    private func otherAddresses() -> ArraySlice<NetworkAddress> {
        let found = try? NetworkAddress.resolve(
            host: settings.host, port: settings.port, type: SOCK_STREAM, isOwn: false)
        guard let found, found.count > 1 else { return [] }
        return found.dropFirst() + found.prefix(1)
    }

    /// Waits for the broker's answer to CONNECT; `false` if a stop makes the connection unnecessary.
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

    private func begin(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        let now = SystemClock.monotonic()
        connection.acceptedTime = now
        connection.answerTime = now
        connection.flowTime = now
        connectionCount += 1
        figures.connectedSinceNanoseconds = now
        figures.reconnectCount = connectionCount - 1
        try announce(client, &connection)
    }

    /// Subscribes, publishes "online" and the descriptions, and marks all states as unsent.
    private func announce(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        states.reset()
        // A reader of "online" may send a request at once.
        if flood?.isSubscribed ?? true { try subscribeToRequests(client, &connection) }
        if let topic = settings.statusTopic {
            connection.awaitAnswer(
                to: "\"online\" at \(topic)", try client.publish(Array("online".utf8), to: topic, isRetained: true))
        }
        try describe(client, &connection)
    }

    /// Waits for the socket, the waker or a deadline, and runs the library's input and output.
    func turn(_ client: MQTTClient, until deadline: Int64, _ now: Int64) throws(MQTTFailure) {
        var ready = [
            pollfd(fd: client.descriptor, events: Int16(POLLIN | (client.wantsWrite ? POLLOUT : 0)), revents: 0),
            pollfd(fd: port.courier.waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = SystemClock.milliseconds(until: deadline, from: now)
        guard waitOnce(for: &ready, milliseconds: milliseconds) else { return try client.keepAlive() }
        if ready[1].revents != 0 { port.courier.waker.clear() }
        let events = Int32(ready[0].revents)
        // On a socket error the next call reports the reason.
        if events & ~POLLOUT != 0 { try client.read() }
        if events & POLLOUT != 0 { try client.write() }
        try client.keepAlive()
    }

    /// When what the broker refuses is sent again: its rules may have been changed.
    private func refusedTime(_ connection: Connection) -> Int64? {
        guard !connection.refused.isEmpty, connection.unanswered.isEmpty, states.inFlightCount == 0 else { return nil }
        return Units.later(connection.refusedTime, by: times.requestPause)
    }

    private func nextTime(_ connection: Connection, _ now: Int64) -> Int64 {
        // The library counts silence in whole seconds; eight checks per keepalive interval suffice.
        var time = now + Int64(settings.keepaliveSeconds) * 1_000_000_000 / 8
        if isWaitingForAnswer(connection) { time = min(time, connection.answerTime + times.answer) }
        if isRecovering(connection), let accepted = connection.acceptedTime {
            time = min(time, max(max(accepted, reportTime) + times.lasting, now + 100_000_000))
        }
        if let stop = port.stop { time = min(time, Self.drainTime(stop)) }
        if let silence, silence.until > now { time = min(time, silence.until) }
        if let flood { time = min(time, flood.until) }
        if let refused = refusedTime(connection) { time = min(time, refused) }
        if repeats.isPaced { time = min(time, now + 50_000_000) }
        let pause = port.reportDrops()
        return pause < 0 ? time : min(time, now + Int64(pause) * 1_000_000)
    }

    func isWaitingForAnswer(_ connection: Connection) -> Bool {
        !connection.unanswered.isEmpty || window.contains { $0.message != nil }
            || states.inFlightCount > 0 || repeats.inFlightCount > 0
    }

    func finishAcknowledged(_ client: MQTTClient, _ connection: inout Connection) {
        let answers = client.removeAcknowledged()
        guard !answers.isEmpty else { return }
        connection.answerTime = SystemClock.monotonic()
        for answer in answers {
            if let index = connection.unanswered.firstIndex(where: { $0.message == answer.message }) {
                settle(connection.unanswered.remove(at: index).what, answer, client, &connection)
            } else if let index = window.firstIndex(where: { $0.message == answer.message }) {
                connection.hasProgress = true
                closingCount = 0
                if answer.isUnheard {
                    keep(at: index, &connection)
                } else if answer.isRefusal {
                    skip(at: index, because: "the broker refuses it: \(client.words(forReason: answer.reason))")
                } else {
                    silence = nil
                    figures.publishedCount += 1
                    finish(at: index)
                }
            } else if let sensor = states.finish(answer.message), let topic = topics.state?(sensor) {
                settle("the state at \(topic)", answer, client, &connection)
            } else {
                repeats.finish(answer.message)
            }
        }
    }

    /// Throws when the broker accepts messages without acknowledging them in time, or accepts none.
    private func checkAnswer(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        let (limit, now) = (times.answer, SystemClock.monotonic())
        if !client.wantsWrite { connection.flowTime = now }
        guard now - max(connection.flowTime, connection.answerTime) < limit else {
            throw MQTTFailure("\(settings.address): the broker accepts nothing for \(limit / 1_000_000_000) s")
        }
        while let message = client.unanswered.firstOvertaken(before: now - limit) {
            guard let index = connection.unanswered.firstIndex(where: { $0.message == message }) else {
                throw MQTTFailure(
                    "\(settings.address): no answer to PUBLISH within \(limit / 1_000_000_000) s, but to later ones")
            }
            client.abandon(message)
            refuse(
                connection.unanswered.remove(at: index).what, because: "it answers later messages alone", &connection)
        }
        guard isWaitingForAnswer(connection), now - connection.answerTime >= limit else { return }
        let what = connection.unanswered.first?.what ?? "PUBLISH"
        throw MQTTFailure("\(settings.address): no answer to \(what) within \(limit / 1_000_000_000) s")
    }

    /// Whether the connection has not lasted yet, or something was reported of it since; what is refused stays a failure.
    private func isRecovering(_ connection: Connection) -> Bool {
        !connection.hasLasted || port.isFailing && connection.refused.isEmpty
    }

    /// Reports the recovery once a connection has lasted, and some time behind what was reported of it.
    private func reportRecovery(_ connection: inout Connection) {
        guard silence == nil, flood == nil, isRecovering(connection), let accepted = connection.acceptedTime,
            SystemClock.monotonic() - max(accepted, reportTime) >= times.lasting,
            connection.unanswered.isEmpty, connection.hasProgress || !isWaitingForAnswer(connection)
        else { return }
        connection.hasLasted = true
        figures.failure = connection.refusal
        if let refusal = connection.refusal {
            failures.recover(exceptFor: refusal)
        } else {
            failures.recover()
        }
    }
}
