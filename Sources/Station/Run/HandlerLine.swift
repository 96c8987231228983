import Binnacle
import Configuration
import Glibc
import Handlers
import LinuxSystem
import Store

/// One configured handler in a running station: the handler on its thread, and the chain that leads to it.
///
/// A new line takes over from the one of the same name what it can: the handler when it does the same as before, the
/// chain when it is for the same events, and each decorator that says the same, with what it knows.
final class HandlerLine {
    let section: HandlerSection
    let handler: any ThreadedHandler
    let chain: HandlerChain
    private let decorators: [(settings: DecoratorSettings, object: EventDecorator)]

    /// Makes a line, without changing the one before it.
    ///
    /// - Parameters:
    ///   - section: What the configuration says.
    ///   - old: The line that has had the name until now.
    ///   - context: What decorators need to know.
    ///   - inlet: Leads to the store, which keeps the events of handlers that say when they are done with them.
    ///   - report: Takes what the handler tells of itself, on any thread.
    /// - Throws: ``SystemError`` when there is no thread left.
    init(
        _ section: HandlerSection, after old: HandlerLine?, context: DecoratorSettings.Context, inlet: StoreInlet?,
        report: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) {
        self.section = section
        if let old, old.section.action.isSame(as: section.action) {
            handler = old.handler
        } else {
            handler = try Self.make(section, inlet?.store, report)
            // A heading is told when it has changed, which a ship at the quay's does not.
            if let heir = handler as? NMEAHandler, let before = old?.handler as? NMEAHandler {
                heir.takeHeading(of: before)
            }
        }
        var kept = old?.decorators ?? []
        if let old, old.handler === handler, old.section.kinds == section.kinds,
            old.section.detectors == section.detectors
        {
            chain = old.chain
        } else {
            chain = HandlerChain(
                handler: Self.end(of: inlet, handler, section.name), kinds: Set(section.kinds),
                detectors: section.detectors.map { Set($0) })
            // A decorator belongs to one chain.
            kept = []
        }
        var made: [(settings: DecoratorSettings, object: EventDecorator)] = []
        for settings in section.decorators {
            if let index = kept.firstIndex(where: { $0.settings == settings }) {
                made.append(kept.remove(at: index))
            } else {
                made.append((settings, settings.makeDecorator(in: context)))
            }
        }
        decorators = made
    }

    /// Puts the decorators into the chain.
    func takeOver() {
        chain.replaceDecorators(decorators.map(\.object))
    }

    /// Has the handler forget the heading of a detector that is not its own any more, or is not there: it would send that
    /// for ever, because nobody tells it that it has become invalid.
    ///
    /// - Parameter detectors: The names of the detectors that go on as they were.
    func forgetHeading(except detectors: Set<String>) {
        guard let handler = handler as? NMEAHandler else { return }
        handler.forgetHeading(except: section.detectors.map { detectors.intersection($0) } ?? detectors)
    }

    /// Has the decorators pass on what they hold back.
    func flush() {
        for decorator in decorators { decorator.object.flush() }
    }

    /// What the events of the chain go to: the handler, or the store that delivers to it.
    private static func end(
        of inlet: StoreInlet?, _ handler: any ThreadedHandler, _ name: String
    ) -> any EventHandler {
        guard let inlet, handler is any DeliveringHandler else { return handler }
        return inlet.lane(name)
    }

    /// A handler that might make detection wait gets a thread.
    private static func make(
        _ section: HandlerSection, _ store: EventStore?, _ report: @escaping @Sendable (Event) -> Void
    ) throws(SystemError) -> any ThreadedHandler {
        let (name, action) = (section.name, section.action)
        if let handler = try action.makeThreadedHandler(
            name: name, report: report, acknowledge: { store?.acknowledge(name, $0) })
        {
            return handler
        }
        return try QueuedHandler(name: name, report: report) {
            let log = LineWriter(descriptor: STDERR_FILENO)
            let output = LineWriter(descriptor: STDOUT_FILENO)
            let context = HandlerContext(
                name: name, log: log, output: output, journal: Self.journal(), report: report)
            var hasFailed = false
            return (
                action.makeHandler(context) ?? ClosureHandler { _ in },
                {
                    log.flush()
                    output.flush()
                    guard !hasFailed else { return }
                    for (place, failure) in [("output", output.failure), ("error", log.failure)] {
                        guard let failure else { continue }
                        hasFailed = true
                        report(Event(handlerFailed: name, because: "standard \(place): \(failure.reason)"))
                    }
                }
            )
        }
    }

    private static func journal() -> JournalSocket? {
        // Without the journal's socket its reader of standard error is still there.
        JournalSocket.isStandardError ? try? JournalSocket() : nil
    }
}
