/// The one delegate of all detectors and sensors: turns what it is told into events and hands them to handlers.
///
/// Within one delivery the detectors speak one after the other. The router puts what they said into the order of the
/// samples, numbers it, and hands it on when the pipeline says that the delivery is done. So the events are the same
/// however the samples were cut into deliveries.
public final class Router {
    /// Told when sensors run out; held weakly.
    public weak var delegate: (any RouterDelegate)?
    /// The sensors in the pipeline, active or not.
    public private(set) var sensors: [Sensor] = []
    /// The handlers with their decorators, in the order in which they get each event.
    public private(set) var chains: [HandlerChain] = []
    /// The number of events handed on so far.
    public private(set) var sequence: UInt64 = 0

    private struct Pending {
        let position: SamplePosition
        let order: Int
        let event: Event
    }
    private var pending: [Pending] = []

    /// Creates a router without sensors and handlers.
    public init() {}

    /// The sensors that are active.
    public var activeSensors: [Sensor] { sensors.filter(\.isActive) }

    /// Becomes the delegate of a sensor.
    public func watch(_ sensor: Sensor) {
        guard !sensors.contains(where: { $0 === sensor }) else { return }
        sensors.append(sensor)
        sensor.delegate = self
    }

    /// Adds a handler behind those that are there, also while samples flow.
    public func add(_ chain: HandlerChain) {
        chains.append(chain)
    }

    /// Adds a handler without decorators.
    @discardableResult
    public func add(_ handler: any EventHandler, kinds: Set<EventKind>? = nil) -> HandlerChain {
        let chain = HandlerChain(handler: handler, kinds: kinds)
        add(chain)
        return chain
    }

    /// Takes a handler out, also while samples flow; it is not told to finish.
    public func remove(_ chain: HandlerChain) {
        chains.removeAll { $0 === chain }
    }

    /// Hands the events, from now on, to structured concurrency.
    ///
    /// - Parameter capacity: The most events that wait for the consumer; beyond it the oldest is dropped.
    /// - Returns: A stream for one consumer, which ends when the router finishes.
    public func events(capacity: Int = 1024) -> AsyncStream<Event> {
        let stream = EventStream(capacity: capacity)
        add(stream)
        return stream.events
    }

    /// Takes an event that belongs to a sample of the delivery under way.
    ///
    /// A repetition that no handler asked for is not even numbered, so that the numbers others see have no holes.
    func collect(_ event: Event, at position: SamplePosition) {
        guard !EventKind.repeated.contains(event.kind) || chains.contains(where: { $0.asksFor(event.kind) }) else {
            return
        }
        pending.append(Pending(position: position, order: pending.count, event: event))
    }

    /// Hands on what was collected, in the order of the samples.
    ///
    /// - Parameter timeNanoseconds: How far sample time has come; no event before it will follow.
    public func flush(upTo timeNanoseconds: Int64?) {
        if !pending.isEmpty {
            let sorted =
                pending.count == 1 ? pending : pending.sorted { ($0.position, $0.order) < ($1.position, $1.order) }
            pending.removeAll(keepingCapacity: true)
            for item in sorted { handOn(item.event) }
        }
        guard let timeNanoseconds else { return }
        for chain in chains { chain.advance(to: timeNanoseconds) }
    }

    /// Tells every handler that nothing more will come.
    public func finish() {
        flush(upTo: nil)
        for chain in chains { chain.finish() }
    }

    private func handOn(_ event: Event) {
        sequence += 1
        var numbered = event
        numbered.sequence = sequence
        // A copy, because a handler may add or remove chains while it is called.
        for chain in chains { chain.handle(numbered) }
    }
}

/// What a ``Router`` tells about its sensors as a whole; every method has an empty default.
public protocol RouterDelegate: AnyObject {
    /// Tells the delegate that one active sensor is left; called when the number of active sensors falls to one.
    func router(_ router: Router, didFallToOneSensor sensor: Sensor)
    /// Tells the delegate that no active sensor is left; called when the number of active sensors falls to none.
    func routerDidLoseAllSensors(_ router: Router)
}

extension RouterDelegate {
    /// Does nothing.
    public func router(_ router: Router, didFallToOneSensor sensor: Sensor) {}
    /// Does nothing.
    public func routerDidLoseAllSensors(_ router: Router) {}
}
