import CSDBus

/// A client on the bus: its pending calls, and its permission.
package final class BusClient {
    let name: String
    unowned let service: BusService
    /// The calls that wait for the decision, in order.
    var calls: [BusMessage] = []
    /// How long the last positive decision is valid, on CLOCK_MONOTONIC.
    var allowedUntil: Int64?
    /// The match that reports the client's end, and the pending question about its account or its permission.
    var vanishing: OpaquePointer?
    var question: OpaquePointer?
    /// The account, as the bus knows it; `nil` until the bus has answered.
    var account: UInt32?
    /// Whether the queue counts an unanswered question about the client.
    var isAsked = false

    /// The index in ``ClaimAuthority/actions`` of the action that is tried first, and the number of those tried before the current.
    var firstAction = 0
    var triedCount = 0
    var action: Int { (firstAction + triedCount) % ClaimAuthority.actions.count }

    package static let mostCalls = 64
    /// The maximum number of calls of an account that wait for decisions: the bus allows it 256 connections.
    package static let mostCallsOfAccount = 1024
    /// The validity of a decision: each is a round trip to polkit, and clients may call in a loop.
    static let decisionNanoseconds: Int64 = 1_000_000_000

    init(_ name: String, _ service: BusService) {
        self.name = name
        self.service = service
    }
}

enum ClaimDecision {
    case allowed
    /// Denied, with a reason for the client.
    case denied(String)
    /// No decision, with a reason for the log.
    case undecided(String)
}

/// Asks for the decision about claims: polkit, or the bus, which knows a client's groups.
enum ClaimAuthority {
    /// The actions of polkit; the second is used if the first is not registered, or is iio-sensor-proxy's: polkit answers
    /// questions about other accounts only to root and to an action's owner.
    static let actions = ["net.hadess.SensorProxy.claim-sensor", "org.binnacle.Binnacle1.claim-sensor"]
    /// The timeout of an answer: polkit may have to be started first, and callers wait 25 s for both actions.
    private static let timeMicroseconds: UInt64 = 10_000_000

    /// Asks the bus for the account and the groups of a client.
    static func askForAccount(
        of client: BusClient, _ connection: BusConnection, answer: @escaping sd_bus_message_handler_t
    ) throws(BusFailure) -> OpaquePointer? {
        try connection.call(
            "GetConnectionCredentials", of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus", within: timeMicroseconds, answer: answer,
            receiver: Unmanaged.passUnretained(client).toOpaque()
        ) { message throws(BusFailure) in try message.append(client.name) }
    }

    /// Asks whether a client may; the answer is the call's reply, which ``decision(of:_:group:user:)`` evaluates.
    static func ask(
        _ settings: DBusSettings, about client: BusClient, _ connection: BusConnection,
        answer: @escaping sd_bus_message_handler_t
    ) throws(BusFailure) -> OpaquePointer? {
        switch settings.claims {
        case .polkit:
            return try connection.call(
                "CheckAuthorization", of: "org.freedesktop.PolicyKit1.Authority",
                at: "/org/freedesktop/PolicyKit1/Authority", of: "org.freedesktop.PolicyKit1", within: timeMicroseconds,
                answer: answer, receiver: Unmanaged.passUnretained(client).toOpaque()
            ) { message throws(BusFailure) in
                try message.within("r", "sa{sv}") { () throws(BusFailure) in
                    try message.append("system-bus-name")
                    try message.append(dictionary: [("name", .text(client.name))])
                }
                try message.append(actions[client.action])
                try message.append(emptyArrayOf: "{ss}")
                // No interaction: a turning screen must not cause a password prompt.
                try message.append(UInt32(0))
                try message.append("")
            }
        case .group:
            return try askForAccount(of: client, connection, answer: answer)
        }
    }

    /// Evaluates the reply; the group is `nil` if the machine has none of this name, the user is the daemon's own account.
    static func decision(
        of reply: BusMessage, _ settings: DBusSettings, group: UInt32?, user: UInt32
    ) -> ClaimDecision {
        if let error = reply.error {
            switch settings.claims {
            case .polkit:
                return .undecided(
                    "polkit did not decide about a claim (\(error)); without polkit, set claims = \"group\" in [dbus]")
            case .group: return .denied("the bus does not know the groups of the client")
            }
        }
        switch settings.claims {
        case .polkit:
            guard reply.enter("r", "bba{ss}"), let isAllowed = reply.boolean() else {
                return .undecided("polkit answered in an unknown form")
            }
            return isAllowed ? .allowed : .denied("polkit does not allow it")
        case .group:
            guard let group else {
                return .undecided("the machine has no group '\(settings.group)', which [dbus] has to know about claims")
            }
            let (account, groups) = credentials(reply)
            if account == 0 || account == user || groups.contains(group) { return .allowed }
            return .denied("the account is no member of the group '\(settings.group)'")
        }
    }

    /// The account and the groups in a dictionary of the bus.
    static func credentials(_ reply: BusMessage) -> (account: UInt32?, groups: [UInt32]) {
        var (account, groups) = (UInt32?.none, [UInt32]())
        guard reply.enter("a", "{sv}") else { return (nil, []) }
        while reply.enter("e", "sv") {
            switch (reply.text(), reply.variantContents) {
            case ("UnixUserID", "u"):
                guard reply.enter("v", "u") else { break }
                account = reply.number()
                reply.exit()
            case ("UnixGroupIDs", "au"):
                guard reply.enter("v", "au") else { break }
                if reply.enter("a", "u") {
                    while let group = reply.number() { groups.append(group) }
                    reply.exit()
                }
                reply.exit()
            default: reply.skip("v")
            }
            reply.exit()
        }
        return (account, groups)
    }
}
