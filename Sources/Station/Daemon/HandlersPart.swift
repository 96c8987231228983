import Binnacle
import Configuration
import EventSocket
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
    /// Handlers that a reload exchanged or removed, until their queues are empty, with their own failures.
    private var retired: [(line: HandlerLine, counters: HandlerCounters)] = []
    /// How many configurations were prepared.
    private var generation = 0
    private var tallies: [String: HandlerCounters] = [:]
    private let eventTally = EventCounters()
    private let trouble: TroubleLog
    private let file: StateFile<HandlersPart>
    /// The names of handlers that get no events until they are armed.
    private var disarmed: Set<String>
    /// Limits the reports that a handler was armed or disarmed, by its name; each has the state that was reported last.
    private var armReports: [String: (limit: MessageLimit, isArmed: Bool)] = [:]
    /// The handlers whose state is reported when their limit allows it.
    private var unreported: Set<String> = []
    /// Called when ``disarmed`` has been written, with why it could not be.
    var replies: [(String?) -> Void] = []

    /// Time for a removed handler to finish its queue.
    private static let retirement: Duration = .seconds(60)

    init(_ daemon: Daemon, _ store: StorePart) {
        self.daemon = daemon
        self.store = store
        let inbox = PartInbox<HandlersPart>(daemon)
        self.inbox = inbox
        trouble = TroubleLog(daemon.log)
        let path = EventStoreSettings.inStateFolder("disarmed.json")
        let words = ("which handlers are disarmed", "all are armed")
        disarmed =
            StateFile<HandlersPart>.read(path, limit: 1_048_576, log: daemon.log, words) { value in
                if case .array(let names)? = value["handlers"] { Set(names.compactMap(\.text)) } else { nil }
            } ?? []
        file = StateFile(daemon, path, of: \.file) {
            "which handlers are disarmed cannot be written (\($0)); until that succeeds, which is tried each minute, a start uses what was "
                + "written before"
        }
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
        generation += 1
        let generation = generation
        let reports = HandlerReports(
            report: { event in inbox.post { $0.report(event, of: generation) } },
            readerGone: { event in inbox.post { $0.outputDidClose(event, of: generation) } })
        prepared = []
        do throws(SystemError) {
            for section in configuration.handlers {
                let old = lines.first { $0.section.name == section.name }
                if let old, old.section == section {
                    prepared.append(old)
                } else {
                    prepared.append(
                        try HandlerLine(
                            section, after: old, context: context, inlet: store.inlet, generation: generation,
                            reports: reports))
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
        let known = Set(lines.filter { !$0.chain.isArmed }.map(\.section.name))
        lines = prepared
        let disarmable = lines.filter { $0.handler.plan.latest == nil }.map(\.section.name)
        // A start leaves the file alone: it may be that of another daemon, which this one has not met at the store yet. A handler that the
        // configuration does not have then stays disarmed in both.
        let forgotten = change.isFirst ? [] : disarmed.subtracting(disarmable)
        for name in forgotten.sorted() {
            file.isChanged = true
            daemon.log.say(
                "the handler \(Spelling.quoted(name)) was disarmed; when it comes back, it is armed", level: .warning)
        }
        disarmed.subtract(forgotten)
        // A handler that comes back is armed.
        armReports = armReports.filter { disarmable.contains($0.key) }
        unreported.formIntersection(disarmable)
        for line in lines {
            // Also a chain that stays, of a handler that has become one that cannot be disarmed.
            let isArmed = !disarmed.contains(line.section.name)
            line.setArmed(isArmed, behind: daemon.router.sequence)
            // A start says so, and a reload of what has not been said.
            guard !isArmed, !known.contains(line.section.name) else { continue }
            daemon.router.report(Event(handler: line.section.name, isArmed: false))
        }
        daemon.replaceChains()
        let handled = completed(HandledChange(change))
        for (line, section) in zip(lines, change.after.configuration.handlers) {
            line.install()
            line.configurationDidChange(handled, section)
        }
        for line in gone { retire(line) }
        attachments?.change(to: lines, within: Self.retirement)
        let keeping = Set(lines.filter(\.isKept).map(\.section.name))
        for line in gone where line.isKept && !keeping.contains(line.section.name) {
            sayWaiting(for: line.section.name)
        }
        for line in gone { line.handler.end(within: Self.retirement, because: "a reload has exchanged or removed it") }
    }

    /// Says that a removed handler leaves events in the store.
    private func sayWaiting(for name: String) {
        guard let delivery = store.store?.statistics.handlers.first(where: { $0.name == name }) else { return }
        let count = delivery.waitingCount + delivery.unacknowledgedCount
        guard count > 0 else { return }
        daemon.log.say(StorePart.leftBehind(by: name, "up to \(count)"), level: .warning)
    }

    var chains: [HandlerChain] {
        trouble.change(to: lines)
        return [HandlerChain(handler: trouble, kinds: EventKind.alwaysLogged), HandlerChain(handler: eventTally)]
            + lines.map(\.chain)
    }

    /// A change with what is the same in all: the handlers, and the last event before it.
    private func completed(_ change: HandledChange) -> HandledChange {
        var change = change
        change.handlers = Dictionary(uniqueKeysWithValues: lines.map { ($0.section.name, $0.chain.isArmed) })
        change.sequence = daemon.router.sequence
        return change
    }

    // MARK: - Arming

    /// Makes a handler forget the states of sensors and detectors, of whose changes it was not or will not be informed.
    private func forgetStates(_ line: HandlerLine) {
        let assembly = daemon.assembly
        guard let section = assembly.configuration.handlers.first(where: { $0.name == line.section.name }) else {
            return
        }
        var change = HandledChange()
        change.renewed = Set(assembly.sensors.map(\.section.name))
        line.configurationDidChange(completed(change), section)
    }

    /// Arms or disarms a handler; returns why it cannot.
    func arm(_ isArmed: Bool, _ name: String) -> String? {
        guard let line = lines.first(where: { $0.section.name == name }) else {
            let hint = Spelling.hint(for: name, among: lines.map(\.section.name))
            return "there is no handler \(Spelling.quoted(name)) (\(hint))"
        }
        guard isArmed || line.handler.plan.latest == nil else {
            return "the handler '\(name)' repeats the latest heading, which would become an old one"
        }
        guard line.chain.isArmed != isArmed else { return nil }
        line.arm(isArmed, behind: daemon.router.sequence, in: DecoratorSettings.Context(daemon.router))
        for old in retired where old.line.section.name == name { line.arm(isArmed, retired: old.line.handler) }
        if isArmed { disarmed.remove(name) } else { disarmed.insert(name) }
        forgetStates(line)
        file.isChanged = true
        armReports[name] = armReports[name] ?? (MessageLimit(), !isArmed)
        reportArming(of: name, at: SystemClock.monotonic())
        return nil
    }

    /// Reports the state of a handler that was armed or disarmed, unless clients have caused so many reports that only the state that
    /// lasts is reported.
    private func reportArming(of name: String, at now: Int64) {
        unreported.remove(name)
        guard let isArmed = lines.first(where: { $0.section.name == name })?.chain.isArmed,
            armReports[name]?.isArmed != isArmed
        else { return }
        guard armReports[name]?.limit.passes(now: now) ?? true else {
            unreported.insert(name)
            return
        }
        armReports[name]?.isArmed = isArmed
        daemon.router.report(Event(handler: name, isArmed: isArmed))
        guard !isArmed, !file.hasPath else { return }
        daemon.log.say(
            "the handler \(Spelling.quoted(name)) is disarmed until this run ends: it has no state folder, which systemd's "
                + "StateDirectory= makes",
            level: .warning)
    }

    func finishTurn(at now: Int64) {
        for name in unreported where armReports[name].map({ $0.limit.endNanoseconds <= now }) ?? true {
            reportArming(of: name, at: now)
        }
        write(at: now)
        reportRetired()
        guard !replies.isEmpty, !file.isWriting else { return }
        for reply in replies { reply(file.problems.first) }
        replies = []
    }

    /// Retired handlers are looked at once a second.
    var deadline: Int64? {
        let retry = file.isWriting ? nil : file.retryTime
        let report = unreported.compactMap { armReports[$0]?.limit.endNanoseconds }.min()
        let retirement = retired.isEmpty ? nil : SystemClock.monotonic() + 1_000_000_000
        return [retry, report, retirement].compactMap { $0 }.min()
    }

    private func write(at now: Int64) { file.write(at: now) { contents } }

    private var contents: [UInt8] {
        let names = JSONObject.texts(disarmed.sorted())
        return Array((JSONObject.text(["version": "1", "handlers": names]) + "\n").utf8)
    }

    // MARK: - Reports

    /// Counts a handler's report and routes it like other events.
    ///
    /// What a retired handler reports is no failure of its successor, nor the end of one: its recovery is in the status alone.
    private func report(_ event: Event, of generation: Int) {
        if case .text(let name) = event.figure(.handler) {
            func isReporter(_ line: HandlerLine) -> Bool { line.section.name == name && line.generation == generation }
            let isOld = !lines.contains(where: isReporter)
            tallies[name, default: HandlerCounters()].count(event, ofPredecessor: isOld)
            if let old = retired.firstIndex(where: { isReporter($0.line) }) { retired[old].counters.count(event) }
            if isOld, event.kind == .handlerRecovered, lines.contains(where: { $0.section.name == name }) { return }
        }
        daemon.router.report(event)
    }

    /// Retires a handler with its failure, which its successor has as well until a success ends it.
    private func retire(_ line: HandlerLine) {
        let name = line.section.name
        let tally = tallies[name] ?? HandlerCounters()
        retired.append((line, tally))
        let successor = lines.first { $0.section.name == name }
        tallies[name]?.failures = HandlerFailures(after: successor == nil ? nil : tally.failures)
        if tally.failure != nil { successor?.handler.inheritFailure() }
    }

    /// Reports what handlers that a reload removed have left behind; what a store keeps goes to their successors.
    private func reportRetired() {
        guard retired.contains(where: \.line.handler.hasEnded) else { return }
        for line in retired.map(\.line) where line.handler.hasEnded && !line.isKept {
            let count = line.handler.waitForEnd(until: 0)
            // Commands report it themselves.
            guard count > 0, !(line.section.action is CommandAction) else { continue }
            let drop = EventDrops.event(
                count: count, handler: line.section.name,
                reason: "they waited for the handler that a reload has exchanged or removed")
            report(drop, of: line.generation)
        }
        retired.removeAll(where: \.line.handler.hasEnded)
    }

    /// Ends the run if standard output was its only handler, as programs in a pipeline do; otherwise records a failure.
    private func outputDidClose(_ event: Event, of generation: Int) {
        let onlyPrints = lines.allSatisfy { $0.section.action is OutputAction }
        let isKept = store.store != nil || daemon.assembly.configuration.socket != nil
        if daemon.options.writesJSON || onlyPrints && !isKept {
            daemon.session.end()
        } else {
            report(event, of: generation)
        }
    }

    // MARK: - The end

    func end(_ stage: EndStage, until deadline: Int64) {
        switch stage {
        case .begin:
            trouble.isStopping = true
            // What lasts to the end is reported now.
            for name in unreported {
                armReports[name]?.limit = MessageLimit()
                reportArming(of: name, at: SystemClock.monotonic())
            }
        case .decorators:
            for line in lines { line.flush() }
            store.inlet?.flush()
            attachments?.detachAll()
        case .actors: end((lines + retired.map(\.line)).filter(\.actsOnTheWorld), until: deadline)
        case .handlers: end((lines + retired.map(\.line)).filter { !$0.actsOnTheWorld }, until: deadline)
        case .files:
            file.finish(until: deadline) { contents }
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
            // A store that works says what it keeps.
            guard count > 0, !(line.isKept && store.store?.statistics.failure == nil) else { continue }
            daemon.log.say(
                "handler '\(line.section.name)': up to \(count) events were not handled before the end", level: .warning
            )
        }
    }

    // MARK: - Status

    /// Retired handlers that have not handled all of their events.
    private var waiting: [(line: HandlerLine, counters: HandlerCounters)] {
        retired.filter { $0.line.handler.unfinishedCount > 0 }
    }

    var problems: [String] {
        let failures = lines.compactMap { line in
            tallies[line.section.name]?.failure.map { "handler '\(line.section.name)': \($0)" }
        }
        return failures
            + waiting.compactMap { old in
                old.counters.failure.map { failure in
                    "handler '\(old.line.section.name)', which a reload has exchanged or removed, still has "
                        + "\(old.line.handler.unfinishedCount) events: \(failure)"
                }
            } + file.problems
    }

    func status(at now: Int64) -> [(key: String, json: String)] {
        let statistics = store.store?.statistics
        return [
            ("events_total", JSONObject.list(eventTally.objects)),
            ("handlers", JSONObject.list(lines.map { object($0, tallies[$0.section.name], statistics) })),
            ("retired_handlers", JSONObject.list(waiting.map { object($0.line, $0.counters, nil) })),
        ]
    }

    private func object(_ line: HandlerLine, _ tally: HandlerCounters?, _ store: EventStoreStatistics?) -> String {
        let tally = tally ?? HandlerCounters()
        let delivery = store?.handlers.first { $0.name == line.section.name }
        var object = JSONObject()
        object.add("name", line.section.name)
        object.add("action", type(of: line.section.action).key)
        object.add("armed", raw: String(line.chain.isArmed))
        object.add("queued", raw: String(line.handler.unfinishedCount))
        object.add("dropped", raw: String(tally.droppedCount + (delivery?.removedCount ?? 0)))
        object.add("left_out", raw: String(line.leftOutCount))
        object.add("finished", raw: String(tally.finishedCount))
        object.add("failed", raw: String(tally.failedCount))
        object.add("failure", tally.failure)
        if line.section.action is CommandAction { object.add("duration_s", raw: tally.durations.text) }
        if let status = line.handler.plan.status?() { object.add(type(of: line.section.action).key, raw: status) }
        if let delivery {
            object.add("cursor", raw: String(delivery.position))
            object.add("stored", raw: String(delivery.waitingCount))
            object.add("unacknowledged", raw: String(delivery.unacknowledgedCount))
        }
        return object.text
    }
}

extension HandledChange {
    /// What is the same for all handlers.
    fileprivate init(_ change: ConfigurationChange) {
        let (before, after) = (change.before, change.after)
        /// The sensors of all events, which for ambient light is the detector.
        func sensors(_ assembly: Assembly) -> Set<String> {
            Set(assembly.sensors.map(\.section.name) + assembly.detectors.compactMap(\.eventSensor))
        }
        self.init()
        kept = Set(after.detectors.filter { detector in before.detectors.contains { $0 === detector } }.map(\.name))
        gone = sensors(before).subtracting(sensors(after))
        let known = after.sensors.filter { sensor in before.sensors.contains { $0.object === sensor.object } }
        renewed = Set(after.sensors.map(\.section.name)).subtracting(known.map(\.section.name))
    }
}
