import Binnacle
import Configuration
import Handlers

/// Logs failures and recoveries that no configured log handler takes.
///
/// A configuration need not name such events; without this log an unreachable broker or a missing sensor would be
/// silent.
final class TroubleLog: EventHandler {
    private let log: MessageLog
    private var logChains: [(name: String, chain: HandlerChain)] = []
    /// The last failure of each handler whose program failed, until its next success.
    private var failedPrograms: [String: String] = [:]

    /// Set at the end of the run, which reports unhandled events by itself.
    var isStopping = false

    init(_ log: MessageLog) {
        self.log = log
    }

    func change(to lines: [HandlerLine]) {
        // A decorator may drop a failure, so such a handler need not log what it takes.
        logChains = lines.filter { $0.section.action is LogAction && $0.section.decorators.isEmpty }
            .map { ($0.section.name, $0.chain) }
    }

    func handle(_ event: Event) {
        guard isNew(event), !isLogged(event) else { return }
        log.report(event)
    }

    /// A log handler cannot log its own failure.
    private func isLogged(_ event: Event) -> Bool {
        let subject = event.figure(.handler)?.description
        return logChains.contains { $0.chain.accepts(event) && (event.kind.role != .report || $0.name != subject) }
    }

    /// Whether an event is not a repetition: a missing program fails again for each event.
    private func isNew(_ event: Event) -> Bool {
        guard let handler = event.figure(.handler)?.description else { return true }
        switch event.kind {
        case .eventsDropped: return !isStopping
        case .commandFailed:
            let reason = HandlerFailures.reason(of: event)
            return failedPrograms.updateValue(reason, forKey: handler) != reason
        case .commandFinished: return failedPrograms.removeValue(forKey: handler) != nil
        default: return true
        }
    }
}
