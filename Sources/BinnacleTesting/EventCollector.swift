public import Binnacle
import Synchronization

/// Collects events, on any thread.
///
/// ```swift
/// setup.onEvent { collector.handle($0) }
/// ```
public final class EventCollector: EventHandler, Sendable {
    private let state = Mutex((events: [Event](), isFinished: false))

    /// Creates an empty collection.
    public init() {}

    /// The events so far, in order.
    public var events: [Event] { state.withLock { $0.events } }
    /// The kinds of the events so far.
    public var kinds: [EventKind] { events.map(\.kind) }
    /// Whether the end was reported.
    package var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Adds an event.
    public func handle(_ event: Event) { state.withLock { $0.events.append(event) } }

    /// Records the end.
    package func finish() { state.withLock { $0.isFinished = true } }
}

/// Plays a source to its end on the calling thread, with detectors that are started here.
///
/// - Parameters:
///   - source: The source, which is asked until it has ended.
///   - detectors: The detectors. Those of the library without a delegate make events.
///   - capacity: The maximum number of samples of one stream in a delivery. A detector's results must not depend on it: play the
///     same samples with 1, 7 and 4096.
/// - Returns: The events, in order.
@discardableResult
public func play(_ source: any SampleSource, through detectors: [any Detector], capacity: Int = 4096) -> [Event] {
    let collector = EventCollector()
    let router = Router()
    router.add(collector)
    for detector in detectors {
        (detector as? any EventDetector)?.report(to: router)
        detector.startDetection()
    }
    Pipeline(source: source, detectors: detectors, router: router, capacity: capacity).run()
    return collector.events
}
