/// The one delegate of all detectors and sensors: makes events of their calls, and hands them to handlers.
///
/// Within one delivery the detectors speak one after the other. The router puts what they said into the order of the
/// samples, numbers it, and hands it on when the pipeline says that the delivery is done. So the events are the same
/// however the samples were cut into deliveries.
package final class Router {
    /// Told when sensors run out; held weakly.
    package weak var delegate: (any RouterDelegate)?
    /// The sensors in the pipeline, active or not.
    package internal(set) var sensors: [Sensor] = []
    /// The handlers with their decorators, in the order in which they get each event.
    package private(set) var chains: [HandlerChain] = []
    /// Tells when a stamp was by the wall clock, in nanoseconds since 1970, or without a stamp what time it is; without
    /// the clock, events do not know.
    package var wallClock: ((_ timeNanoseconds: Int64?) -> Int64)?
    /// Tells a time on the samples' clock behind which no sample comes any more; `nil` where the clock of samples is not that of the
    /// machine.
    package var idleClock: (() -> Int64?)?
    /// The number of events handed on so far.
    package private(set) var sequence: UInt64 = 0
    /// Identifies the count that the sequence numbers belong to; `nil` in a replay.
    package private(set) var identity: String?
    /// The time of the latest event handed on.
    private var latestNanoseconds: Int64 = 0

    private struct Pending {
        let position: SamplePosition
        let order: Int
        var event: Event
    }
    private var pending: [Pending] = []
    /// What waits until the number of the last event is known; `nil` when it is.
    private var held: HeldEvents?
    /// The number of active sensors at the last review; `nil` before there were any.
    var lastActiveCount: Int?
    /// Whether failures have left one sensor that has not delivered yet, and may be missing as well.
    var awaitsLastSensor = false
    /// The losses that recurred within the last minute.
    var recurringLosses: [RecurringLoss] = []

    private struct HeldEvents {
        var items: [Pending] = []
        /// How far sample time has come.
        var timeNanoseconds: Int64?
        let capacity: Int
        var droppedCount = 0
    }

    package init() {}

    /// Adds a handler behind those that are there, also while samples flow.
    package func add(_ chain: HandlerChain) {
        chains.append(chain)
    }

    /// Adds a handler without decorators.
    @discardableResult
    package func add(_ handler: any EventHandler, kinds: Set<EventKind>? = nil) -> HandlerChain {
        let chain = HandlerChain(handler: handler, kinds: kinds)
        add(chain)
        return chain
    }

    /// Exchanges the handlers, also while samples flow; decorators that go pass on what they held back.
    ///
    /// Handlers that go are not told to finish, because they may be in use elsewhere.
    package func replaceChains(_ chains: [HandlerChain]) {
        let gone = self.chains.filter { chain in !chains.contains { $0 === chain } }
        self.chains = chains
        for chain in gone { chain.flush() }
    }

    /// Continues the sequence numbers after the number of the last stored event, unless they are higher already.
    ///
    /// Hands on the events that ``holdEvents(atMost:)`` has kept back.
    ///
    /// - Parameters:
    ///   - number: The number of the last event.
    ///   - identity: What the numbers belong to; without one it stays as it is.
    package func `continue`(behind number: UInt64, identity: String? = nil) {
        sequence = max(sequence, number)
        self.identity = identity ?? self.identity
        guard var held else { return }
        self.held = nil
        handOn(&held.items, upTo: held.timeNanoseconds)
        guard held.droppedCount > 0 else { return }
        collect(
            .eventsDropped,
            [
                Figure(.count, .integer(Int64(held.droppedCount))),
                Figure(.reason, .text("more than \(held.capacity) events waited for their sequence numbers")),
            ])
    }

    /// Keeps events back until ``continue(behind:)`` says which sequence number comes next.
    ///
    /// - Parameter capacity: Maximum number of events kept back; further ones are dropped, and reported afterwards.
    package func holdEvents(atMost capacity: Int) {
        held = HeldEvents(capacity: capacity)
    }

    /// Whether events are kept back because the next sequence number is not known.
    package var isHolding: Bool { held != nil }

    /// Takes an event that is about no sample, such as a handler's report.
    ///
    /// It stands behind everything known so far, is handed on with the next flush, in its turn, and numbered like all
    /// others.
    package func report(_ event: Event) {
        var event = event
        // The last sample may be hours old, and before the first one there is none. Single readings are no samples.
        event.timeNanoseconds = max(lastTimeNanoseconds, latestNanoseconds, idleClock?() ?? 0)
        event.wallNanoseconds = event.wallNanoseconds ?? wallClock?(nil)
        collect(
            event,
            at: SamplePosition(timeNanoseconds: event.timeNanoseconds, streamIndex: .max, sampleIndex: .max))
    }

    /// Takes an event that belongs to a sample of the delivery under way.
    func collect(_ event: consuming Event, at position: SamplePosition) {
        pending.append(Pending(position: position, order: pending.count, event: event))
    }

    /// Whether a handler wants a repeated state; nothing is made of it otherwise.
    func isAsked(for kind: EventKind) -> Bool {
        chains.contains { $0.asksFor(kind) }
    }

    /// Hands on what was collected, in the order of the samples; `timeNanoseconds` is how far sample time has come.
    package func flush(upTo timeNanoseconds: Int64?) {
        reviewSensors()
        if !recurringLosses.isEmpty, let timeNanoseconds { reportLosses(dueAt: timeNanoseconds) }
        guard !pending.isEmpty || held != nil else {
            if let timeNanoseconds { advance(to: timeNanoseconds) }
            return
        }
        // Taken out, because handlers may report meanwhile.
        var sorted: [Pending] = []
        swap(&sorted, &pending)
        if sorted.count > 1 { sorted.sort { ($0.position, $0.order) < ($1.position, $1.order) } }
        if held == nil { handOn(&sorted, upTo: timeNanoseconds) } else { hold(sorted, upTo: timeNanoseconds) }
        guard pending.isEmpty else { return }
        sorted.removeAll(keepingCapacity: true)
        swap(&sorted, &pending)
    }

    /// Hands on what was reported since the last flush, without a delivery.
    package func flushReported() {
        if !pending.isEmpty { flush(upTo: nil) }
    }

    private func hold(_ items: [Pending], upTo timeNanoseconds: Int64?) {
        // Taken out, because a second reference would copy the events.
        guard var held = self.held.take() else { return }
        let room = max(0, held.capacity - held.items.count)
        held.items += items.prefix(room)
        held.droppedCount += max(0, items.count - room)
        held.timeNanoseconds = timeNanoseconds ?? held.timeNanoseconds
        self.held = held
    }

    private func handOn(_ items: inout [Pending], upTo timeNanoseconds: Int64?) {
        for index in items.indices {
            advance(to: items[index].position.timeNanoseconds)
            // Taken out of the array: a copy of an event has six references to count.
            var event = Event(kind: .gap, timeNanoseconds: 0)
            swap(&event, &items[index].event)
            number(&event)
            let numbered = consume event
            // A copy, because a handler may add or remove chains while it is called.
            for chain in chains { chain.handle(numbered) }
        }
        if let timeNanoseconds { advance(to: timeNanoseconds) }
    }

    /// Tells every handler that nothing more will come.
    package func finish() {
        reportLosses()
        flush(upTo: nil)
        for chain in chains { chain.finish() }
    }

    /// Forwards the events that handlers hold back and that are due, over all handlers in the order of their due time.
    ///
    /// Otherwise the size of the deliveries, which decides how often time advances, would decide which of two handlers is
    /// first.
    private func advance(to timeNanoseconds: Int64) {
        while let due = nextDeadlineNanoseconds, due < timeNanoseconds {
            let before = chains.filter { $0.nextDeadlineNanoseconds == due }
            for chain in before { chain.advance(to: Units.later(due, by: 1)) }
            // A handler whose deadline does not change must not keep this loop running.
            guard before.contains(where: { $0.nextDeadlineNanoseconds != due }) else { return }
        }
    }

    /// The time of the last sample of any sensor; 0 before the first.
    private var lastTimeNanoseconds: Int64 { sensors.lazy.compactMap(\.lastTimeNanoseconds).max() ?? 0 }

    /// When something that handlers hold back is due and no sample has come since; `nil` while they hold nothing back.
    package var idleDeadlineNanoseconds: Int64? {
        guard chains.contains(where: { !$0.decorators.isEmpty }) else { return nil }
        return nextDeadlineNanoseconds.map { max($0, lastTimeNanoseconds) }
    }

    private var nextDeadlineNanoseconds: Int64? {
        var next: Int64?
        for chain in chains {
            if let deadline = chain.nextDeadlineNanoseconds { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    private func number(_ event: inout Event) {
        // A repetition is no event of its own: it has the number of the event before it, and leaves no hole for those
        // who do not see it.
        if event.kind.role != .repeated { sequence += 1 }
        event.sequence = sequence
        latestNanoseconds = max(latestNanoseconds, event.timeNanoseconds)
        event.identity = identity
        event.wallNanoseconds = event.wallNanoseconds ?? wallClock?(event.timeNanoseconds)
    }
}

extension Router: DetectorDelegate {
    package func collect(_ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult) {
        collect(kind, detector, result, sensor: detector.eventSensor)
    }

    /// Makes an event of what a detector found.
    ///
    /// The position of the detector orders the event; its time is that of the result, which a decorator may have held back.
    package func collect(
        _ kind: EventKind, _ detector: any EventDetector, _ result: some DetectorResult, sensor: String?
    ) {
        guard kind.role != .repeated || isAsked(for: kind) else { return }
        var event = Event(
            kind: kind, detector: detector.name, sensor: sensor, timeNanoseconds: result.timeNanoseconds, of: result)
        event.isSimulated = detector.isSimulated
        let position = detector.position
        collect(consume event, at: position)
    }

    package func collect(_ kind: EventKind, _ detector: any EventDetector, because error: any Error) {
        var event = Self.event(kind, detector, because: "\(error)")
        guard (error as? any SampleFailure)?.isAtSample == true else { return report(event) }
        event.timeNanoseconds = detector.position.timeNanoseconds
        collect(event, at: detector.position)
    }

    package func collect(_ kind: EventKind, _ detector: any Detector, because reason: String) {
        report(Self.event(kind, detector, because: reason))
    }

    private static func event(_ kind: EventKind, _ detector: any Detector, because reason: String) -> Event {
        var event = Event(
            kind: kind, detector: detector.name, timeNanoseconds: 0, figures: [Figure(.reason, .text(reason))])
        event.isSimulated = detector.isSimulated
        return event
    }
}

/// A failure that a detector found at a sample, and reports with ``EventDetector/position`` at that sample.
///
/// Its event has the sample's stamp and place, so that it is the same however the samples were cut into deliveries.
package protocol SampleFailure: Error {
    /// Whether it was found at a sample, and not when detection started.
    var isAtSample: Bool { get }
}

extension SampleFailure {
    package var isAtSample: Bool { true }
}

extension Detector {
    /// Whether one of its streams is made up.
    package var isSimulated: Bool { streams.contains { $0.sensor.isSimulated } }
}
