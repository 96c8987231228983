import Binnacle
import Configuration
import Handlers
import LinuxSystem
import PlainText
import Store

/// The configured handlers, their reports, and the log of failures that no handler logs.
package final class HandlersPart: DaemonPart {
    private unowned let daemon: Daemon
    private let inbox: PartInbox<HandlersPart>
    private let store: StorePart
    private let attachments: HandlerAttachments?
    private var lines: [HandlerLine] = []
    /// Handlers of the configuration that is applied next.
    private var prepared: [HandlerLine] = []
    /// Handlers that a reload removed, until their queues are empty.
    private var retired: [HandlerLine] = []
    private var tallies: [String: HandlerCounters] = [:]
    private let eventTally = EventCounters()
    private let trouble: TroubleLog

    /// Time for a removed handler to finish its queue.
    private static let retirement: Duration = .seconds(60)

    init(_ daemon: Daemon, _ store: StorePart) {
        self.daemon = daemon
        self.store = store
        let inbox = PartInbox<HandlersPart>(daemon)
        self.inbox = inbox
        trouble = TroubleLog(daemon.log)
        attachments = store.store.map { store in
            HandlerAttachments(store) { name in
                inbox.post { part in if !part.daemon.isEnding { part.attachments?.handlerDidEnd(name) } }
            }
        }
    }

    // MARK: - Configurations

    func prepare(_ configuration: Configuration) throws(SystemError) {
        let context = DecoratorSettings.Context(daemon.router)
        let inbox = inbox
        let reports = HandlerReports(
            report: { event in inbox.post { $0.report(event) } },
            readerGone: { event in inbox.post { $0.outputDidClose(event) } })
        prepared = []
        do throws(SystemError) {
            for section in configuration.handlers {
                let old = lines.first { $0.section.name == section.name }
                if let old, old.section == section {
                    prepared.append(old)
                } else {
                    prepared.append(
                        try HandlerLine(section, after: old, context: context, inlet: store.inlet, reports: reports))
                }
            }
        } catch {
            // Ends the threads of handlers that the new configuration does not have.
            for line in prepared where !lines.contains(where: { $0.handler === line.handler }) {
                line.handler.end(within: .zero)
            }
            throw error
        }
    }

    func apply(_ change: ConfigurationChange) {
        let gone = lines.filter { line in !prepared.contains { $0.handler === line.handler } }
        lines = prepared
        daemon.replaceChains()
        let kept = change.after.detectors.filter { detector in
            change.before.detectors.contains { $0 === detector }
        }
        for line in lines {
            line.installDecorators()
            line.detectorsChanged(to: Set(kept.map(\.name)))
        }
        retired = (retired + gone).filter { !$0.handler.hasEnded }
        attachments?.change(to: lines, within: Self.retirement)
        for line in gone { line.handler.end(within: Self.retirement) }
    }

    var chains: [HandlerChain] {
        trouble.change(to: lines)
        return [HandlerChain(handler: trouble, kinds: EventKind.alwaysLogged), HandlerChain(handler: eventTally)]
            + lines.map(\.chain)
    }

    // MARK: - Reports

    /// Counts a handler's report and routes it like other events.
    private func report(_ event: Event) {
        if case .text(let name) = event.figure(.handler) { tallies[name, default: HandlerCounters()].count(event) }
        daemon.router.report(event)
    }

    /// Ends the run if standard output was its only handler, as programs in a pipeline do; otherwise records a failure.
    private func outputDidClose(_ event: Event) {
        let onlyPrints = lines.allSatisfy { $0.section.action is OutputAction }
        let isKept = store.store != nil || daemon.assembly.configuration.socket != nil
        if daemon.options.writesJSON || onlyPrints && !isKept { daemon.session.end() } else { report(event) }
    }

    // MARK: - The end

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .begin: trouble.isStopping = true
        case .decorators:
            for line in lines { line.flush() }
            store.inlet?.flush()
            attachments?.detachAll()
        case .actors: end((lines + retired).filter(\.actsOnTheWorld), until: deadline)
        case .handlers: end((lines + retired).filter { !$0.actsOnTheWorld }, until: deadline)
        case .files:
            // With `--json` the output is the purpose of the run, so its failure is the run's.
            guard daemon.options.writesJSON, let failure = tallies[RunOptions.outputName]?.failure else { return }
            daemon.session.add(StationError(.inputOutput, failure))
        case .numbering, .store, .servers: break
        }
    }

    private func end(_ ending: [HandlerLine], until deadline: Int64) {
        let left = max(0, deadline - SystemClock.monotonic())
        for line in ending { line.handler.end(within: .nanoseconds(left)) }
        for line in ending {
            let count = line.handler.waitForEnd(until: deadline)
            guard count > 0 else { continue }
            daemon.log.say(
                "handler '\(line.section.name)': up to \(count) events were not handled before the end"
                    + (line.isKept ? "; the store keeps them" : ""), level: line.isKept ? .info : .warning)
        }
    }

    // MARK: - Status

    var problems: [String] {
        lines.compactMap { line in
            tallies[line.section.name]?.failure.map { "handler '\(line.section.name)': \($0)" }
        }
    }

    func status(at now: Int64) -> [(key: String, json: String)] {
        let statistics = store.store?.statistics
        return [
            ("events_total", JSONObject.list(eventTally.objects)),
            ("handlers", JSONObject.list(lines.map { object($0, statistics) })),
        ]
    }

    private func object(_ line: HandlerLine, _ store: EventStoreStatistics?) -> String {
        let tally = tallies[line.section.name] ?? HandlerCounters()
        var object = JSONObject()
        object.add("name", line.section.name)
        object.add("action", type(of: line.section.action).key)
        object.add("queued", raw: String(line.handler.unfinishedCount))
        object.add("dropped", raw: String(tally.droppedCount))
        object.add("left_out", raw: String(line.leftOutCount))
        object.add("finished", raw: String(tally.finishedCount))
        object.add("failed", raw: String(tally.failedCount))
        object.add("failure", tally.failure)
        if line.section.action is CommandAction { object.add("duration_s", raw: tally.durations.text) }
        if let status = line.handler.status { object.add(type(of: line.section.action).key, raw: status) }
        if let delivery = store?.handlers.first(where: { $0.name == line.section.name }) {
            object.add("cursor", raw: String(delivery.position))
            object.add("stored", raw: String(delivery.waitingCount))
            object.add("unacknowledged", raw: String(delivery.unacknowledgedCount))
        }
        return object.text
    }
}
