import Binnacle
import Glibc
import LinuxSystem
import Synchronization

/// The server's work, on its thread: takes connections, and gives each what it wants as fast as it reads.
final class SocketService {
    /// The number of the listening socket; connections are counted from behind these two.
    static let listenerToken: UInt64 = 0
    /// The number of what wakes the thread.
    static let wakerToken: UInt64 = 1

    let gauges: SocketGauges
    let policy: PeerPolicy
    let connectionLimit: Int
    /// The places beyond the limit for those who may do anything anyway.
    let reservedPlaces: Int
    let requestNanoseconds: Int64
    let surroundings: SocketServer.Surroundings
    let epoll: Epoll
    let listener: SocketListener
    /// The connections by their numbers.
    var connections: [UInt64: ServedConnection] = [:]
    /// The number of the next connection.
    var nextIdentifier: UInt64 = 2
    /// The last events.
    var ring: EventRing
    /// When to accept again, after the system had no descriptor left.
    var acceptTime: Int64?
    /// Rate limits for log messages that clients can trigger.
    var limits = (
        refusals: MessageLimit(), faults: MessageLimit(), subscriptions: MessageLimit(), questions: MessageLimit()
    )

    private let courier: Courier<SocketInbox>
    private let history: (any EventHistory)?
    /// What numbers belong to where there is no history: this run.
    private let ownIdentity = String(UInt64.random(in: .min ... .max), radix: 16)
    /// Connections that can be given more at once.
    private var ready: Set<UInt64> = []
    private var repeatedKinds: Set<EventKind> = []
    /// What subscribers were told that numbers belong to.
    private var toldIdentity = ""
    /// The connections that wait for the answer to `status`: it is asked for once for all of them.
    private var statusAskers: [UInt64] = []
    private var lastStatus: (text: String, timeNanoseconds: Int64)?
    private var scratch: [UInt8] = []

    /// How long an answer to `status` is given again: whoever asks in a loop must not keep the daemon busy.
    private static let statusNanoseconds: Int64 = 100_000_000
    /// How much is put together for a connection at a time, in bytes.
    private static let pieceSize = 16_384
    /// How many pieces a connection is given before it is another one's turn.
    private static let mostPieces = 4

    /// Creates the work of a server.
    init(
        listener: SocketListener, epoll: Epoll, courier: Courier<SocketInbox>, gauges: SocketGauges, policy: PeerPolicy,
        connectionLimit: Int, reservedPlaces: Int, history: (any EventHistory)?, ring: EventRing,
        requestNanoseconds: Int64,
        surroundings: SocketServer.Surroundings
    ) {
        self.listener = listener
        self.epoll = epoll
        self.courier = courier
        self.gauges = gauges
        self.policy = policy
        self.connectionLimit = connectionLimit
        self.reservedPlaces = reservedPlaces
        self.history = history
        self.ring = ring
        self.requestNanoseconds = requestNanoseconds
        self.surroundings = surroundings
        toldIdentity = identity
    }

    /// What the numbers of events belong to.
    var identity: String { history?.identity ?? ownIdentity }

    /// Whether events can be had that are no longer in memory.
    var hasHistory: Bool { history != nil }

    /// Works until the server is told to finish, and then until everything published has been given, or time is up.
    func run() {
        var deadline: Int64?
        while true {
            // Asked first: what was published before the request is in the inbox by then.
            let stop = courier.stop
            let contents = courier.withContent { $0.takeAll() }
            if let stop, deadline == nil {
                deadline = stop.endTime
                stopListening()
            }
            take(contents)
            if let deadline, isAllGiven || SystemClock.monotonic() >= deadline { break }
            let timeout = waitTime(deadline)
            // What is ready is asked at each turn anyway: nobody who floods keeps others waiting.
            _ = epoll.wait(timeoutMilliseconds: timeout) { token, isHungUp in
                switch token {
                case Self.wakerToken: courier.waker.clear()
                case Self.listenerToken: acceptConnections()
                default: respond(token, isHungUp)
                }
            }
            let now = SystemClock.monotonic()
            if let time = acceptTime, time <= now { resumeAccepting() }
            closeOverdue(now)
            let waiting = ready
            ready = []
            for identifier in waiting { pump(identifier) }
        }
        for identifier in Array(connections.keys) { close(identifier) }
    }

    // MARK: - What others left

    private func take(_ contents: SocketInbox) {
        announceIdentity()
        for (connection, page) in contents.pages {
            // It comes back, and begins behind the last event that it had.
            if page.isClosed {
                close(connection)
                continue
            }
            guard let served = connections[connection], case .subscribed(var feed) = served.phase else { continue }
            feed.receive(page, ring: ring)
            served.phase = .subscribed(feed)
            pump(connection)
        }
        if let text = contents.status { giveStatus(text) }
        if let sequence = contents.behind, sequence > ring.newestSequence { goOn(behind: sequence) }
        guard !contents.events.isEmpty else { return }
        if let sequence = contents.droppedThrough { ring.forget(through: sequence) }
        for event in contents.events {
            guard let gone = ring.append(event), !hasHistory else { continue }
            for served in connections.values {
                guard case .subscribed(var feed) = served.phase else { continue }
                feed.lose(gone.entry, at: gone.place)
                served.phase = .subscribed(feed)
            }
        }
        gauges.newest.store(ring.newestSequence, ordering: .relaxed)
        for identifier in connections.keys { pump(identifier) }
    }

