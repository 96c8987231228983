import Binnacle
import Glibc
import LinuxSystem
import Synchronization

extension SocketService {
    /// How many connections are taken before others have their turn.
    private static let mostAtOnce = 64
    /// How long to wait when the system has no descriptor left, unless a connection ends before.
    private static let pauseNanoseconds: Int64 = 1_000_000_000

    // MARK: - Connections

    /// Takes the connections that wait.
    func acceptConnections() {
        for _ in 0..<Self.mostAtOnce {
            do throws(SystemError) {
                let socket = try listener.accept()
                try admit(socket)
            } catch {
                switch error.code {
                case EAGAIN: return
                // Whoever it was has gone again.
                case ECONNABORTED, EPROTO, ENOTCONN: continue
                default: return pauseAccepting(error)
                }
            }
        }
    }

    /// Takes no more connections for good.
    func stopListening() {
        epoll.remove(listener.raw)
        listener.remove()
        acceptTime = nil
    }

    /// Goes on taking connections.
    func resumeAccepting() {
        acceptTime = nil
        do throws(SystemError) {
            try epoll.add(listener.raw, token: Self.listenerToken)
        } catch {
            acceptTime = SystemClock.monotonic() + Self.pauseNanoseconds
        }
    }

    /// Leaves connections waiting: the socket is ready all the time, and would keep this thread busy.
    private func pauseAccepting(_ error: SystemError) {
        let now = SystemClock.monotonic()
        if let text = limits.faults.pass("no connection can be taken: \(error.reason)", now: now) {
            surroundings.say(text, .warning)
        }
        epoll.remove(listener.raw)
        acceptTime = now + Self.pauseNanoseconds
    }

    private func admit(_ socket: Descriptor) throws(SystemError) {
        let peer = try PeerCredentials(of: socket.raw)
        let now = SystemClock.monotonic()
        let connection = ServedConnection(
            identifier: nextIdentifier, socket: socket, peer: peer,
            deadline: Units.later(now, by: requestNanoseconds))
        gauges.state.withLock { $0.acceptedCount += 1 }
        guard policy.allows(peer) else {
            refuse(connection, "\(SocketMessage.noPermission): the daemon's configuration names who may connect")
            return
        }
        // Whoever runs the daemon finds a place also when others have taken all of theirs.
        let places = connectionLimit + (policy.isTrusted(peer) ? reservedPlaces : 0)
        guard connections.count < places else {
            refuse(connection, "there are \(connectionLimit) connections already, and no more are allowed")
            return
        }
        // What waits in the kernel for a subscriber is memory, too.
        var size: Int32 = 32_768
        setsockopt(socket.raw, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        try epoll.add(socket.raw, token: nextIdentifier)
        connections[nextIdentifier] = connection
        nextIdentifier += 1
        gauges.state.withLock { $0.connectionCount += 1 }
    }

    /// Tells a client why it gets nothing; whoever calls this closes the connection, or forgets it.
    func refuse(_ connection: ServedConnection, _ message: String, column: Int? = nil) {
        gauges.state.withLock { $0.refusedCount += 1 }
        let now = SystemClock.monotonic()
        if let text = limits.refusals.pass("refused \(policy.name(connection.peer)): \(message)", now: now) {
            surroundings.say(text, .warning)
        }
        // The beginning of a line that waits would be torn.
        guard !connection.hasOutput else { return }
        var line: [UInt8] = []
        line.append(line: SocketMessage.error(message: message, column: column).json)
        _ = connection.write(line)
    }

    // MARK: - Requests

    /// Does what a connection is ready for.
    func respond(_ identifier: UInt64, _ isHungUp: Bool) {
        guard let connection = connections[identifier] else { return }
        if connection.isReading { read(connection) }
        // Nobody is there any more, to read or to write.
        guard !isHungUp else { return close(identifier) }
        pump(identifier)
    }

    private func read(_ connection: ServedConnection) {
        do throws(SystemError) {
            guard let bytes = try connection.read() else { return }
            guard !bytes.isEmpty else { return endReading(connection) }
            guard case .requesting = connection.phase, connection.request.count < SocketRequest.longestLine else {
                return refuseMore(connection)
            }
            connection.request += bytes
            takeRequest(connection, newCount: bytes.count)
        } catch {
            close(connection.identifier)
        }
    }

    /// The client sends nothing more; it may still read.
    private func endReading(_ connection: ServedConnection) {
        connection.isReading = false
        guard case .requesting = connection.phase else { return }
        if !connection.request.isEmpty { refuse(connection, "the request has no line end") }
        close(connection.identifier)
    }

    private func refuseMore(_ connection: ServedConnection) {
        refuse(connection, "nothing may follow the request")
        close(connection.identifier)
    }

    private func takeRequest(_ connection: ServedConnection, newCount: Int) {
        let fresh = connection.request.suffix(newCount)
        guard let end = fresh.firstIndex(of: UInt8(ascii: "\n")), end < SocketRequest.longestLine else {
            guard connection.request.count >= SocketRequest.longestLine else { return }
            refuse(connection, "a request has at most \(SocketRequest.longestLine) bytes and ends with its line")
            return close(connection.identifier)
        }
        guard end == connection.request.count - 1 else { return refuseMore(connection) }
        let line = connection.request[..<end]
        do throws(SocketRequest.SyntaxError) {
            let request = try SocketRequest(parsing: line)
            connection.request = []
            switch request {
            case .subscribe(let subscription): subscribe(connection, subscription)
            case .status:
                connection.phase = .asking
                let text = "\(policy.name(connection.peer)) asks for the status"
                if let text = limits.questions.pass(text, now: SystemClock.monotonic()) {
                    surroundings.say(text, .debug)
                }
                askStatus(for: connection.identifier)
            }
        } catch {
            refuse(connection, error.message, column: error.column)
            close(connection.identifier)
        }
    }

    private func subscribe(_ connection: ServedConnection, _ request: SubscriptionRequest) {
        let identity = identity
        let feed = EventFeed(request, identity: identity, hasHistory: hasHistory, ring: ring)
        connection.phase = .subscribed(feed)
        let gauge = SubscriberGauge(peer: connection.peer)
        gauge.sequence.store(feed.after, ordering: .relaxed)
        connection.gauge = gauge
        gauges.state.withLock { $0.subscribers[connection.identifier] = gauge }
        let now = SystemClock.monotonic()
        if let text = limits.subscriptions.pass("\(policy.name(connection.peer)) has subscribed", now: now) {
            surroundings.say(text, .info)
        }
        subscriptionsChanged(without: nil)
        var line: [UInt8] = []
        line.append(
            line: SocketMessage.subscribed(identity: identity, newest: ring.newestSequence, after: feed.after).json)
        if connection.write(line) == .failed { close(connection.identifier) }
    }

    /// Gives a connection the answer that it has asked for.
    func answer(_ identifier: UInt64, with text: String) {
        guard let connection = connections[identifier], case .asking = connection.phase else { return }
        connection.phase = .closing
        var line: [UInt8] = []
        line.append(line: SocketMessage.status(text).json)
        if connection.write(line) == .failed { return close(identifier) }
        pump(identifier)
    }
}
