import Binnacle
import Configuration
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
                onSequence: { mailbox.post(.sequence($0)) })
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
        } else if relay.server != nil {
            chains.append(HandlerChain(handler: ClosureHandler { relay.publish([PublishedEvent($0)]) }))
        }
        if !repeatedKinds.isEmpty {
            // Repeated kinds are not kept in the store.
            chains.append(
                HandlerChain(
                    handler: ClosureHandler { relay.publish([PublishedEvent($0)]) }, kinds: repeatedKinds))
        }
        router.replaceChains(chains + lines.map(\.chain))
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
        openSocket(new.socket)
    }

    private func sayLater(_ what: String) {
        log.say("\(what): the change takes effect when Binnacle is started again", level: .warning)
    }

    /// Closes the open socket and opens another one: on a thread of its own once the daemon is ready, because a folder or
    /// the directory of groups may be slow.
    func openSocket(_ settings: SocketSettings?) {
        let (mailbox, before, store) = (mailbox, relay.server, store)
        let sequence = router.sequence
        inlet?.flush()
        relay.exchange(for: nil)
        socketFailure = nil
        let open: @Sendable () -> Result<SocketServer?, SocketServerError> = {
            before?.finish()
            // The path may be the same.
            _ = before?.waitForEnd(until: SystemClock.monotonic() + 1_000_000_000)
            guard let settings else { return .success(nil) }
            var surroundings = SocketServer.Surroundings()
            surroundings.say = { mailbox.post(.word($0, $1)) }
            surroundings.status = { mailbox.post(.status(reply: $0)) }
            surroundings.repeatedKindsChanged = { mailbox.post(.repeatedKinds($0)) }
            do throws(SocketServerError) {
                return .success(
                    try SocketServer(
                        settings, history: store, startingBehind: sequence, surroundings: surroundings))
            } catch {
                return .failure(error)
            }
        }
        guard isReady else { return take(open(), for: settings) }
        do throws(SystemError) {
            try WorkerThread.start { mailbox.post(.socket(settings, open())) }
        } catch {
            take(.failure(.system(error)), for: settings)
        }
    }

    /// Uses a socket that was opened, unless the configuration has changed meanwhile.
    func take(_ result: Result<SocketServer?, SocketServerError>, for settings: SocketSettings?) {
        let isWanted = settings == assembly.configuration.socket
        switch result {
        case .success(let server):
            guard isWanted else {
                server?.finish()
                return
            }
            // The store has the events that came while there was no server.
            server?.continue(behind: router.sequence)
            relay.exchange(for: server)
            replaceChains()
        case .failure(let error):
            guard isWanted else { return }
            socketFailure = "\(error)"
            log.say("the socket: \(error)", level: .error)
        }
    }
}
