import Binnacle
import Configuration
import Handlers
import LinuxSystem
import Store

/// Who delivers a chain's events to its handler.
enum DeliveredBy {
    /// The chain, whose end is the handler's queue.
    case chain
    /// The store, where the chain ends: it gives the handler at most `limit` events that are not acknowledged.
    case store(StoreInlet, limit: Int)
}

/// A configured handler of the daemon: the handler with its thread, and the chain that leads to it.
///
/// A new line keeps what is unchanged of the line with the same name: the handler when its action is equal, the chain
/// when it has the same events, and each decorator with equal settings, with its state.
final class HandlerLine {
    let section: HandlerSection
    let handler: ThreadedHandler
    let chain: HandlerChain
    let deliveredBy: DeliveredBy
    /// Whether the store delivers, which keeps what the handler does not do.
    var isKept: Bool { if case .store = deliveredBy { true } else { false } }
    /// Whether it changes something outside this process.
    var actsOnTheWorld: Bool { type(of: section.action).actsOnTheWorld }

    private let decorators: [(settings: DecoratorSettings, object: EventDecorator)]

    /// Makes a line, without changing the one that has the name until now; `inlet` leads to the store, when there is one.
    init(
        _ section: HandlerSection, after old: HandlerLine?, context: DecoratorSettings.Context, inlet: StoreInlet?,
        reports: HandlerReports
    ) throws(SystemError) {
        self.section = section
        if let old, old.section.action.isSame(as: section.action) {
            handler = old.handler
        } else {
            let (name, store) = (section.name, inlet?.store)
            handler = try section.action.work(for: name).live(
                name: name, reports: reports, history: store, acknowledge: { store?.acknowledge(name, $0) })
            if let before = old?.handler.latest { handler.latest?.inherit(from: before) }
        }
        if let inlet, let limit = handler.deliveryLimit {
            deliveredBy = .store(inlet, limit: limit)
        } else {
            deliveredBy = .chain
        }
        var kept = old?.decorators ?? []
        if let old, old.handler === handler, old.section.kinds == section.kinds,
            old.section.detectors == section.detectors
        {
            chain = old.chain
        } else {
            let end: any EventHandler =
                switch deliveredBy {
                case .chain: handler
                case .store(let inlet, _): inlet.queue(section.name)
                }
            chain = HandlerChain(
                handler: end, kinds: Set(section.kinds), detectors: section.detectors.map { Set($0) })
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

    func installDecorators() {
        chain.replaceDecorators(decorators.map(\.object))
    }

    /// Tells the handler which detectors are unchanged; values of the others are no longer valid.
    func detectorsChanged(to detectors: Set<String>) {
        handler.latest?.detectorsChanged(to: section.detectors.map { detectors.intersection($0) } ?? detectors)
    }

    /// Calls the decorators to forward the events that they hold back.
    func flush() {
        for decorator in decorators { decorator.object.flush() }
    }
}
