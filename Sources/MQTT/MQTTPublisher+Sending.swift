import Binnacle
import Handlers
import LinuxSystem

extension MQTTPublisher {
    /// Fills the window, first with events of the last connection, then with new ones; then sends changed states.
    func publish(_ client: MQTTClient, _ connection: inout Connection, _ now: Int64) throws(MQTTFailure) {
        let isSettled = connection.unanswered.isEmpty
        let wasIdle = !window.contains { $0.message != nil } && states.inFlightCount == 0 && isSettled
        defer { if wasIdle { connection.answerTime = now } }
        // An event must not be blamed for a broker's refusal of the status, a subscription or a description.
        if isCareful, !isSettled { return }
        // The library would keep what the broker does not accept.
        if client.wantsWrite { return }
        let limit = now < silence?.until ?? now ? 0 : isCareful || silence != nil ? 1 : Self.windowLimit
        var sentCount = window.count { $0.message != nil }
        var index = 0
        while sentCount < limit {
            if index == window.count {
                let items = port.removeFirst(atMost: limit - sentCount)
                guard !items.isEmpty else { break }
                window += items.map { Entry(item: $0) }
            }
            guard window[index].message == nil else {
                index += 1
                continue
            }
            if try send(at: index, client) {
                sentCount += 1
                index += 1
            }
        }
        guard !isCareful, let stateTopic = topics.state else { return }
        if window.isEmpty, port.isEmpty { kept.applyDropped(before: .max) }
        try states.sendDue { (sensor, state) throws(MQTTFailure) -> Int32? in
            try client.publish(Array(state.utf8), to: stateTopic(sensor), isRetained: true)
        }
    }

    /// Publishes the descriptions for Home Assistant as retained messages, and subscribes to those of an earlier configuration.
    ///
    /// What is lost with a connection is published again over the next one.
    func describe(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        guard let discovery = settings.discovery else { return }
        if !hasTooManyDescriptions {
            let size = discovery.messages.reduce(0) { $0 + $1.topic.utf8.count + $1.text.utf8.count }
            let limit = (atOnce: MQTTLimits.descriptions + 2 * discovery.messages.count, perSecond: 0)
            connection.awaitAnswer(
                to: "the subscription to \(discovery.filter)",
                try client.subscribe(to: discovery.filter, MQTTAllowance(limit), ownBytes: size))
        }
        for message in discovery.messages {
            connection.awaitAnswer(
                to: "the description at \(message.topic)",
                try client.publish(Array(message.text.utf8), to: message.topic, isRetained: true))
            // A sensor exists before its first event.
            if topics.state != nil { states.begin(message.sensor) }
        }
    }

    /// Removes the devices described by an earlier configuration, and their states: an empty message ends the retention.
    func removeLeftDevices(_ client: MQTTClient) throws(MQTTFailure) {
        guard let discovery = settings.discovery, !isCareful else { return }
        for topic in client.removeDescriptions() {
            guard let sensor = discovery.sensor(ofLeft: topic) else { continue }
            _ = try client.publish([], to: topic, isRetained: true)
            if let state = topics.state { _ = try client.publish([], to: state(sensor), isRetained: true) }
        }
    }

    func subscribeToRequests(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        guard let topic = settings.requestTopic else { return }
        connection.awaitAnswer(
            to: "the subscription to \(topic)", try client.subscribe(to: topic, MQTTAllowance(MQTTLimits.requests)))
    }

    /// Ends the subscriptions to which too much comes, and reports what is dropped; a flood of requests ends after a while.
    func limit(_ client: MQTTClient, _ connection: inout Connection) throws(MQTTFailure) {
        let now = SystemClock.monotonic()
        for filter in try client.endExhausted() {
            if filter == settings.requestTopic {
                flood = Flood(until: Units.later(now, by: times.requestPause))
                failures.fail(
                    "\(settings.address): more than \(MQTTLimits.requests.perSecond) requests in a second at \(filter): "
                        + "none is answered for \(times.requestPause / 1_000_000_000) s")
            } else {
                hasTooManyDescriptions = true
                failures.fail(
                    "\(settings.address): more than \(MQTTLimits.descriptions) messages at \(filter): the rest is left "
                        + "until the next start")
            }
        }
        if client.removeUnexpected() {
            failures.fail("\(settings.address): messages that were not subscribed to are dropped")
        }
        guard let flood, now >= flood.until else { return }
        if !flood.isSubscribed { try subscribeToRequests(client, &connection) }
        self.flood =
            flood.isSubscribed ? nil : Flood(isSubscribed: true, until: Units.later(now, by: times.requestPause))
        // The recovery is reported when there was no flood for a while.
        connection.hasLasted = false
    }

