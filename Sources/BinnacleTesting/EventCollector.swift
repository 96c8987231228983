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
///   - capacity: The maximum number of samples of one stream in a delivery. A detector's results must not depend on it: play the
///     same samples with 1, 7 and 4096.
///   - configure: Adds the detectors, as the closure of a session does.
/// - Returns: The events, in order.
/// - Throws: What the closure throws.
@discardableResult
public func play(
    _ source: any SampleSource, capacity: Int = 4096, configure: (SensorSession.Setup) throws -> Void
) rethrows -> [Event] {
    let setup = SensorSession.Setup(source: source)
    try configure(setup)
    // Detectors hold their delegates weakly; the setup owns them.
    return withExtendedLifetime(setup) {
        defer { for detector in setup.detectors { detector.stopDetection() } }
        return play(source, through: setup.detectors, router: setup.router, capacity: capacity)
    }
}

/// Plays a source to its end on the calling thread, with detectors that are started here; those without a delegate make events.
@discardableResult
package func play(
    _ source: any SampleSource, through detectors: [any DrivenDetector], router: Router = Router(), capacity: Int = 4096
) -> [Event] {
    let collector = EventCollector()
    router.add(collector)
    for detector in detectors {
        (detector as? any EventDetector)?.report(to: router)
        detector.startDetection()
    }
    Pipeline(source: source, detectors: detectors, router: router, capacity: capacity).run()
    return collector.events
}
