import Binnacle
import Configuration
import Handlers
import LinuxSystem
import Store

/// One configured handler in a running station: the handler on its thread, and the chain that leads to it.
///
/// A new line takes over from the one of the same name what it can: the handler when it does the same as before, the
/// chain when it is for the same events, and each decorator that says the same, with what it knows.
final class HandlerLine {
    let section: HandlerSection
    let handler: ThreadedHandler
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
            let (name, store) = (section.name, inlet?.store)
            handler = try section.action.work(for: name).live(
                name: name, report: report, acknowledge: { store?.acknowledge(name, $0) })
            if let before = old?.handler.latest { handler.latest?.inherit(from: before) }
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
    func installDecorators() {
        chain.replaceDecorators(decorators.map(\.object))
    }

    /// Tells the handler which detectors go on as they were: nothing tells it that what the others said is no longer valid.
    func detectorsChanged(to detectors: Set<String>) {
        handler.latest?.detectorsChanged(to: section.detectors.map { detectors.intersection($0) } ?? detectors)
    }

    /// Has the decorators pass on what they hold back.
    func flush() {
        for decorator in decorators { decorator.object.flush() }
    }

    /// What the events of the chain go to: the handler, or the store that delivers to it.
    private static func end(of inlet: StoreInlet?, _ handler: ThreadedHandler, _ name: String) -> any EventHandler {
        guard let inlet, handler.deliveryLimit != nil else { return handler }
        return inlet.queue(name)
    }
}