    /// Tells subscribers what numbers belong to, when that has changed because a store is used at last, or another one.
    private func announceIdentity() {
        let identity = identity
        guard identity != toldIdentity else { return }
        toldIdentity = identity
        for served in connections.values {
            guard case .subscribed(let feed) = served.phase else { continue }
            var line: [UInt8] = []
            line.append(
                line: SocketMessage.subscribed(identity: identity, newest: ring.newestSequence, after: feed.after).json)
            served.announcement = line
            ready.insert(served.identifier)
        }
    }

    private func goOn(behind sequence: UInt64) {
        let end = ring.end
        ring.forget(through: sequence)
        gauges.newest.store(sequence, ordering: .relaxed)
        for served in connections.values {
            guard case .subscribed(var feed) = served.phase else { continue }
            feed.skip(from: end, ring: ring)
            served.phase = .subscribed(feed)
        }
    }

    /// Whether every subscriber has what was published; whoever reads from the history is not waited for.
    private var isAllGiven: Bool {
        ready.isEmpty && !connections.values.contains(where: \.hasOutput)
    }

    private func waitTime(_ deadline: Int64?) -> Int32 {
        guard ready.isEmpty else { return 0 }
        var next = [deadline, acceptTime].compactMap { $0 }.min()
        for connection in connections.values {
            if case .requesting(let end) = connection.phase { next = min(next ?? end, end) }
        }
        return next.map { SystemClock.milliseconds(until: $0) } ?? -1
    }

    // MARK: - Giving

    /// Gives a connection what it can take.
    func pump(_ identifier: UInt64) {
        guard let connection = connections[identifier] else { return }
        for _ in 0..<Self.mostPieces {
            switch connection.flush() {
            case .failed: return close(identifier)
            case .blocked: return watch(connection)
            case .done: break
            }
            switch connection.phase {
            case .requesting, .asking: return watch(connection)
            case .closing: return close(identifier)
            case .subscribed(let feed):
                guard feedNext(connection, feed) else { return }
            }
        }
        ready.insert(identifier)
        watch(connection)
    }

    /// Gives a subscriber its next piece.
    ///
    /// - Returns: Whether there may be another one at once.
    private func feedNext(_ connection: ServedConnection, _ feed: EventFeed) -> Bool {
        if let line = connection.announcement {
            connection.announcement = nil
            guard connection.write(line) != .failed else {
                close(connection.identifier)
                return false
            }
            return true
        }
        var feed = feed
        scratch.removeAll(keepingCapacity: true)
        let step = feed.fill(&scratch, limit: Self.pieceSize, ring: ring)
        connection.phase = .subscribed(feed)
        connection.gauge?.sequence.store(feed.after, ordering: .relaxed)
        connection.gauge?.missed.store(feed.missedCount, ordering: .relaxed)
        switch step {
        case .lines: break
        case .nothing:
            watch(connection)
            return false
        case .page(let query):
            ask(query, for: connection.identifier)
            watch(connection)
            return false
        case .end:
            scratch.append(line: SocketMessage.end.json)
            connection.phase = .closing
            subscriptionsChanged(without: connection)
        }
        if connection.write(scratch) == .failed {
            close(connection.identifier)
            return false
        }
        return true
    }

    private func ask(_ query: EventQuery, for identifier: UInt64) {
        let courier = courier
        guard let history else { return }
        history.read(query) { page in courier.add { $0.pages.append((identifier, page)) } }
    }

    /// Asks how the daemon is, for a connection.
    func askStatus(for identifier: UInt64) {
        if let last = lastStatus, SystemClock.monotonic() - last.timeNanoseconds < Self.statusNanoseconds {
            return answer(identifier, with: last.text)
        }
        statusAskers.append(identifier)
        guard statusAskers.count == 1 else { return }
        let courier = courier
        surroundings.status { text in courier.add { $0.status = text } }
    }

    private func giveStatus(_ text: String) {
        lastStatus = (text, SystemClock.monotonic())
        let askers = statusAskers
        statusAskers = []
        for identifier in askers { answer(identifier, with: text) }
    }

    /// Waits for what the connection waits for.
    private func watch(_ connection: ServedConnection) {
        let wanted = (reads: connection.isReading, writes: connection.hasOutput)
        guard wanted != connection.interest else { return }
        connection.interest = wanted
        do throws(SystemError) {
            try epoll.change(
                connection.raw, token: connection.identifier, reads: wanted.reads, writes: wanted.writes)
        } catch {
            close(connection.identifier)
        }
    }

    // MARK: - Going

    /// Closes a connection.
    func close(_ identifier: UInt64) {
        guard let connection = connections.removeValue(forKey: identifier) else { return }
        ready.remove(identifier)
        epoll.remove(connection.raw)
        gauges.state.withLock { state in
            state.connectionCount -= 1
            state.subscribers[identifier] = nil
        }
        subscriptionsChanged(without: nil)
        // There is a descriptor again.
        if acceptTime != nil { resumeAccepting() }
    }

    /// Tells which of the kinds that repeat a state are wanted, when that has changed.
    func subscriptionsChanged(without gone: ServedConnection?) {
        var wanted: Set<EventKind> = []
        for connection in connections.values where connection !== gone {
            guard case .subscribed(let feed) = connection.phase else { continue }
            wanted.formUnion(feed.filter.kinds?.intersection(EventKind.repeated) ?? [])
        }
        guard wanted != repeatedKinds else { return }
        repeatedKinds = wanted
        surroundings.repeatedKindsChanged(wanted)
    }

    private func closeOverdue(_ now: Int64) {
        for (identifier, connection) in connections {
            guard case .requesting(let deadline) = connection.phase, deadline <= now else { continue }
            refuse(connection, "no request has come in time")
            close(identifier)
        }
    }
}
