import Binnacle
import Configuration
import LinuxSystem
import PlainText
import Store

/// The event store: receives all events, supplies the first number, and keeps events until they are acknowledged.
final class StorePart: DaemonPart {
    /// Collects events for the store, which is the same for the life of the daemon; `nil` without a store.
    let inlet: StoreInlet?
    var store: EventStore? { inlet?.store }

    private unowned let daemon: Daemon
    private let relay: SocketRelay
    /// Whether another daemon has locked the store.
    private var hasConflict = false

    /// Limits for events that wait for the store's last sequence number: a number that the file already has cannot be
    /// stored.
    private static let opening = (nanoseconds: Int64(5_000_000_000), eventCount: EventStore.capacity)

    init(_ daemon: Daemon, _ settings: EventStoreSettings?, _ relay: SocketRelay) throws(SystemError) {
        self.daemon = daemon
        self.relay = relay
        let inbox = PartInbox<StorePart>(daemon)
        inlet = try settings.map { settings throws(SystemError) in
            StoreInlet(
                try EventStore(
                    settings, report: { event in inbox.post { $0.daemon.router.report(event) } },
                    publish: { relay.publish($0) },
                    onSequence: { number, identity in inbox.post { $0.beginNumbering(behind: number, identity) } },
                    onConflict: { reason in inbox.post { $0.end(because: reason) } }))
        }
    }

    private func end(because reason: String) {
        hasConflict = true
        daemon.session.end(StationError(.temporaryFailure, reason))
    }

    func apply(_ change: ConfigurationChange) {
        let settings = change.after.configuration.store
        guard !change.isFirst else {
            guard store == nil else { return daemon.router.holdEvents(atMost: Self.opening.eventCount) }
            return daemon.router.continue(behind: 0, identity: EventStore.makeIdentity())
        }
        if let store, var settings {
            if settings.path != store.statistics.path {
                sayLater("`path` of [store]")
                settings.path = store.statistics.path
            }
            if settings != change.before.configuration.store { store.change(settings) }
        } else if (store == nil) != (settings == nil) {
            sayLater("[store]")
        }
    }

    private func sayLater(_ what: String) {
        daemon.log.say("\(what): the change takes effect when Binnacle is started again", level: .warning)
    }

    var chains: [HandlerChain] { inlet.map { [HandlerChain(handler: $0.log)] } ?? [] }

    // MARK: - Numbers

    /// Continues numbering after the store's last sequence number.
    private func beginNumbering(behind number: UInt64, _ identity: String?) {
        daemon.router.continue(behind: number, identity: identity)
        relay.continue(behind: number)
    }

    var deadline: Int64? { daemon.router.isHolding ? daemon.startNanoseconds + Self.opening.nanoseconds : nil }

    /// Hands the events of the turn to the store.
    ///
    /// Starts at number 1 when the store was not opened in time; a file that opens later raises the number.
    func finishTurn(at now: Int64) {
        inlet?.flush()
        guard let deadline, now >= deadline else { return }
        daemon.log.say(
            "the event store: its file is not open after 5 s; events are numbered from 1", level: .warning)
        beginNumbering(behind: 0, store?.identity)
    }

    // MARK: - The end

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .numbering:
            daemon.router.flush(upTo: nil)
            // The daemon that locked the store delivers them.
            if !hasConflict { releaseEvents(until: deadline) }
        case .store:
            guard let store else { return }
            inlet?.flush()
            store.finish()
            guard store.waitForEnd(until: deadline) else {
                let count = store.statistics.queueCount
                return daemon.log.say(
                    count > 0
                        ? "the event store: up to \(count) events were not stored before the end"
                        : "the event store: its file was not closed before the end; the next start may repeat events to handlers",
                    level: .warning)
            }
            let statistics = store.statistics
            guard statistics.failure == nil else { return }
            for handler in statistics.handlers where handler.waitingCount > 0 {
                daemon.log.say(
                    handler.isExpected
                        ? "handler '\(handler.name)': events in the store that wait for its next start: \(handler.waitingCount)"
                        : Self.leftBehind(by: handler.name, "\(handler.waitingCount)"))
            }
        default: break
        }
    }

    /// What is said of a name that no handler has any more.
    static func leftBehind(by handler: String, _ count: String) -> String {
        "handler '\(handler)': events in the store that no handler of this name takes any more: \(count); configure it again, or "
            + "they are removed after `keep_days`"
    }

    /// Numbers events that still wait for the store's last number.
    private func releaseEvents(until deadline: Int64) {
        guard daemon.router.isHolding, let store else { return }
        while !store.isOpened, case let left = SystemClock.milliseconds(until: deadline), left > 0 {
            daemon.waker.wait(timeoutMilliseconds: left)
        }
        daemon.router.continue(behind: store.statistics.lastSequence, identity: store.identity)
        daemon.router.flush(upTo: nil)
    }

    // MARK: - Status

    var problems: [String] { store?.statistics.failure.map { ["the event store: \($0)"] } ?? [] }

    func status(at now: Int64) -> [(key: String, json: String)] {
        guard let store = store?.statistics else { return [("store", "null")] }
        var object = JSONObject()
        object.add("path", store.path)
        object.add("failure", store.failure)
        object.add("bytes", raw: String(store.fileBytes))
        object.add("events", raw: store.eventCount.map { String($0) } ?? "null")
        object.add("oldest", store.oldestWallNanoseconds.map { WallTime.text($0) })
        object.add("newest", store.newestWallNanoseconds.map { WallTime.text($0) })
        object.add("seq", raw: String(store.lastSequence))
        object.add("queued", raw: String(store.queueCount))
        object.add("dropped", raw: String(store.droppedCount))
        object.add("not_stored", raw: String(store.notStoredCount))
        object.add("unreadable", raw: String(store.unreadableCount))
        object.add("removed_deliveries", raw: String(store.removedDeliveryCount))
        return [("store", object.text)]
    }
}
