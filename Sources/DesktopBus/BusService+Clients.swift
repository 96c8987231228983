import CSDBus
import Glibc
import LinuxSystem
import PlainText

/// Clients: their permission, their claims, and their end.
extension BusService {
    /// Accepts a call about a claim, and asks for the decision about it.
    func handleClaim(_ message: BusMessage, from name: String) {
        // A program may always give up what it has: a session that has become inactive may not claim any more.
        if let known = clients[name], known.calls.isEmpty, Self.isRelease(message) {
            return perform(message, for: known)
        }
        let client = clients[name] ?? BusClient(name, self)
        guard client.calls.count + claims.waiting.count(where: { $0.client == name }) < BusClient.mostCalls else {
            return refuse(message, "LimitsExceeded", "too many calls of this program wait for an answer")
        }
        if let account = client.account, callCount(of: account) >= BusClient.mostCallsOfAccount {
            return refuse(message, "LimitsExceeded", Self.tooManyOfAccount)
        }
        if client.calls.isEmpty, let until = client.allowedUntil, SystemClock.monotonic() < until {
            return perform(message, for: client)
        }
        clients[name] = client
        client.calls.append(message)
        guard client.calls.count == 1, let connection else { return }
        if let account = client.account { return questions.add(name, of: account) }
        ask(about: client) { () throws(BusFailure) in
            try ClaimAuthority.askForAccount(of: client, connection, answer: Self.identified)
        }
    }

    private static let tooManyOfAccount = "too many calls of this account wait for an answer"

    /// Asks about the clients whose turn it is.
    func askWaiting() {
        while let connection, let (name, account) = questions.next() {
            guard let client = clients[name] else {
                questions.finish(account)
                continue
            }
            client.isAsked = true
            guard hasPlace(client, account) else {
                for call in removeCalls(client) {
                    refuse(call, "LimitsExceeded", "too many programs have claimed sensors")
                }
                vanish(client)
                continue
            }
            client.firstAction = action
            client.triedCount = 0
            askAuthority(about: client, connection)
        }
    }

    private func askAuthority(about client: BusClient, _ connection: BusConnection) {
        ask(about: client) { () throws(BusFailure) in
            // The bus adds the match before it answers about permission: a client that vanished before gets no answer.
            if client.vanishing == nil {
                client.vanishing = try connection.match(
                    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                        + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(client.name)'",
                    Self.ownerChanged, receiver: Unmanaged.passUnretained(client).toOpaque())
            }
            return try ClaimAuthority.ask(settings, about: client, connection, answer: Self.decided)
        }
    }

    private func ask(about client: BusClient, _ question: () throws(BusFailure) -> OpaquePointer?) {
        do throws(BusFailure) {
            client.question = try question()
        } catch {
            apply(.undecided("\(error)"), about: client)
        }
    }

    /// Whether the bus may report the end of one more client of the account; those that wait need no report.
    private func hasPlace(_ client: BusClient, _ account: UInt32) -> Bool {
        guard client.vanishing == nil else { return true }
        let places = clients.values.filter { $0.vanishing != nil }
        return places.count < Self.mostClients && places.count { $0.account == account } < Self.mostClientsOfAccount
    }

    /// The calls of an account that wait for a decision or for a value.
    private func callCount(of account: UInt32) -> Int {
        clients.values.reduce(0) { $0 + ($1.account == account ? $1.calls.count : 0) }
            + claims.waiting.count { clients[$0.client]?.account == account }
    }

    /// Ends the question about a client, and returns the calls that waited for it.
    private func removeCalls(_ client: BusClient) -> [BusMessage] {
        if client.isAsked, let account = client.account { questions.finish(account) }
        client.isAsked = false
        defer { client.calls = [] }
        return client.calls
    }

    private func apply(_ decision: ClaimDecision, about client: BusClient) {
        let calls = removeCalls(client)
        let now = SystemClock.monotonic()
        switch decision {
        case .allowed:
            client.allowedUntil = now + BusClient.decisionNanoseconds
            for call in calls { perform(call, for: client) }
        case .denied(let reason), .undecided(let reason):
            client.allowedUntil = nil
            let hasClaims = claims.claims[client.name] != nil
            for call in calls {
                if hasClaims, Self.isRelease(call) {
                    perform(call, for: client)
                } else {
                    refuse(call, "AccessDenied", "Not Authorized: \(reason)")
                }
            }
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

    private static func isRelease(_ call: BusMessage) -> Bool { call.member.hasPrefix("Release") }

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
        _ = removeCalls(client)
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

    /// The client of a callback and the reply to its question, which is over.
    private static func answer(
        _ raw: OpaquePointer?, _ receiver: UnsafeMutableRawPointer?
    ) -> (client: BusClient, connection: BusConnection, reply: BusMessage)? {
        guard let raw, let client = client(receiver), let connection = client.service.connection else { return nil }
        connection.remove(client.question)
        client.question = nil
        return (client, connection, BusMessage(keeping: raw, connection.library))
    }

    private static let identified: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let (client, _, reply) = answer(raw, receiver) else { return 0 }
        let service = client.service
        // Without an account it is gone, and nothing waits for an answer.
        let account = reply.error == nil ? ClaimAuthority.credentials(reply).account : nil
        guard let account, service.callCount(of: account) + client.calls.count <= BusClient.mostCallsOfAccount else {
            for call in service.removeCalls(client) { service.refuse(call, "LimitsExceeded", tooManyOfAccount) }
            service.vanish(client)
            return 0
        }
        client.account = account
        service.questions.add(client.name, of: account)
        return 0
    }

    private static let decided: sd_bus_message_handler_t = { raw, receiver, _ in
        guard let (client, connection, reply) = answer(raw, receiver) else { return 0 }
        let service = client.service
        if service.settings.claims == .polkit {
            if reply.error == nil {
                service.action = client.action
            } else if client.triedCount + 1 < ClaimAuthority.actions.count {
                // Each client tries each action once, beginning with the one that worked last.
                client.triedCount += 1
                service.askAuthority(about: client, connection)
                return 0
            }
        }
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
