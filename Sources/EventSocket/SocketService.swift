import Binnacle
import LinuxSystem

/// The server's work on its thread: accepts connections, and sends lines as fast as each client reads.
package final class SocketService {
    let gauges: Gauges<SocketStatistics>
    let policy: PeerPolicy
    let settings: SocketSettings
    let requestNanoseconds: Int64
    let surroundings: SocketServer.Surroundings
    let epoll: Epoll
    let acceptor: StreamAcceptor
    var connections: [UInt64: ServedConnection] = [:]
    var nextIdentifier: UInt64 = 0
    var ring: EventRing
    /// Rate limits for log messages that clients can trigger.
    var limits = (
        refusals: MessageLimit(), faults: MessageLimit(), subscriptions: MessageLimit(), questions: MessageLimit(),
        changes: MessageLimit(),
        // For each account and each thing that it has changed.
        effects: [String: MessageLimit]()
    )

    /// The omitted log messages about requests for changes, and what limits them when they are made up for, by connection.
    var omittedMessages: [UInt64: (text: String, account: UInt32)] = [:]

    private let listener: SocketListener
    private let courier: Courier<SocketInbox>
    private let history: (any EventHistory)?
    /// The identity of this run, used without a history.
    private let ownIdentity: String
    /// Connections to which more can be sent now.
    private var ready: Set<UInt64> = []
    private var repeatedKinds: Set<EventKind> = []
    private var readings: LiveValuesRequest?
    /// The samples that subscribers may still get, by their streams; those of streams without a subscriber are not kept.
    var sampleRings: [SampleOrigin: SampleRing] = [:]
    /// The streams whose samples clients may request.
    var sampleStreams: [SampleOrigin]
    /// The identity last sent to subscribers.
    private var announcedIdentity = ""
    /// The connections that wait for the answer to `status`, which is requested once for all of them.
    private var statusAskers: [UInt64] = []
    /// Connections that wait for a page of the history, in their order; the first one's is being read.
    ///
    /// The store reads whatever it was asked for, so a client that asks and leaves must not leave a request in its queue.
    private var pageAskers: [(connection: UInt64, query: EventQuery)] = []
    private var lastStatus: (text: String, timeNanoseconds: Int64)?
    private var scratch: [UInt8] = []

    /// How long an answer to `status` is reused, so that requests in a loop do not keep the daemon busy.
    private static let statusNanoseconds: Int64 = 100_000_000
    /// The size of the lines collected for a connection at a time, in bytes.
    private static let pieceSize = 16_384
    /// How long a client may write after a refusal: if the connection were closed, its write would fail before it has read the
    /// reason.
    package static let refusedNanoseconds: Int64 = 2_000_000_000
    /// The number of bytes that a client may write in this time.
    package static let mostDiscarded = 1 << 20
    /// The number of pieces before other connections are served.
    private static let mostPieces = 4

    init(
        listener: SocketListener, courier: Courier<SocketInbox>, gauges: Gauges<SocketStatistics>, policy: PeerPolicy,
        settings: SocketSettings, history: (any EventHistory)?, identity: String?, ring: EventRing,
        sampleStreams: [SampleOrigin], requestNanoseconds: Int64, surroundings: SocketServer.Surroundings
    ) throws(SystemError) {
        self.listener = listener
        self.courier = courier
        epoll = try Epoll(waker: courier.waker)
        acceptor = try StreamAcceptor(listener.descriptor, epoll)
        self.gauges = gauges
        self.policy = policy
        self.settings = settings
        self.history = history
        ownIdentity = identity ?? String(UInt64.random(in: .min ... .max), radix: 16)
        self.ring = ring
        self.sampleStreams = sampleStreams
        self.requestNanoseconds = requestNanoseconds
        self.surroundings = surroundings
        announcedIdentity = self.identity
    }

    var identity: String { history?.identity ?? ownIdentity }

    var hasHistory: Bool { history != nil }

    /// Runs until the server is requested to finish, and then until all published events are sent, or the time is over.
    func run() {
        var deadline: Int64?
        while true {
            // Read first, so that the inbox includes everything published before the request.
            let stop = courier.stop
            let contents = courier.exchange(leaving: SocketInbox())
            if let stop, deadline == nil {
                deadline = stop.endTime
                acceptor.stop()
                listener.remove()
            }
            handle(contents)
            if let deadline, isAllGiven || SystemClock.monotonic() >= deadline { break }
            // All descriptors are checked at each turn, so that a flood does not delay the other connections.
            epoll.wait(until: nextTime(deadline)) { token, isHungUp in
                if token == StreamAcceptor.token { acceptConnections() } else { respond(token, isHungUp) }
            }
            let now = SystemClock.monotonic()
            acceptor.resume(at: now)
            closeOverdue(now)
            for connection in connections.values where samplesDue(connection).map({ $0 <= now }) ?? false {
                ready.insert(connection.identifier)
            }
            let waiting = ready
            ready = []
            for identifier in waiting { pump(identifier) }
        }
        for identifier in Array(connections.keys) { close(identifier) }
    }

    // MARK: - Messages of other threads

    private func handle(_ contents: SocketInbox) {
        announceIdentity()
        for (connection, page) in contents.pages {
            pageAskers.removeFirst()
            readNextPage()
            // The client connects again and continues after its last event.
            if page.isClosed {
                close(connection)
                continue
            }
            connections[connection]?.feed?.receive(page, ring: ring)
            pump(connection)
        }
        if let text = contents.status { sendStatus(text) }
        // Who has changed something sees it.
        if !contents.changes.isEmpty { lastStatus = nil }
        for change in contents.changes { answer(change.connection, with: change.answer) }
        if let readings = contents.readings { publish(readings) }
        if let streams = contents.sampleStreams { offer(streams) }
        if !contents.samples.isEmpty { publish(contents.samples) }
        if let sequence = contents.behind, sequence > ring.newestSequence { raiseSequence(to: sequence) }
        guard !contents.events.isEmpty else { return }
        if let sequence = contents.droppedThrough { ring.forget(through: sequence) }
        for event in contents.events {
            guard let gone = ring.append(event), !hasHistory else { continue }
            for served in connections.values { served.feed?.lose(gone.entry, at: gone.place) }
        }
        gauges.change { $0.newest = ring.newestSequence }
        for identifier in connections.keys { pump(identifier) }
    }

    private func publish(_ readings: LiveValues) {
        for (identifier, served) in connections where served.readings != nil && served.feed != nil {
            served.readings?.merge(readings)
            pump(identifier)
        }
    }

    /// Sends subscribers the new identity after the store was opened or replaced.
    private func announceIdentity() {
        let identity = identity
        guard identity != announcedIdentity else { return }
        announcedIdentity = identity
        for served in connections.values {
            guard let feed = served.feed else { continue }
            served.announcement = ServedConnection.line(
                .subscribed(identity: identity, newest: ring.newestSequence, after: feed.after))
            ready.insert(served.identifier)
        }
    }

    private func raiseSequence(to sequence: UInt64) {
        let end = ring.end
        ring.forget(through: sequence)
        gauges.change { $0.newest = sequence }
        for served in connections.values { served.feed?.skip(from: end, ring: ring) }
    }

    /// Whether all published events were sent to subscribers, except to those that read from the history.
    private var isAllGiven: Bool {
        ready.isEmpty && !connections.values.contains(where: \.hasOutput)
    }

    private func nextTime(_ deadline: Int64?) -> Int64? {
        guard ready.isEmpty else { return 0 }
        let times = [deadline, acceptor.resumeTime].compactMap { $0 } + connections.values.compactMap(\.deadline)
        return (times + connections.values.compactMap(samplesDue)).min()
    }

    // MARK: - Sending

    /// Sends a connection as much as it accepts.
    func pump(_ identifier: UInt64) {
        guard let connection = connections[identifier] else { return }
        for _ in 0..<Self.mostPieces {
            switch connection.stream.flush() {
            case .failed: return close(identifier)
            case .blocked: return watch(connection)
            case .done: break
            }
            switch connection.phase {
            case .requesting, .asking: return watch(connection)
            case .refused:
                connection.stream.endWriting()
                return watch(connection)
            case .closing: return close(identifier)
            case .subscribed(let feed):
                guard sendNext(connection, feed) else { return }
            }
        }
        ready.insert(identifier)
        watch(connection)
    }

    /// Sends a subscriber its next piece; `true` when another one may follow at once.
    private func sendNext(_ connection: ServedConnection, _ feed: EventFeed) -> Bool {
        if let line = connection.announcement {
            connection.announcement = nil
            guard connection.stream.write(line) != .failed else {
                close(connection.identifier)
                return false
            }
            return true
        }
        var feed = feed
        scratch.removeAll(keepingCapacity: true)
        // The readings are formatted only when the socket is writable, so they are as new as possible.
        if let readings = connection.readings?.next() { scratch.append(line: SocketMessage.readings(readings).json) }
        connection.samples?.fill(&scratch, rings: &sampleRings, at: SystemClock.monotonic())
        let step = feed.fill(&scratch, limit: Self.pieceSize, ring: ring)
        connection.phase = .subscribed(feed)
        gauges.change { state in
            state.subscribed[connection.identifier]?.sequence = feed.after
            state.subscribed[connection.identifier]?.missed = feed.missedCount
            state.subscribed[connection.identifier]?.lostSamples = connection.samples?.lostCount ?? 0
        }
        switch step {
        case .lines: break
        case .nothing:
            watch(connection)
            return false
        case .page(let query):
            readHistory(query, for: connection.identifier)
            watch(connection)
            return false
        case .end:
            scratch.append(line: SocketMessage.end.json)
            connection.phase = .closing
            subscriptionsChanged(without: connection)
        }
        if connection.stream.write(scratch) == .failed {
            close(connection.identifier)
            return false
        }
        return true
    }

    private func readHistory(_ query: EventQuery, for identifier: UInt64) {
        pageAskers.append((identifier, query))
        if pageAskers.count == 1 { readNextPage() }
    }

    /// Reads the page for the first connection in line that is still there.
    private func readNextPage() {
        pageAskers.removeFirst(pageAskers.prefix { connections[$0.connection] == nil }.count)
        guard let history, let (identifier, query) = pageAskers.first else { return }
        let courier = courier
        history.read(query) { page in courier.add { $0.pages.append((identifier, page)) } }
    }

    /// Answers a connection with the status, or requests the status.
    func requestStatus(for identifier: UInt64) {
        if let last = lastStatus, SystemClock.monotonic() - last.timeNanoseconds < Self.statusNanoseconds {
            return answer(identifier, with: .status(last.text))
        }
        statusAskers.append(identifier)
        guard statusAskers.count == 1 else { return }
        let courier = courier
        surroundings.status { text in courier.add { $0.status = text } }
    }

    func requestChange(_ change: DaemonChange, for identifier: UInt64) {
        let courier = courier
        surroundings.change(change) { refusal, problem in
            let done = DaemonChange(change.action, change.name, problem: problem)
            let answer = refusal.map { SocketMessage.error(message: $0, column: nil) } ?? .changed(done)
            courier.add { $0.changes.append((identifier, answer)) }
        }
    }

    private func sendStatus(_ text: String) {
        lastStatus = (text, SystemClock.monotonic())
        let askers = statusAskers
        statusAskers = []
        for identifier in askers { answer(identifier, with: .status(text)) }
    }

    private func watch(_ connection: ServedConnection) {
        do throws(SystemError) {
            try connection.stream.watch()
        } catch {
            close(connection.identifier)
        }
    }

    // MARK: - Closing

    func close(_ identifier: UInt64) {
        guard connections.removeValue(forKey: identifier) != nil else { return }
        ready.remove(identifier)
        gauges.change { state in
            state.connectionCount -= 1
            state.subscribed[identifier] = nil
        }
        subscriptionsChanged(without: nil)
        // A descriptor is available again.
        acceptor.resume()
    }

    /// Reports the subscribed repeated kinds, readings and samples after a change.
    func subscriptionsChanged(without gone: ServedConnection?) {
        var wanted: Set<EventKind> = []
        var samples: Set<SampleOrigin> = []
        for connection in connections.values where connection !== gone {
            guard let feed = connection.feed else { continue }
            wanted.formUnion(feed.filter.kinds?.intersection(EventKind.repeated) ?? [])
            if let cursors = connection.samples?.cursors { samples.formUnion(cursors.map(\.origin)) }
        }
        if wanted != repeatedKinds {
            repeatedKinds = wanted
            surroundings.repeatedKindsChanged(wanted)
        }
        let readings = LiveValuesRequest.joined(
            connections.values.lazy.filter { $0 !== gone && $0.feed != nil }.compactMap(\.readings?.request))
        if readings != self.readings {
            self.readings = readings
            surroundings.readingsChanged(readings)
        }
        keepSamples(of: samples)
    }

    private func closeOverdue(_ now: Int64) {
        for (identifier, connection) in connections where connection.deadline ?? .max <= now {
            if case .requesting = connection.phase { refuse(connection, "no request has come in time") }
            close(identifier)
        }
    }
}