    /// Reports a request that is not answered, at most one in a pause.
    private func reportRequest(_ problem: String) {
        let now = SystemClock.monotonic()
        guard now >= requestReportTime else { return }
        requestReportTime = Units.later(now, by: times.requestPause)
        report("\(settings.address): a request at \(settings.requestTopic ?? "") \(problem)")
    }

    func answerRequests(_ client: MQTTClient) throws(MQTTFailure) {
        guard let topic = settings.requestTopic else { return }
        for request in client.removeRequests() {
            do throws(MQTTRequest.Fault) {
                guard !request.isRetained else { throw MQTTRequest.Fault(reason: "it is retained") }
                repeats.begin(try MQTTRequest(request.message))
            } catch {
                reportRequest("is ignored: \(error.reason)")
            }
        }
        guard let history = port.history else {
            if !hasToldOfNoStore {
                report("\(topic): requests are answered from a store: there is no [store]")
            }
            hasToldOfNoStore = true
            return repeats.reset()
        }
        guard !isCareful, port.stop == nil, !client.wantsWrite else { return }
        let waker = port.courier.waker
        let end = try repeats.advance(history, settings.repeated) {
            waker.wake()
        } send: { (event) throws(MQTTFailure) -> Int32? in
            try client.publish(payloads.again(event), to: topics.event(event), isRetained: false)
        }
        if let answer = end.answer {
            _ = try client.publish(Array(answer.utf8), to: topic + "/answer", isRetained: false)
        }
        if let failure = end.failure {
            reportRequest("is not answered: \(failure)")
        }
    }

    /// Sends an event; `false` when it was skipped, because it is not valid in MQTT.
    private func send(at index: Int, _ client: MQTTClient) throws(MQTTFailure) -> Bool {
        let event = window[index].item.event
        let topic = topics.event(event)
        let payload = window[index].payload ?? payloads.next(event, behind: window[index].item.previous)
        window[index].payload = payload
        let message = try client.publish(
            payload, to: topic, quality: settings.quality, isRetained: settings.isRetained)
        guard let message else {
            skip(at: index, because: "it is too long for MQTT, or its topic is invalid")
            return false
        }
        window[index].message = message
        if topics.state != nil, !window[index].isApplied {
            window[index].isApplied = true
            kept.applyDropped(before: event.sequence)
            if !window[index].item.isOfEarlierRun { states.apply(event) }
        }
        return true
    }

    /// Handles the answer to what is no event: a refusal is a failure until the same is accepted, also over a new connection.
    func settle(
        _ what: String, _ answer: MQTTClient.Acknowledgement, _ client: MQTTClient, _ connection: inout Connection
    ) {
        guard answer.isRefusal else {
            reportedRefusals[what] = nil
            if connection.refused.removeValue(forKey: what) != nil { figures.failure = connection.refusal }
            return
        }
        // 3.1.1 has this reason alone.
        let words = answer.reason == 0x80 ? "its access rules may forbid that" : client.words(forReason: answer.reason)
        refuse(what, because: words, &connection)
    }

    /// Reports what the broker refuses, or never answers; it is sent again later.
    func refuse(_ what: String, because words: String, _ connection: inout Connection) {
        let reason = "\(settings.address): the broker refuses \(what): \(words)"
        if connection.refused.isEmpty { connection.refusedTime = SystemClock.monotonic() }
        connection.refused[what] = reason
        figures.failure = connection.refusal
        if reportedRefusals.updateValue(reason, forKey: what) != reason { port.fail(reason) }
    }

    func finish(at index: Int) {
        port.finish(window.remove(at: index).item)
    }

    /// Keeps an event without a subscriber, and sends nothing for a while.
    ///
    /// The same happens to events in flight. After the wait one event is sent, to find out whether there is a subscriber.
    func keep(at index: Int, _ connection: inout Connection) {
        window[index].message = nil
        // The recovery is reported when there is a subscriber.
        connection.hasLasted = false
        let now = SystemClock.monotonic()
        guard now >= silence?.until ?? now else { return }
        let count = silence?.count ?? 0
        let pause = min(times.pauses.longest, times.pauses.first << min(count, 20))
        let topic = silence?.topic ?? topics.event(window[index].item.event)
        silence = Silence(
            until: Units.later(now, by: Int64.random(in: pause / 2...pause)), count: count + 1, topic: topic)
        failures.fail("\(settings.address): \(topic) has no subscriber: events are kept until there is one")
    }

