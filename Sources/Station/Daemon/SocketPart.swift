import Binnacle
import Configuration
import EventSocket
import LinuxSystem
import PlainText
import Store

/// The socket for clients, which receive all events, and on request live readings and repeated states.
///
/// Clients request events after a sequence number, so the socket is opened when events have numbers.
package final class SocketPart: DaemonPart {
    private enum State {
        /// The socket is open, or none is configured.
        case settled
        case opening
        /// Opening failed, and is tried again; the previous socket, if any, stays open.
        case failed
    }

    /// Requests of the subscribers of one socket.
    private struct Wishes {
        var repeatedKinds: Set<EventKind> = []
        /// The live readings that serve all; `nil` when none are requested.
        var readings: LiveValuesRequest?
        /// The streams whose samples are requested.
        var samples: Set<SampleOrigin> = []
    }

    private unowned let daemon: Daemon
    private let inbox: PartInbox<SocketPart>
    private let relay: SocketRelay
    private let store: StorePart
    private let learned: LearnedPart
    private var state = State.settled
    /// Settings of the socket that is open, or was last.
    private var settings: SocketSettings?
    /// Whether the file of the open socket was removed or replaced, so that no client finds it.
    private var isGone = false
    /// Why opening failed, as it was logged last; `nil` after a success or a reload.
    private var loggedFailure: String?
    /// When the socket's file is looked for, or opening is tried again, on CLOCK_MONOTONIC; `nil` while that is not due.
    private var checkTime: Int64?
    /// Attempts to open the socket that failed in a row.
    private var failureCount = 0

    private static let checkNanoseconds: Int64 = 60_000_000_000
    /// The number of sockets opened so far.
    private var number = 0
    /// Requests by the number of their socket: those of a new socket may arrive before it is in use.
    private var wishes: [Int: Wishes] = [:] {
        didSet { readings = LiveValuesRequest.joined(wishes.values.lazy.compactMap(\.readings)) }
    }
    /// The live readings that serve all subscribers, for which each turn asks; `nil` when none are requested.
    private(set) var readings: LiveValuesRequest?
    /// The previous socket, which is closing.
    private var ending: SocketServer?
    /// Passes on the corrected samples that subscribers request; `nil` while they request none.
    private var tap: SampleTap?

    init(_ daemon: Daemon, _ relay: SocketRelay, _ store: StorePart, _ learned: LearnedPart) {
        self.daemon = daemon
        self.relay = relay
        self.store = store
        self.learned = learned
        inbox = PartInbox(daemon)
    }

    func publish(_ readings: LiveValues) { relay.server?.publish(readings) }

    var chains: [HandlerChain] {
        let relay = relay
        func chain(_ kinds: Set<EventKind>?) -> HandlerChain {
            HandlerChain(handler: ClosureHandler { relay.publish([PublishedEvent($0)]) }, kinds: kinds)
        }
        // With a store, events are published after they are stored; repeated kinds are not stored.
        let all = store.inlet == nil && relay.isUsed ? [chain(nil)] : []
        let repeated = wishes.values.reduce(into: Set()) { $0.formUnion($1.repeatedKinds) }
        return all + (repeated.isEmpty ? [] : [chain(repeated)])
    }

    // MARK: - Opening

    func apply(_ change: ConfigurationChange) {
        relay.server?.offer(sampleStreams)
        tapSamples()
        (loggedFailure, failureCount) = (nil, 0)
        change.after.configuration.socket == change.before.configuration.socket ? check() : open()
    }

    /// Opens the socket again when that had failed, or when its file is gone, which another thread finds out.
    private func check() {
        checkTime = nil
        if isFailed { return open() }
        guard let server = relay.server else { return }
        do throws(SystemError) {
            try inbox.run {
                server.isThere
            } then: { part, isThere in
                part.didLook(at: server, isThere)
            }
        } catch {
            checkTime = Units.later(SystemClock.monotonic(), by: Self.checkNanoseconds)
        }
    }

    private func didLook(at server: SocketServer, _ isThere: Bool) {
        guard server === relay.server, !daemon.isEnding else { return }
        checkTime = Units.later(SystemClock.monotonic(), by: Self.checkNanoseconds)
        guard !isThere else { return }
        isGone = true
        open()
    }

    var deadline: Int64? { checkTime }

    /// The path of the socket that is open or will be; `nil` where there is none, or it could not be opened.
    var path: String? {
        relay.server != nil ? settings?.path : isFailed ? nil : daemon.assembly.configuration.socket?.path
    }

    /// Whether the configured socket is open, or could not be opened.
    var isSettled: Bool { isFailed || relay.server != nil || daemon.assembly.configuration.socket == nil }

    private var isFailed: Bool { if case .failed = state { true } else { false } }

    /// Opens the first socket when events have numbers.
    func turn(_ answer: SampleAnswer, at now: Int64) {
        if number == 0, case .settled = state, relay.server == nil, !daemon.router.isHolding,
            daemon.assembly.configuration.socket != nil
        {
            open()
        }
    }

    func finishTurn(at now: Int64) {
        // Its descriptors stay open until the object is released.
        if ending?.waitForEnd(until: 0) ?? false { ending = nil }
        if let checkTime, now >= checkTime { check() }
    }

    /// Opens the configured socket, which then replaces the present one.
    ///
    /// After the start this runs on another thread, because a folder or the group directory may be slow. One socket is
    /// opened at a time; a section that has changed meanwhile is opened again.
    private func open() {
        if case .opening = state { return }
        guard !daemon.router.isHolding else { return }
        state = .settled
        let before = relay.server
        guard let settings = daemon.assembly.configuration.socket else {
            isGone = false
            relay.exchange(for: nil)
            end(before)
            return daemon.replaceChains()
        }
        guard before == nil || settings != self.settings || isGone else { return }
        state = .opening
        // Without a store, events before the first server were not published.
        if store.inlet == nil, !relay.isUsed { relay.continue(behind: daemon.router.sequence) }
        let sequence = relay.keep()
        if store.inlet == nil { daemon.replaceChains() }
        store.inlet?.flush()
        let (history, identity, ending, surroundings) = (store.store, daemon.router.identity, ending, surroundings)
        let streams = sampleStreams
        let open: @Sendable () -> Result<SocketServer, SocketServerError> = {
            // The new socket may have the same path.
            _ = ending?.waitForEnd(until: SystemClock.monotonic() + 1_000_000_000)
            return Result { () throws(SocketServerError) in
                try SocketServer(
                    settings, history: history, identity: identity, startingBehind: sequence, sampleStreams: streams,
                    replacing: before, surroundings: surroundings)
            }
        }
        guard daemon.isReady else { return use(open(), settings) }
        do throws(SystemError) {
            try inbox.run(open) { $0.use($1, settings) }
        } catch {
            use(.failure(.system(error)), settings)
        }
    }

    private var surroundings: SocketServer.Surroundings {
        let (inbox, number) = (inbox, number + 1)
        var surroundings = SocketServer.Surroundings()
        surroundings.say = { text, level in inbox.post { $0.daemon.log.announce(text, level: level) } }
        surroundings.status = { reply in inbox.post { reply($0.daemon.statusLine()) } }
        let handlers = PartInbox<HandlersPart>(daemon)
        surroundings.change = { change, reply in
            switch change.action {
            case .reset: inbox.post { reply($0.learned.reset(change.name), nil) }
            case .arm, .disarm:
                handlers.post { part in
                    if let refusal = part.arm(change.action == .arm, change.name) { return reply(refusal, nil) }
                    part.replies.append { reply(nil, $0) }
                }
            }
        }
        surroundings.repeatedKindsChanged = { kinds in
            inbox.post { part in
                part.wish(of: number) { $0.repeatedKinds = kinds }
                part.daemon.replaceChains()
            }
        }
        surroundings.readingsChanged = { readings in
            inbox.post { part in part.wish(of: number) { $0.readings = readings } }
        }
        surroundings.samplesChanged = { samples in
            inbox.post { part in
                part.wish(of: number) { $0.samples = samples }
                part.tapSamples()
            }
        }
        return surroundings
    }

    /// Records a subscriber's request, unless a later socket has replaced its own.
    private func wish(of socket: Int, _ change: (inout Wishes) -> Void) {
        if socket >= number { change(&wishes[socket, default: Wishes()]) }
    }

    /// Uses a new socket, or keeps the present one when opening failed.
    private func use(_ result: Result<SocketServer, SocketServerError>, _ settings: SocketSettings) {
        guard !daemon.isEnding else {
            try? result.get().finish()
            return
        }
        state = .settled
        let before = relay.server
        switch result {
        case .success(let server):
            relay.exchange(for: server)
            end(before)
            if isGone {
                daemon.log.say(
                    "the socket's file \(settings.path.printable) was gone; the socket is open again", level: .warning)
            } else if failureCount > 0 {
                daemon.log.say("the socket \(settings.path.printable) is open", level: .notice)
            }
            (isGone, failureCount, loggedFailure) = (false, 0, nil)
            checkTime = Units.later(SystemClock.monotonic(), by: Self.checkNanoseconds)
            self.settings = settings
            number += 1
            wishes = wishes.filter { $0.key == number }
            // A reload may have changed them while the server was being opened.
            server.offer(sampleStreams)
            tapSamples()
        case .failure(let error):
            relay.discard()
            state = .failed
            let pause = min(Self.checkNanoseconds, 1_000_000_000 << min(Int64(failureCount), 6))
            checkTime = Units.later(SystemClock.monotonic(), by: pause)
            failureCount += 1
            if loggedFailure != "\(error)" {
                daemon.log.say("the socket: \(error)", level: .error)
                if before != nil, !isGone, let path = self.settings?.path {
                    daemon.log.say("the socket \(path) stays open as it was", level: .error)
                }
            }
            loggedFailure = "\(error)"
        }
        daemon.replaceChains()
        if settings != daemon.assembly.configuration.socket { open() }
    }

    // MARK: - Samples

    var observers: [any DrivenDetector] { tap.map { [$0] } ?? [] }

    private var sampleStreams: [SampleOrigin] { daemon.assembly.streams.map(SampleOrigin.init) }

    /// Takes the requested samples from the pipeline; without a request nothing stands there.
    private func tapSamples() {
        let wanted = wishes.values.reduce(into: Set()) { $0.formUnion($1.samples) }
        guard !wanted.isEmpty || tap != nil || !daemon.pipeline.beforeCorrection.isEmpty else { return }
        tap = makeTap(wanted, isRaw: false)
        daemon.pipeline.beforeCorrection = makeTap(wanted, isRaw: true).map { [$0] } ?? []
        daemon.replaceDetectors()
    }

    private func makeTap(_ wanted: Set<SampleOrigin>, isRaw: Bool) -> SampleTap? {
        let sources: [SampleTap.Source] = daemon.assembly.streams.compactMap { stream in
            let origin = SampleOrigin(stream).raw(isRaw)
            return wanted.contains(origin) ? (stream.id, origin) : nil
        }
        guard !sources.isEmpty else { return nil }
        return SampleTap(sources) { [relay] origin, columns in relay.server?.publish(columns, of: origin) }
    }

    private func end(_ server: SocketServer?) {
        server?.finish()
        ending = server
    }

    func end(_ stage: EndStage, until deadline: Int64) {
        guard case .servers = stage else { return }
        // The server reads its last events from the store, so it ends after the store.
        relay.server?.finish()
        for server in [relay.server, ending] { _ = server?.waitForEnd(until: deadline) }
    }

    // MARK: - Status

    // Also while opening is tried again.
    var problems: [String] { loggedFailure.map { ["the socket: \($0)"] } ?? [] }

    func status(at now: Int64) -> [(key: String, json: String)] {
        guard let socket = relay.server?.statistics else { return [("socket", "null")] }
        var object = JSONObject()
        object.add("path", path)
        object.add("connections", raw: String(socket.connectionCount))
        object.add("accepted", raw: String(socket.acceptedCount))
        object.add("refused", raw: String(socket.refusedCount))
        object.add(
            "subscribers",
            list: socket.subscribers.map { subscriber in
                var object = JSONObject()
                object.add("uid", raw: String(subscriber.peer.user))
                object.add("pid", raw: String(subscriber.peer.process))
                object.add("behind", raw: String(subscriber.behind))
                object.add("missed", raw: String(subscriber.missed))
                object.add("lost_samples", raw: String(subscriber.lostSamples))
                return object.text
            })
        return [("socket", object.text)]
    }
}
