import Binnacle
import Glibc
import LinuxSystem
import PlainText

extension SocketService {
    // MARK: - Connections

    func acceptConnections() {
        guard let error = acceptor.accept(admit) else { return }
        log("no connection can be taken: \(error.reason)", .warning, within: &limits.faults)
    }

    /// Logs a message that a client can cause at will; `false` when the limit omits it.
    @discardableResult
    private func log(_ text: @autoclosure () -> String, _ level: LogLevel, within limit: inout MessageLimit) -> Bool {
        guard let text = limit.pass(text(), now: SystemClock.monotonic()) else { return false }
        surroundings.say(text, level)
        return true
    }

    private func admit(_ socket: Descriptor) throws(SystemError) {
        let peer = try PeerCredentials(of: socket.raw)
        let now = SystemClock.monotonic()
        // Output in the kernel's buffer uses memory, too.
        try socket.setOption(SOL_SOCKET, SO_SNDBUF, 32_768)
        let connection = ServedConnection(
            try StreamConnection(socket, epoll, token: nextIdentifier), peer: peer,
            deadline: Units.later(now, by: requestNanoseconds))
        gauges.change { $0.acceptedCount += 1 }
        guard policy.allows(peer) else {
            refuse(connection, "\(SocketMessage.noPermission): the daemon's configuration names who may connect")
            return
        }
        // Some connections are reserved for root and the daemon's own account.
        let limit = settings.connectionLimit
        guard connections.count < limit + (policy.isTrusted(peer) ? settings.reservedPlaces : 0) else {
            refuse(
                connection, "there are \(connections.count) connections already, and no more are allowed", isBusy: true)
            return
        }
        // One account must not use up the connections of all others.
        let most = settings.accountLimit
        guard policy.isTrusted(peer) || connections.values.count(where: { $0.peer.user == peer.user }) < most else {
            let message = "this account has \(most) connections already, and no more are allowed for one"
            refuse(connection, message, isBusy: true)
            return
        }
        connections[nextIdentifier] = connection
        nextIdentifier += 1
        gauges.change { $0.connectionCount += 1 }
    }

    /// Sends a client the reason of a refusal, and whether a later attempt may succeed; the caller closes or discards the
    /// connection.
    func refuse(_ connection: ServedConnection, _ message: String, column: Int? = nil, isBusy: Bool = false) {
        gauges.change { $0.refusedCount += 1 }
        log("refused \(policy.name(connection.peer)): \(message)", .warning, within: &limits.refusals)
        // It would follow an incomplete line.
        guard !connection.hasOutput else { return }
        _ = connection.send(isBusy ? .busy(message: message) : .error(message: message, column: column))
    }

    // MARK: - Requests

    func respond(_ identifier: UInt64, _ isHungUp: Bool) {
        guard let connection = connections[identifier] else { return }
        if connection.stream.isReading { read(connection) }
        guard !isHungUp else { return close(identifier) }
        pump(identifier)
    }

    private func read(_ connection: ServedConnection) {
        do throws(SystemError) {
            guard let bytes = try connection.stream.read() else { return }
            guard !bytes.isEmpty else { return endReading(connection) }
            if case .refused = connection.phase {
                connection.discardedCount += bytes.count
                if connection.discardedCount > Self.mostDiscarded { close(connection.identifier) }
                return
            }
            guard case .requesting = connection.phase, connection.request.count < SocketRequest.longestLine else {
                return refuseMore(connection)
            }
            connection.request += bytes
            handleRequest(connection, newCount: bytes.count)
        } catch {
            close(connection.identifier)
        }
    }

    /// Handles the end of the client's input; the client may still read.
    private func endReading(_ connection: ServedConnection) {
        connection.stream.isReading = false
        if case .refused = connection.phase { return close(connection.identifier) }
        guard case .requesting = connection.phase else { return }
        if !connection.request.isEmpty { refuse(connection, "the request has no line end") }
        close(connection.identifier)
    }

    private func refuseMore(_ connection: ServedConnection) {
        refuseAndWait(connection, "nothing may follow the request")
    }

