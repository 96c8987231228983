import Binnacle
import LinuxSystem

extension MQTTPublisher {
    /// Sends what there is room for: what the last connection left, then what waits, then the states that they changed.
    func publish(_ client: MQTTClient, _ connection: inout Connection, _ now: Int64) throws(MQTTFailure) {
        let wasIdle = !window.contains { $0.message != nil } && states.inFlightCount == 0 && connection.isAnnounced
        defer { if wasIdle { connection.answerTime = now } }
        // A broker that rejects the status message must not be blamed on an event.
        if isCareful, !connection.isAnnounced { return }
        let limit = isCareful ? 1 : Self.windowLimit
        var sentCount = window.count { $0.message != nil }
        var index = 0
        while sentCount < limit {
            if index == window.count {
                let items = port.take(atMost: limit - sentCount)
                guard !items.isEmpty else { break }
                window += items.map { Entry(item: $0) }
                port.drops.tellRest()
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
        if !isCareful { try sendStates(client) }
    }

    /// Sends an event.
    ///
    /// - Returns: Whether it is under way; one that no broker could be sent is passed over.
    private func send(at index: Int, _ client: MQTTClient) throws(MQTTFailure) -> Bool {
        let event = window[index].item.event
        let topic = topics.event(event)
        guard let message = try client.publish(Array(event.json.utf8), to: topic, isRetained: false) else {
            passOver(at: index, because: "it is too long for MQTT, or its topic is none")
            return false
        }
        window[index].message = message
        if topics.state != nil, !window[index].isApplied {
            window[index].isApplied = true
            states.apply(event)
        }
        return true
    }

    private func sendStates(_ client: MQTTClient) throws(MQTTFailure) {
        guard let stateTopic = topics.state else { return }
        try states.sendDue { (sensor, state) throws(MQTTFailure) -> Int32? in
            try client.publish(Array(state.utf8), to: stateTopic(sensor), isRetained: true)
        }
    }

    /// Is done with an event.
    func finish(at index: Int) {
        port.finish(window.remove(at: index).item)
    }

    /// Is done with an event that cannot be published, and tells so.
    func passOver(at index: Int, because reason: String) {
        let event = window[index].item.event
        failures.report(
            "\(settings.address): event \(event.sequence) (\(event.kind.rawValue)) is passed over: \(reason)")
        gauge.update { $0.refusedCount += 1 }
        finish(at: index)
    }

    /// Says "offline" and ends the connection, within the time that is left.
    func sayGoodbye(
        _ client: MQTTClient, _ connection: inout Connection, _ stop: StopPlan
    ) throws(MQTTFailure) {
        if let topic = settings.statusTopic {
            connection.announcement = try client.publish(Array("offline".utf8), to: topic, isRetained: true)
            connection.isAnnounced = connection.announcement == nil
        }
        while !connection.isAnnounced || client.wantsWrite {
            let now = SystemClock.monotonic()
            guard now < stop.endTime else { break }
            try turn(client, until: stop.endTime, now)
            take(client, &connection)
        }
        client.disconnect()
        do throws(MQTTFailure) {
            while client.descriptor >= 0, client.wantsWrite {
                let now = SystemClock.monotonic()
                guard now < stop.endTime else { break }
                try turn(client, until: stop.endTime, now)
            }
        } catch {
            // That the connection ends is what was asked for.
        }
    }
}
