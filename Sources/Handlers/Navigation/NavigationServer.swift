import Glibc
import LinuxSystem

/// Listens on a TCP port, and sends the messages to all clients.
///
/// A client never gets part of a message: while the rest of one waits to be sent, further messages are discarded.
final class NavigationServer: NavigationTransport {
    static let mostClients = 32
    /// The most connections of one address (of IPv6, of one /64), so that one machine does not keep the others out.
    static let mostOfNetwork = 24
    /// The kernel's send buffer of a connection, in bytes: small, so that a slow client is detected soon and gets no old
    /// headings.
    private static let sendBuffer: Int32 = 4096
    /// The seconds without an answer after which a connection is closed: a plotter that is switched off sends no FIN.
    private static let silenceSeconds: Int32 = 30

    private struct Client {
        let connection: StreamConnection
        let network: UInt64
        /// When the client last accepted a part of the waiting output; `nil` when none waits.
        var blockedSince: Int64?
    }

    /// Why the last connection could not be taken; `nil` when it was.
    private(set) var refusal: NavigationFailure?

    private let address: String
    private let epoll: Epoll
    private let state: NavigationState
    private let times: NavigationTimes
    /// One for each address; all have the same token.
    private let acceptors: [StreamAcceptor]
    private var clients: [UInt64: Client] = [:]
    private var nextToken: UInt64 = 0

    init(_ settings: NavigationSettings, epoll: Epoll, state: NavigationState, times: NavigationTimes)
        throws(NavigationFailure)
    {
        address = settings.address
        self.epoll = epoll
        self.state = state
        self.times = times
        let addresses = try NavigationFailure.resolve(settings, SOCK_STREAM, isOwn: true)
        guard !addresses.isEmpty else { throw NavigationFailure(reason: "\(settings.address): it has no address") }
        acceptors = try mapError({ NavigationFailure(settings.address, $0) }) { () throws(SystemError) in
            let listeners = try Self.listen(addresses)
            if let first = listeners.first {
                let port = try NetworkAddress(of: first.raw).port
                state.update { $0.port = port }
            }
            var acceptors: [StreamAcceptor] = []
            for listener in listeners {
                acceptors.append(try StreamAcceptor(listener, epoll))
            }
            return acceptors
        }
    }

    /// Listens on all addresses of a name that this machine has; throws when it has none, or when the port of one is taken.
    private static func listen(_ addresses: [NetworkAddress]) throws(SystemError) -> [Descriptor] {
        var listeners: [Descriptor] = []
        var failure: SystemError?
        // A hosts file may lead to one address by two lines.
        var hosts: Set<String> = []
        for address in addresses where hosts.insert(address.host).inserted {
            do throws(SystemError) {
                listeners.append(try address.listen(sendBuffer: sendBuffer, backlog: 16))
            } catch {
                // The handler's predecessor may still have it.
                guard error.code != EADDRINUSE else { throw error }
                failure = failure ?? error
            }
        }
        if listeners.isEmpty, let failure { throw failure }
        return listeners
    }

    deinit {
        state.update { statistics in
            statistics.port = nil
            statistics.clientCount = 0
        }
    }

    var isProven: Bool { refusal == nil }

    var nextTime: Int64? {
        let overdue = clients.values.compactMap { $0.blockedSince }.min().map { $0 + times.patience }
        return (acceptors.map(\.resumeTime) + [overdue]).compactMap { $0 }.min()
    }

    func send(_ messages: [[UInt8]], at now: Int64) {
        let piece = Array(messages.joined())
        for token in clients.keys { update(token, at: now) { $0.write(piece) } }
        if !clients.isEmpty { state.update { $0.sentCount += messages.count } }
    }

    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64) {
        guard token != StreamAcceptor.token else {
            let errors = acceptors.compactMap { $0.accept(admit) }
            refusal = errors.first.map {
                NavigationFailure(reason: "\(address): no connection can be taken: \($0.reason)")
            }
            return
        }
        guard let client = clients[token] else { return }
        guard !isHungUp, discardInput(of: client) else { return close(token) }
        update(token, at: now) { $0.flush() }
    }

    func advance(to now: Int64) {
        for acceptor in acceptors { acceptor.resume(at: now) }
        for (token, client) in clients {
            guard let since = client.blockedSince, since + times.patience <= now else { continue }
            state.update { $0.slowCount += 1 }
            close(token)
        }
    }

    // MARK: - Connections

    private func admit(_ socket: Descriptor) throws(SystemError) {
        let network = try NetworkAddress(of: socket.raw, isPeer: true).network
        // Clients that have gone, and whose end is still to be read, must not keep a new one out.
        if !hasPlace(network) {
            for (token, client) in clients where client.connection.isGone { close(token) }
        }
        guard hasPlace(network) else {
            return state.update { $0.refusedCount += 1 }
        }
        // A delayed heading is an old heading.
        try socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        try socket.setOption(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Self.silenceSeconds * 1000)
        try socket.setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
        try socket.setOption(Int32(IPPROTO_TCP), TCP_KEEPIDLE, Self.silenceSeconds / 3)
        try socket.setOption(Int32(IPPROTO_TCP), TCP_KEEPINTVL, Self.silenceSeconds / 3)
        clients[nextToken] = Client(
            connection: try StreamConnection(socket, epoll, token: nextToken), network: network)
        nextToken += 1
        state.update { $0.clientCount += 1 }
    }

    private func hasPlace(_ network: UInt64) -> Bool {
        clients.count < Self.mostClients && clients.values.count { $0.network == network } < Self.mostOfNetwork
    }

    /// Writes to a client, and closes a connection whose other end is gone.
    private func update(_ token: UInt64, at now: Int64, _ write: (StreamConnection) -> StreamConnection.Writing) {
        guard let client = clients[token] else { return }
        let waitingCount = client.connection.output.count
        let result = write(client.connection)
        let hasProgress = waitingCount == 0 || client.connection.output.count < waitingCount
        clients[token]?.blockedSince = result == .done ? nil : hasProgress ? now : client.blockedSince
        guard result != .failed else { return close(token) }
        do throws(SystemError) {
            try client.connection.watch()
        } catch {
            close(token)
        }
    }

    /// Discards input, because a plotter may send messages of its own; returns whether the client may still take output.
    ///
    /// One that only ends its sending still does; one that is gone refuses what is sent.
    private func discardInput(of client: Client) -> Bool {
        // A single read, so that a flood does not delay the other connections.
        do throws(SystemError) {
            if try client.connection.read()?.isEmpty == true { client.connection.isReading = false }
            return true
        } catch {
            return false
        }
    }

    private func close(_ token: UInt64) {
        guard clients.removeValue(forKey: token) != nil else { return }
        state.update { $0.clientCount -= 1 }
        // A descriptor is available again.
        for acceptor in acceptors { acceptor.resume() }
    }
}