    /// Refuses a request whose client may still be writing.
    func refuseAndWait(_ connection: ServedConnection, _ message: String, column: Int? = nil) {
        gauges.change { $0.subscribed[connection.identifier] = nil }
        subscriptionsChanged(without: connection)
        refuse(connection, message, column: column)
        connection.request = []
        connection.phase = .refused(
            deadline: Units.later(SystemClock.monotonic(), by: Self.refusedNanoseconds))
        pump(connection.identifier)
    }

    private func handleRequest(_ connection: ServedConnection, newCount: Int) {
        let fresh = connection.request.suffix(newCount)
        guard let end = fresh.firstIndex(of: UInt8(ascii: "\n")), end < SocketRequest.longestLine else {
            guard connection.request.count >= SocketRequest.longestLine else { return }
            return refuseAndWait(
                connection, "a request has at most \(SocketRequest.longestLine) bytes and ends with its line")
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
                log("\(policy.name(connection.peer)) asks for the status", .debug, within: &limits.questions)
                requestStatus(for: connection.identifier)
            case .change(let change):
                connection.phase = .asking
                let text =
                    "\(policy.name(connection.peer)) asks to \(change.action.rawValue) \(Spelling.quoted(change.name))"
                if !log(text, .notice, within: &limits.changes) {
                    omittedMessages[connection.identifier] = (text, connection.peer.user)
                }
                requestChange(change, for: connection.identifier)
            }
        } catch {
            refuseAndWait(connection, error.message, column: error.column)
        }
    }

    private func subscribe(_ connection: ServedConnection, _ request: SubscriptionRequest) {
        var samples = request.samples.map(SamplesFeed.init)
        do throws(SamplesRequest.Missing) {
            try samples?.choose(from: sampleStreams, sampleRings)
        } catch {
            return refuseAndWait(connection, error.message)
        }
        let identity = identity
        let feed = EventFeed(request, identity: identity, hasHistory: hasHistory, ring: ring)
        connection.phase = .subscribed(feed)
        connection.readings = request.readings.map(LiveValuesFeed.init)
        connection.samples = samples
        gauges.change {
            $0.subscribed[connection.identifier] = .init(peer: connection.peer, sequence: feed.after)
        }
        log("\(policy.name(connection.peer)) has subscribed", .info, within: &limits.subscriptions)
        subscriptionsChanged(without: nil)
        let isSent = connection.send(
            .subscribed(identity: identity, newest: ring.newestSequence, after: feed.after))
        if !isSent { close(connection.identifier) }
    }

    func answer(_ identifier: UInt64, with message: SocketMessage) {
        // Requests for nothing leave no gap in which a change has no author, also of a client that has left.
        if let omitted = omittedMessages.removeValue(forKey: identifier), case .changed(let change) = message {
            let key = "\(omitted.account) \(change.action.rawValue) \(change.name)"
            log(omitted.text, .notice, within: &limits.effects[key, default: MessageLimit()])
        }
        guard let connection = connections[identifier], case .asking = connection.phase else { return }
        connection.phase = .closing
        guard connection.send(message) else { return close(identifier) }
        pump(identifier)
    }
}

/// Limits the rate of log messages, or of other reports that clients can cause, and counts the omitted ones.
package struct MessageLimit {
    private let most = 10
    private let periodNanoseconds: Int64 = 10_000_000_000
    private var beginNanoseconds: Int64 = .min
    private var count = 0

    package init() {}

    /// When the present period ends, on the clock of its messages.
    package var endNanoseconds: Int64 { Units.later(beginNanoseconds, by: periodNanoseconds) }

    /// Whether another report may be made.
    package mutating func passes(now: Int64) -> Bool { pass("", now: now) != nil }

    /// The message, with the number of those omitted before it; `nil` when it is omitted.
    mutating func pass(_ text: @autoclosure () -> String, now: Int64) -> String? {
        var suffix = ""
        if beginNanoseconds == .min || now - beginNanoseconds >= periodNanoseconds {
            if count > most { suffix = " (\(count - most) more like this before it)" }
            beginNanoseconds = now
            count = 0
        }
        count += 1
        return count <= most ? text() + suffix : nil
    }
}
