import Binnacle
import Configuration
import DesktopBus
import EventSocket
import Handlers
import LinuxSystem
import PlainText
import Store

/// The store and the socket, which get all events, whatever the handlers.
extension Daemon {
    /// Opens the store of a configuration.
    static func openStore(
        _ settings: EventStoreSettings?, _ mailbox: Mailbox<DaemonMessage>, _ relay: SocketRelay
    ) throws(StationError) -> (StoreInlet?, HandlerAttachments?) {
        guard let settings else { return (nil, nil) }
        do throws(SystemError) {
            let store = try EventStore(
                settings, report: { mailbox.post(.report($0)) }, publish: { relay.publish($0) },
                onSequence: { mailbox.post(.sequence($0, identity: $1)) },
                onConflict: { mailbox.post(.storeConflict($0)) })
            return (StoreInlet(store), HandlerAttachments(store) { mailbox.post(.handlerEnded(name: $0)) })
        } catch {
            throw StationError(error)
        }
    }

    /// Counts a handler's report.
    func count(_ event: Event) {
        guard case .text(let name) = event.figure(.handler) else { return }
        tallies[name, default: HandlerTally()].count(event)
    }

    /// Leads events to the store and the socket, and then to the handlers.
    func replaceChains() {
        let relay = relay
        var chains: [HandlerChain] = []
        if let inlet {
            chains.append(HandlerChain(handler: inlet.log))
        } else if relay.isUsed {
            chains.append(HandlerChain(handler: ClosureHandler { relay.publish([PublishedEvent($0)]) }))
        }
        let repeated = repeatedKinds.values.reduce(into: Set()) { $0.formUnion($1) }
        if !repeated.isEmpty {
            // Repeated kinds are not kept in the store.
            chains.append(
                HandlerChain(handler: ClosureHandler { relay.publish([PublishedEvent($0)]) }, kinds: repeated))
        }
        if let desktop, assembly.configuration.dbus?.settings.broadcastsEvents ?? false {
            chains.append(HandlerChain(handler: ClosureHandler { [bus = desktop.bus] in bus.publish($0) }))
        }
        trouble.change(to: lines)
        chains.append(HandlerChain(handler: trouble, kinds: EventKind.alwaysLogged))
        chains.append(HandlerChain(handler: eventTally))
        router.replaceChains(chains + lines.map(\.chain))
    }

    /// Ends the run when standard output was all it was for, as any program in a pipeline; otherwise the handler has failed.
    func takeReaderGone(_ event: Event) {
        let onlyPrints = lines.allSatisfy { $0.section.action is OutputAction }
        if options.writesJSON || onlyPrints && store == nil && assembly.configuration.socket == nil {
            session.end()
        } else {
            count(event)
            router.report(event)
        }
    }

    /// Applies the sections for the store and the socket.
    func applyStoreAndSocket(of new: Configuration, from old: Configuration) {
        if let store, var settings = new.store {
            if settings.path != store.statistics.path {
                sayLater("`path` of [store]")
                settings.path = store.statistics.path
            }
            if settings != old.store { store.change(settings) }
        } else if (store == nil) != (new.store == nil) {
            sayLater("[store]")
        }
        // A client asks for events behind a sequence number: it has to wait until they are numbered.
        guard !router.isHolding, new.socket != old.socket || socketFailure != nil else { return }
        openSocket()
    }

    private func sayLater(_ what: String) {
        log.say("\(what): the change takes effect when Binnacle is started again", level: .warning)
    }

    /// Opens the configured socket, which then takes the place of the one that is open: on a thread of its own once the
    /// daemon is ready, because a folder or the directory of groups may be slow.
    ///
    /// One socket is opened at a time. When the section has changed meanwhile, it is opened again.
    func openSocket() {
        guard !isOpeningSocket else { return }
        socketFailure = nil
        let before = relay.server
        guard let settings = assembly.configuration.socket else {
            relay.exchange(for: nil)
            end(before)
            return replaceChains()
        }
        guard before == nil || settings != socketSettings else { return }
        isOpeningSocket = true
        let (mailbox, store, number, ending) = (mailbox, store, socketNumber + 1, endingSocket)
        let (identity, isView) = (router.identity, options.view != nil)
        // Without a store, events that no server wanted were not published.
        if store == nil, !relay.isUsed { relay.continue(behind: router.sequence) }
        let sequence = relay.keep()
        if store == nil { replaceChains() }
        inlet?.flush()
        let open: @Sendable () -> Result<SocketServer, SocketServerError> = {
            // Its path may be the same.
            _ = ending?.waitForEnd(until: SystemClock.monotonic() + 1_000_000_000)
            var surroundings = SocketServer.Surroundings()
            // A view's only client is itself.
            if !isView { surroundings.say = { mailbox.post(.word($0, $1)) } }
            surroundings.status = { mailbox.post(.status(reply: $0)) }
            surroundings.repeatedKindsChanged = { mailbox.post(.repeatedKinds($0, socket: number)) }
            surroundings.readingsIntervalChanged = { mailbox.post(.readingsInterval($0, socket: number)) }
            return Result { () throws(SocketServerError) in
                try SocketServer(
                    settings, history: store, identity: identity, startingBehind: sequence, replacing: before,
                    surroundings: surroundings)
            }
        }
        guard isReady else { return take(open(), for: settings) }
        do throws(SystemError) {
            try WorkerThread.start { mailbox.post(.socket(settings, open())) }
        } catch {
            take(.failure(.system(error)), for: settings)
        }
    }

    /// Uses a socket that was opened, or keeps the one that is open.
    func take(_ result: Result<SocketServer, SocketServerError>, for settings: SocketSettings) {
        isOpeningSocket = false
        let before = relay.server
        switch result {
        case .success(let server):
            relay.exchange(for: server)
            end(before)
            socketSettings = settings
            socketNumber += 1
            repeatedKinds = repeatedKinds.filter { $0.key == socketNumber }
            readingsIntervals = readingsIntervals.filter { $0.key == socketNumber }
            scheduleReadings()
        case .failure(let error):
            relay.discard()
            socketFailure = "\(error)"
            log.say("the socket: \(error)", level: .error)
            if before != nil, let path = socketSettings?.path {
                log.say("the socket \(path) stays open as it was", level: .error)
            }
        }
        replaceChains()
        if settings != assembly.configuration.socket { openSocket() }
    }

    private func end(_ server: SocketServer?) {
        server?.finish()
        endingSocket = server
    }

    /// Has the repeated kinds reported that a socket's subscribers want, unless another socket has taken its place.
    func take(_ kinds: Set<EventKind>, of socket: Int) {
        guard socket >= socketNumber else { return }
        repeatedKinds[socket] = kinds
        replaceChains()
    }
}
