import CLinux
import Glibc
import LinuxSystem

/// Listens on a port, and sends the sentences to everybody who has connected.
///
/// There are places for some; who takes nothing for too long loses its own.
final class NMEAServer: NMEATransport {
    /// The most connections.
    static let mostClients = 32
    /// What the kernel keeps for a connection, in bytes: little, so that who is slow is soon known for it, and does not
    /// steer by old headings.
    private static let sendBuffer: Int32 = 4096
    private static let listenerToken: UInt64 = 1
    /// After how many seconds without an answer a connection is over: a plotter that was switched off never says so.
    private static let silenceSeconds: Int32 = 30

    private let epoll: Epoll
    private let state: NMEAState
    private let times: NMEATimes
    private let listener: Descriptor
    private var clients: [UInt64: NMEAClient] = [:]
    private var nextToken = NMEAServer.listenerToken + 1
    /// When somebody is let in again, after the system had no descriptor left.
    private var acceptTime: Int64?

    /// Begins to listen.
    ///
    /// - Throws: ``NMEAFailure`` when the address is not ours, or the port somebody else's.
    init(_ settings: NMEASettings, epoll: Epoll, state: NMEAState, times: NMEATimes) throws(NMEAFailure) {
        self.epoll = epoll
        self.state = state
        self.times = times
        guard let address = try NMEAFailure.lookUp(settings, SOCK_STREAM, isOwn: true).first else {
            throw NMEAFailure(reason: "\(settings.address): it has no address")
        }
        do throws(SystemError) {
            listener = try Self.listen(at: address)
            try epoll.add(listener.raw, token: Self.listenerToken)
            let port = try NetworkAddress.port(of: listener)
            state.update { $0.port = port }
        } catch {
            throw NMEAFailure(settings.address, error)
        }
    }

    private static func listen(at address: NetworkAddress) throws(SystemError) -> Descriptor {
        let socket = try address.makeSocket(SOCK_STREAM)
        // Connections that were closed a moment ago would keep the port.
        try socket.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        // [::] is everybody, whichever protocol they speak.
        if address.family == AF_INET6 { try socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        // Connections have it from whom they were made by.
        try socket.setOption(SOL_SOCKET, SO_SNDBUF, sendBuffer)
        try systemCall("bind") { address.withPointer { bind(socket.raw, $0, $1) } }
        try systemCall("listen") { Glibc.listen(socket.raw, 16) }
        return socket
    }

    deinit {
        state.update { statistics in
            statistics.port = nil
            statistics.clientCount = 0
        }
    }

    var isProven: Bool { true }

    var nextTime: Int64? {
        let overdue = clients.values.compactMap { $0.blockedSince }.min().map { $0 + times.patience }
        return [acceptTime, overdue].compactMap { $0 }.min()
    }

    func send(_ sentences: [[UInt8]], at now: Int64) {
        let piece = Array(sentences.joined())
        for (token, client) in clients { settle(token, client, client.write(piece, at: now)) }
        if !clients.isEmpty { state.update { $0.sentCount += sentences.count } }
    }

    func respond(_ token: UInt64, isHungUp: Bool, at now: Int64) {
        if token == Self.listenerToken { return accept(at: now) }
        guard let client = clients[token] else { return }
        guard !isHungUp, client.discardInput() else { return close(token) }
        settle(token, client, client.flush(at: now))
    }

    func advance(to now: Int64) {
        if let time = acceptTime, time <= now { listens(true) }
        for (token, client) in clients {
            guard let since = client.blockedSince, since + times.patience <= now else { continue }
            state.update { $0.slowCount += 1 }
            close(token)
        }
    }

    // MARK: - Connections

    /// Waits for room when there is none, and closes a connection whose other end is gone.
    private func settle(_ token: UInt64, _ client: NMEAClient, _ result: NMEAClient.Writing) {
        guard result != .failed else { return close(token) }
        let waits = result == .blocked
        guard waits != client.waitsForRoom else { return }
        client.waitsForRoom = waits
        do throws(SystemError) {
            try epoll.change(client.raw, token: token, reads: true, writes: waits)
        } catch {
            close(token)
        }
    }

    private func accept(at now: Int64) {
        // As many as may have come at a time; the others are told of again.
        for _ in 0..<16 {
            do throws(SystemError) {
                let socket = Descriptor(owning: try systemCall("accept") { clinux_accept(listener.raw) })
                guard clients.count < Self.mostClients else {
                    state.update { $0.refusedCount += 1 }
                    continue
                }
                try take(socket)
            } catch {
                switch error.code {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    acceptTime = now + times.acceptPause
                    return listens(false)
                case EAGAIN: return
                // The client has closed its connection already: no failure of the server.
                default: continue
                }
            }
        }
    }

    private func take(_ socket: Descriptor) throws(SystemError) {
        // A heading that waits for the next one is late.
        try socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        try socket.setOption(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Self.silenceSeconds * 1000)
        try socket.setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
        try socket.setOption(Int32(IPPROTO_TCP), TCP_KEEPIDLE, Self.silenceSeconds / 3)
        try socket.setOption(Int32(IPPROTO_TCP), TCP_KEEPINTVL, Self.silenceSeconds / 3)
        try epoll.add(socket.raw, token: nextToken)
        clients[nextToken] = NMEAClient(socket)
        nextToken += 1
        state.update { $0.clientCount += 1 }
    }

    private func close(_ token: UInt64) {
        guard let client = clients.removeValue(forKey: token) else { return }
        epoll.remove(client.raw)
        state.update { $0.clientCount -= 1 }
        // There is a descriptor again.
        if acceptTime != nil { listens(true) }
    }

    private func listens(_ isOpen: Bool) {
        if isOpen { acceptTime = nil }
        do throws(SystemError) {
            try epoll.change(listener.raw, token: Self.listenerToken, reads: isOpen, writes: false)
        } catch {
            // The kernel is out of memory; it is tried again with the next one who goes.
        }
    }
}
