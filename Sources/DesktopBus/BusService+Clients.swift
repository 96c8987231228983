import CSDBus
import Glibc
import LinuxSystem
import PlainText

/// Clients: their permission, their claims, and their end.
extension BusService {
    /// Accepts a call about a claim, and asks for the decision about it.
    func handleClaim(_ message: BusMessage, from name: String) {
        guard let client = client(name) else {
            return refuse(message, "LimitsExceeded", "too many programs have claimed sensors")
        }
        if client.question == nil, client.calls.isEmpty, let until = client.allowedUntil,
            SystemClock.monotonic() < until
        {
            return perform(message, for: client)
        }
        guard client.calls.count < BusClient.mostCalls else {
            return refuse(message, "LimitsExceeded", "too many calls of this program wait for an answer")
        }
        client.calls.append(message)
        if client.question == nil { ask(about: client) }
    }

    private func ask(about client: BusClient) {
        guard let connection else { return }
        do throws(BusFailure) {
            client.question = try ClaimAuthority.ask(settings, about: client, connection, answer: Self.decided)
        } catch {
            apply(.undecided("\(error)"), about: client)
        }
    }

    /// The record of a client, whose end the bus reports; `nil` when there are too many.
    private func client(_ name: String) -> BusClient? {
        if let known = clients[name] { return known }
        guard clients.count < Self.mostClients, let connection else { return nil }
        let client = BusClient(name, self)
        // The bus adds the match before it answers about permission: a client that vanished before gets no answer.
        attempt { () throws(BusFailure) in
            client.vanishing = try connection.match(
                "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                    + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'",
                Self.ownerChanged, receiver: Unmanaged.passUnretained(client).toOpaque())
        }
        guard client.vanishing != nil else { return nil }
        clients[name] = client
        return client
    }

    private func apply(_ decision: ClaimDecision, about client: BusClient) {
        let calls = client.calls
        client.calls = []
        let now = SystemClock.monotonic()
        switch decision {
        case .allowed:
            client.allowedUntil = now + BusClient.decisionNanoseconds
            for call in calls { perform(call, for: client) }
        case .denied(let reason), .undecided(let reason):
            client.allowedUntil = nil
            for call in calls { refuse(call, "AccessDenied", "Not Authorized: \(reason)") }
            // Records are limited to clients with claims: programs without permission could use up all of them.
            if claims.claims[client.name] == nil { vanish(client) }
            var isUndecided = false
            if case .undecided = decision { isUndecided = true }
            guard now >= refusalLogNanoseconds else { return }
            refusalLogNanoseconds = now + 60_000_000_000
            surroundings.say(
                "D-Bus: \(client.name) may not claim sensors: \(reason)", isUndecided ? .warning : .info)
        }
    }

    private func perform(_ call: BusMessage, for client: BusClient) {
        let now = SystemClock.monotonic()
        let member = call.member
        for sensor in DesktopSensor.allCases {
            if member == "Claim" + sensor.rawValue {
                let number = nextCallNumber()
                if claims.claim(sensor, by: client.name, call: number, readings, at: now) {
                    answer(call, sensor, to: client.name)
                } else {
                    calls[number] = call
                }
            } else if member == "Release" + sensor.rawValue {
                for waiting in claims.release(sensor, by: client.name, at: now) { answer(waiting) }
                reply(to: call)
            } else {
                continue
            }
            return countClaims()
        }
        refuse(call, "UnknownMethod", "there is no method \(member)")
    }

    private func vanish(_ client: BusClient) {
        for waiting in claims.vanish(client.name, at: SystemClock.monotonic()) { calls[waiting.call] = nil }
        clients[client.name] = nil
        forget(client)
        countClaims()
    }

    /// Frees the client's resources of the connection.
    func forget(_ client: BusClient) {
        connection?.remove(client.vanishing)
        connection?.remove(client.question)
        (client.vanishing, client.question) = (nil, nil)
    }

    private func countClaims() {
        gauges.change { state in
            state.claims = Dictionary(
                uniqueKeysWithValues: DesktopSensor.allCases.map { ($0, claims.claimers(of: $0).count) })
        }
    }

    // MARK: - Functions for sd-bus

    /// The client of a callback's receiver; it ends after its matches and questions, on the calling thread.
    private static func client(_ receiver: UnsafeMutableRawPointer?) -> BusClient? {
        receiver.map { Unmanaged<BusClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let decided: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let raw, let client = client(receiver), let connection = client.service.connection else { return 0 }
        let service = client.service
        connection.remove(client.question)
        client.question = nil
        let reply = BusMessage(keeping: raw, connection.library)
        if service.settings.claims == .polkit, reply.error != nil, client.action < ClaimAuthority.actions.count {
            // Each action is tried once, beginning with the one that worked last.
            client.action += 1
            service.action = (service.action + 1) % ClaimAuthority.actions.count
            if client.action < ClaimAuthority.actions.count {
                service.ask(about: client)
                return 0
            }
        }
        client.action = 0
        service.apply(
            // The group directory loads a library of 0.3 MB, so it is used only if a group decides.
            ClaimAuthority.decision(
                of: reply, service.settings, group: service.settings.claims == .group ? service.group : nil,
                user: getuid()), about: client)
        return 0
    }

    private static let ownerChanged: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let raw, let client = client(receiver), let connection = client.service.connection else { return 0 }
        let message = BusMessage(keeping: raw, connection.library)
        guard message.isOfBus, message.text() == client.name, message.text() != nil, message.text() == "" else {
            return 0
        }
        client.service.vanish(client)
        return 0
    }
}
