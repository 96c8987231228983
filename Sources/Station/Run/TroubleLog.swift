import Binnacle
import Configuration
import Handlers

/// Logs what failed, and what works again, where no log handler of the configuration takes it.
///
/// A configuration need not name such events. Without this, a broker that is away or a missing sensor would be silent.
final class TroubleLog: EventHandler {
    private let log: MessageLog
    /// The chains of the log handlers, by handler name.
    private var logChains: [(name: String, chain: HandlerChain)] = []
    /// The last failure of each handler whose program failed, until one ends with success.
    private var failedPrograms: [String: String] = [:]

    /// Whether the run ends, which counts by itself what is not handled any more.
    var isStopping = false

    init(_ log: MessageLog) {
        self.log = log
    }

    func change(to lines: [HandlerLine]) {
        logChains = lines.filter { $0.section.action is LogAction }.map { ($0.section.name, $0.chain) }
    }

    /// Logs the event, unless a log handler does.
    func handle(_ event: Event) {
        guard isNew(event), !isLogged(event) else { return }
        log.report(event)
    }

    /// A log handler that fails cannot log that itself.
    private func isLogged(_ event: Event) -> Bool {
        let subject = event.figure(.handler)?.description
        return logChains.contains { $0.chain.accepts(event) && (event.kind.role != .report || $0.name != subject) }
    }

    /// Whether an event is no repetition: a program that is missing fails for each event.
    private func isNew(_ event: Event) -> Bool {
        guard let handler = event.figure(.handler)?.description else { return true }
        switch event.kind {
        case .eventsDropped: return !isStopping
        case .commandFailed:
            let reason = [event.figure(.program), event.figure(.reason)].map { $0?.description ?? "" }.joined(
                separator: ": ")
            return failedPrograms.updateValue(reason, forKey: handler) != reason
        case .commandFinished: return failedPrograms.removeValue(forKey: handler) != nil
        default: return true
        }
    }
}