    /// Reports what concerns an event or a request, and not the connection.
    private func report(_ reason: String) {
        reportTime = SystemClock.monotonic()
        port.fail(reason)
    }

    /// Finishes and reports an event that cannot be published.
    func skip(at index: Int, because reason: String) {
        let event = window[index].item.event
        report(
            "\(settings.address): event \(event.sequence) (\(event.kind.rawValue)) is skipped: \(reason)")
        figures.refusedCount += 1
        port.report(
            EventDrops.event(
                count: 1, handler: port.name, reason: "skipped, as handler.failed says", isSimulated: event.isSimulated)
        )
        finish(at: index)
    }

    /// Publishes "offline" and ends the connection, within the remaining time.
    func disconnect(
        _ client: MQTTClient, _ connection: inout Connection, _ stop: StopPlan
    ) throws(MQTTFailure) {
        connection.unanswered = []
        if let topic = settings.statusTopic {
            connection.awaitAnswer(
                to: "\"offline\" at \(topic)", try client.publish(Array("offline".utf8), to: topic, isRetained: true))
        }
        while !connection.unanswered.isEmpty || client.wantsWrite {
            let now = SystemClock.monotonic()
            guard now < stop.endTime else { break }
            try turn(client, until: stop.endTime, now)
            finishAcknowledged(client, &connection)
        }
        client.disconnect()
        do throws(MQTTFailure) {
            while client.descriptor >= 0, client.wantsWrite {
                let now = SystemClock.monotonic()
                guard now < stop.endTime else { break }
                try turn(client, until: stop.endTime, now)
            }
        } catch {
            // The connection was to be ended.
        }
    }

    // MARK: - Lost connections

    /// Handles a connection that was lost or never made: events in flight are sent again.
    func lose(_ connection: Connection, _ failure: MQTTFailure) {
        let reason = failure.reason + explainClosing(connection, failure)
        figures.connectedSinceNanoseconds = nil
        figures.failure = reason
        if connection.hasProgress { failures.resetPauses() }
        repeats.reset()
        silence?.until = 0
        // Numbers begin again with the next connection.
        defer { for index in window.indices { window[index].message = nil } }
        if failure.lacksVersion5, !lacksVersion5 {
            lacksVersion5 = true
            report(
                "\(settings.address): the broker does not speak MQTT 5 and cannot report whether there is a subscriber: "
                    + "wait_for_subscriber has no effect")
            return
        }
        if failure.isClosedByBroker, !connection.hasProgress { suspectEvent() }
        failures.fail(reason)
    }

    /// Explains why the broker may have closed an accepted connection, as the end of the reason; empty for other failures.
    private func explainClosing(_ connection: Connection, _ failure: MQTTFailure) -> String {
        let now = SystemClock.monotonic()
        let isBrief = now - (connection.acceptedTime ?? now) < Self.brief.time
        briefCount = failure.isClosedByBroker && isBrief && !isWaitingForAnswer(connection) ? briefCount + 1 : 0
        let isSending = window.contains { $0.message != nil }
        if failure.isClosedByBroker, !isSending, let first = connection.unanswered.first {
            return " before it answered \(first.what): its access rules may forbid that"
        }
        return briefCount < Self.brief.count
            ? ""
            : ": another client may connect with the client_id '\(settings.clientID)': set another `client_id` in one"
    }

    /// Counts a connection that the broker closed on receiving events, and skips an event that causes this repeatedly.
    ///
    /// Otherwise an event that the broker rejects would be sent without end, and none after it.
    private func suspectEvent() {
        guard let index = window.firstIndex(where: { $0.message != nil }) else { return }
        closingCount += 1
        guard closingCount >= Self.toleratedClosings + Self.mostRefusals else { return }
        closingCount = Self.toleratedClosings
        skip(at: index, because: "the broker closes the connection each time it gets it")
    }

    /// Waits for the time of the next attempt; `false` when a stop leaves no attempt.
    func waitBeforeRetry() -> Bool {
        failures.waitBeforeRetry { attemptTime in
            guard let stop = port.stop else { return false }
            return !port.wouldLose || attemptTime >= Self.drainTime(stop)
        }
    }
}
