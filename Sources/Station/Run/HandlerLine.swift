import Binnacle
import Configuration
import Handlers
import LinuxSystem
import Store

/// A configured handler of the daemon with its thread, and its chain.
///
/// A reload keeps the unchanged parts of the line with the same name: the handler if its action is equal; and if its events
/// are the same, the chain, and each decorator with equal settings, including its state.
final class HandlerLine {
    let section: HandlerSection
    let handler: ThreadedHandler
    /// The number that the handler's reports have; a reload that exchanges the handler gives its successor another one.
    let generation: Int
    let chain: HandlerChain
    /// How many unacknowledged events the store delivers at a time, in which the chain ends; `nil` where it ends in the handler's queue.
    let deliveryLimit: Int?
    /// Whether the store delivers to the handler, and keeps events that it has not handled.
    var isKept: Bool { deliveryLimit != nil }
    var actsOnTheWorld: Bool { type(of: section.action).actsOnTheWorld }

    private let end: any EventHandler
    private var decorators: [(settings: DecoratorSettings, object: EventDecorator)]
    private var leftOutBefore = 0
    /// The line that this one replaces, until the decorators are installed.
    private var predecessor: HandlerLine?

    /// The number of events that the decorators have dropped for their limits, and that waited when the handler was disarmed.
    var leftOutCount: Int { decorators.reduce(leftOutBefore + handler.leftOutCount) { $0 + $1.object.droppedCount } }

    /// Makes a line without changing its predecessor; `inlet` is the store's, if there is one.
    init(
        _ section: HandlerSection, after old: HandlerLine?, context: DecoratorSettings.Context, inlet: StoreInlet?,
        generation: Int, reports: HandlerReports
    ) throws(SystemError) {
        self.section = section
        if let old, old.section.action.isSame(as: section.action) {
            handler = old.handler
            self.generation = old.generation
        } else {
            self.generation = generation
            let (name, store) = (section.name, inlet?.store)
            handler = try section.action.work(for: name).live(
                name: name, reports: reports, history: store, acknowledge: { store?.acknowledge(name, $0) })
            if let before = old?.handler { handler.inherit(from: before) }
        }
        if let inlet, let limit = handler.plan.deliveryLimit {
            deliveryLimit = limit
            end = inlet.queue(section.name)
        } else {
            deliveryLimit = nil
            end = handler
        }
        var kept: [(settings: DecoratorSettings, object: EventDecorator)] = []
        if let old, old.section.kinds == section.kinds, old.section.detectors == section.detectors {
            chain = old.chain
            kept = old.decorators
        } else {
            chain = HandlerChain(
                handler: end, kinds: Set(section.kinds), detectors: section.detectors.map { Set($0) })
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
        predecessor = old
    }

    /// Puts the decorators and the handler into the chain, after the router has replaced its chains.
    func install() {
        chain.replaceDecorators(chain.isArmed ? decorators.map(\.object) : [], endingAt: end)
        guard let old = predecessor.take() else { return }
        // What goes keeps its share here, with what it has dropped as it went.
        let gone = old.decorators.filter { before in !decorators.contains { $0.object === before.object } }
        leftOutBefore += gone.reduce(old.leftOutBefore) { $0 + $1.object.droppedCount }
        if handler !== old.handler { leftOutBefore += old.handler.leftOutCount }
    }

    /// Arms the handler, with decorators that have seen no event, or disarms it.
    func arm(_ isArmed: Bool, behind sequence: UInt64, in context: DecoratorSettings.Context) {
        leftOutBefore = leftOutCount - handler.leftOutCount
        decorators = section.decorators.map { ($0, $0.makeDecorator(in: context)) }
        setArmed(isArmed, behind: sequence)
        install()
    }

    /// Arms or disarms the handler that a reload has retired for this one, and counts here what that leaves out.
    func arm(_ isArmed: Bool, retired: ThreadedHandler) {
        let before = retired.leftOutCount
        retired.isArmed = isArmed
        leftOutBefore += retired.leftOutCount - before
    }

    /// Arms or disarms the handler; `sequence` is the number of the last event before that.
    func setArmed(_ isArmed: Bool, behind sequence: UInt64) {
        chain.isArmed = isArmed
        if !isArmed { handler.leaveOut(through: sequence) }
        handler.isArmed = isArmed
    }

    /// Tells the decorators and the handler what a configuration with this section of it changes.
    func configurationDidChange(_ change: HandledChange, _ section: HandlerSection) {
        for decorator in decorators { decorator.object.detectorsDidEnd(except: change.kept) }
        var change = change
        if let detectors = section.detectors { change.kept.formIntersection(detectors) }
        change.detectors = section.heard
        if EventKind.arming.isDisjoint(with: section.kinds) { change.handlers = [:] }
        handler.configurationDidChange(change)
    }

    /// Makes the decorators forward the events that they hold.
    func flush() {
        for decorator in decorators { decorator.object.flush() }
    }
}
