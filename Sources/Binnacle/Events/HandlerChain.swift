/// One handler with the decorators in front of it, and the events it asked for.
///
/// Decorators are put in and taken out at run time, between two events. The first one added is the first one an
/// event meets.
package final class HandlerChain {
    /// The kinds the chain takes; `nil` takes all but those that repeat an ongoing state.
    package let kinds: Set<EventKind>?
    /// Whether it takes a kind, by the kind's place: each event asks, and a set would hash.
    private let takes: [Bool]
    /// The detectors the chain listens to; `nil` is all of them, and the sensors.
    package let detectors: Set<String>?
    /// What the events end at.
    package private(set) var handler: any EventHandler
    /// The decorators, from the first an event meets to the last.
    package private(set) var decorators: [EventDecorator] = []

    /// Whether events reach the handler; disarming drops the decorators, with what they hold back.
    package var isArmed = true {
        didSet {
            guard !isArmed else { return }
            for decorator in decorators { decorator.next = nil }
            decorators = []
        }
    }

    package init(handler: any EventHandler, kinds: Set<EventKind>? = nil, detectors: Set<String>? = nil) {
        self.handler = handler
        self.kinds = kinds
        takes = EventKind.allCases.map { $0.isAmong(kinds) }
        self.detectors = detectors
    }

    /// Puts a decorator behind those that are there.
    package func append(_ decorator: EventDecorator) {
        decorators.append(decorator)
        relink()
    }

    /// Takes a decorator out, after it has passed on what it held back.
    package func remove(_ decorator: EventDecorator) {
        guard let index = decorators.firstIndex(where: { $0 === decorator }) else { return }
        decorator.flush()
        decorators.remove(at: index)
        decorator.next = nil
        relink()
    }

    /// Exchanges the decorators, and the handler if one is given.
    ///
    /// Decorators that go pass on what they held back, to the handler before; those that stay keep what they know.
    package func replaceDecorators(_ decorators: [EventDecorator], endingAt handler: (any EventHandler)? = nil) {
        for gone in self.decorators where !decorators.contains(where: { $0 === gone }) { remove(gone) }
        self.decorators = decorators
        self.handler = handler ?? self.handler
        relink()
    }

    private var first: any EventHandler { decorators.first ?? handler }

    private func relink() {
        for (index, decorator) in decorators.enumerated() {
            decorator.next = index + 1 < decorators.count ? decorators[index + 1] : handler
        }
    }

    /// Whether the chain wants a kind by name.
    func asksFor(_ kind: EventKind) -> Bool {
        kinds?.contains(kind) ?? false
    }

    /// Whether an event is for this chain; a decorator may still drop it.
    package func accepts(_ event: Event) -> Bool {
        guard takes[event.kind.index] else { return false }
        if event.kind.isArming { return true }
        guard isArmed else { return false }
        guard let detectors else { return true }
        return event.detector.map(detectors.contains) ?? false
    }

    package func handle(_ event: Event) {
        for decorator in decorators { decorator.observe(event) }
        // Decorators choose among what a handler is armed for. Reports of arming are not that: a siren that sounds has
        // to learn of its end at any hour.
        if accepts(event) { (event.kind.isArming ? handler : first).handle(event) }
    }

    var nextDeadlineNanoseconds: Int64? { decorators.first?.nextDeadlineNanoseconds }

    /// Passes on what the decorators hold back, from the first to the last.
    func flush() {
        for decorator in decorators { decorator.flush() }
    }

    func advance(to timeNanoseconds: Int64) {
        first.advance(to: timeNanoseconds)
    }

    /// Tells the decorators and then the handler that nothing more will come.
    package func finish() {
        first.finish()
    }
}

/// A handler that wraps another one: it forwards everything, and a subclass overrides what it changes.
///
/// Decorators count the events' own time, so a replay decorates as the live run did.
open class EventDecorator: EventHandler {
    /// What is forwarded to; set by the ``HandlerChain`` the decorator is in.
    package internal(set) var next: (any EventHandler)?
    /// The number of events that were dropped because there were too many, or at their time of day.
    package internal(set) var droppedCount = 0

    /// Creates a decorator that forwards everything.
    public init() {}

    /// Forwards the event.
    open func handle(_ event: Event) {
        next?.handle(event)
    }

    /// Learns of an event, before a decorator in front drops it or holds it back and also if the chain did not ask for it; does nothing
    /// by default, and passes it to no handler.
    open func observe(_ event: Event) {}

    /// Learns that a new configuration has removed or exchanged all detectors but those named, whose states end without an
    /// event; does nothing by default.
    package func detectorsDidEnd(except kept: Set<String>) {}

    /// The earlier of its own deadline, where it holds something back, and the next one's.
    open var nextDeadlineNanoseconds: Int64? {
        guard let own = ownDeadlineNanoseconds else { return next?.nextDeadlineNanoseconds }
        return min(own, next?.nextDeadlineNanoseconds ?? own)
    }

    /// Passes what is held back and due before the time, and forwards the time.
    open func advance(to timeNanoseconds: Int64) {
        release(before: timeNanoseconds)
        next?.advance(to: timeNanoseconds)
    }

    /// When what is held back comes due; `nil` while nothing is.
    var ownDeadlineNanoseconds: Int64? { nil }

    /// Passes what is held back and comes due before a time.
    func release(before timeNanoseconds: Int64) {}

    /// Passes on what is held back, then forwards the end.
    package func finish() {
        flush()
        next?.finish()
    }

    /// Passes on what is held back; a decorator that holds nothing back does nothing.
    open func flush() {}
}

extension Event {
    /// Whether it reports that the detector or the sensor of an event that a decorator holds has failed.
    func isLoss(of held: Event) -> Bool {
        switch kind {
        case .detectorFailed: held.detector == detector
        case .sensorInactive: held.sensor == sensor
        default: false
        }
    }
}

/// What decorators tell events apart by: two kinds, or two detectors, never merge, and without a detector neither do two
/// sensors or two handlers.
struct EventTopic: Hashable {
    let kind: EventKind
    let detector: String?
    /// What an event without a detector is about: its sensor, or else its handler.
    let subject: String?
}

extension EventTopic {
    init(_ event: Event) {
        self.init(kind: event.kind, detector: event.detector, subject: Self.subject(of: event))
    }

    private static func subject(of event: Event) -> String? {
        guard event.detector == nil else { return nil }
        if let sensor = event.sensor { return sensor }
        guard case .text(let handler)? = event.figure(.handler) else { return nil }
        return handler
    }

    /// The topic of the event that ends what this one begins; `nil` if it begins nothing.
    var end: EventTopic? { kind.end.map { EventTopic(kind: $0, detector: detector, subject: subject) } }
}
